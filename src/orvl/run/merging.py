"""An agent's own settings and an overlay's in one: objects of JSON and tables of TOML are merged at every depth."""

from __future__ import annotations

import json
import re
import tomllib
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
AT_END = re.compile(r"\(at end of document\)")


def merged(own: str, over: str, name: str, place: Path) -> tuple[str, str]:
    """Both contents as text: the agent's own, and what is left of it under the overlay's, which is read from `place`.

    What is neither JSON nor TOML is replaced as a whole.
    """
    is_toml = name.endswith(".toml")
    below = _table(own, is_toml=is_toml)
    if below is None:
        return own, over
    above = _overlay_table(over, name, place, is_toml=is_toml)
    if above is None:
        return own, over
    write = to_toml if is_toml else json.dumps
    return write(below), write(_deep(below, above))


def _table(content: str, *, is_toml: bool) -> dict[str, Any] | None:
    try:
        found = tomllib.loads(content) if is_toml else json.loads(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _overlay_table(over: str, name: str, place: Path, *, is_toml: bool) -> dict[str, Any] | None:
    """The overlay's part, which has to be of the same form as the agent's own."""
    if not over.strip():
        return {}
    try:
        found = tomllib.loads(over) if is_toml else json.loads(over)
    except tomllib.TOMLDecodeError as error:
        line = AT_LINE.search(str(error))
        why = AT_LINE.sub("", AT_END.sub("", str(error))).strip()
        raise FileError(place, int(line[1]) if line else over.count("\n") + 1, _unreadable("TOML", why)) from error
    except json.JSONDecodeError as error:
        if not (name.endswith(".json") or over.lstrip().startswith("{")):
            return None
        raise FileError(place, error.lineno, _unreadable("JSON", error.msg)) from error
    except RecursionError as error:
        raise FileError(place, None, _unreadable("JSON", "it is nested too deeply")) from error
    return found if isinstance(found, dict) else None


def _unreadable(form: str, why: str) -> str:
    return f"this is not {form}, and cannot be merged with what the agent itself writes here: {why.rstrip('.')}."


def _deep(mine: dict[str, Any], theirs: dict[str, Any]) -> dict[str, Any]:
    both = {
        name: _deep(mine[name], value) if isinstance(mine.get(name), dict) and isinstance(value, dict) else value
        for name, value in theirs.items()
    }
    return {**mine, **both}


# -- TOML, which Python reads and does not write


def to_toml(table: dict[str, Any]) -> str:
    """A table as a document that reads as the same table."""
    return "".join(f"{line}\n" for line in _lines(table, ()))


def _lines(table: dict[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    tables = {name: value for name, value in table.items() if isinstance(value, dict)}
    if path and (len(tables) < len(table) or not table):
        yield f"[{'.'.join(map(_text, path))}]"
    yield from (f"{_text(name)} = {_value(value)}" for name, value in table.items() if name not in tables)
    for name, inner in tables.items():
        yield from _lines(inner, (*path, name))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(name)} = {_value(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """A string of TOML: one of JSON, but for a sign that TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
