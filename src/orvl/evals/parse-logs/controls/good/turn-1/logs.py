"""Get at what is in the logs of our servers."""

import re
from typing import Any

Entry = dict[str, Any]

_LINE = re.compile(
    r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z) +"
    r"(?P<level>DEBUG|INFO|WARN|ERROR) +"
    r"\[(?P<source>[^\]]+)\]"
    r"(?P<rest>(?: .*)?)"
)
# The last field of a text: what is before it is looked at again.
_FIELD = re.compile(
    r"(?P<key>[A-Za-z0-9_.-]+)="
    r"(?:"
    r'"(?P<quoted>(?:[^"\\]|\\["\\])*)"'
    r"|"
    r'(?P<plain>(?!")[^ ]*)'
    r")(?= |$)"
)
_ESCAPED = re.compile(r'\\(["\\])')


def _without_end(line: str) -> str:
    """Return the line without its line end."""
    return line.removesuffix("\n").removesuffix("\r")


def _split_fields(rest: str) -> tuple[str, dict[str, str]]:
    """Part what follows the source into the message and the fields at its end."""
    found: list[tuple[int, str, str]] = []
    position = 0
    while position < len(rest):
        at_word = position == 0 or rest[position - 1] == " "
        match = _FIELD.match(rest, position) if at_word else None
        if match:
            value = match["plain"]
            if value is None:
                value = _ESCAPED.sub(r"\1", match["quoted"])
            found.append((position, match["key"], value))
            position = match.end()
        elif rest[position] == " ":
            position += 1
        else:
            # A word that is no field: the fields so far are part of the message.
            found = []
            end = rest.find(" ", position)
            position = len(rest) if end < 0 else end
    start = found[0][0] if found else len(rest)
    return rest[:start].strip(" "), {key: value for _, key, value in found}


def parse_line(line: str) -> Entry | None:
    """Return the parts of a line, or None if it is not the beginning of an entry."""
    match = _LINE.fullmatch(_without_end(line))
    if match is None:
        return None
    message, fields = _split_fields(match["rest"])
    return {
        "time": match["time"],
        "level": match["level"],
        "source": match["source"],
        "message": message,
        "fields": fields,
    }
