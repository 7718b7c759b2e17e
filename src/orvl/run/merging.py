"""An agent's own settings and an overlay's in one: JSON, TOML and YAML are merged at every depth."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
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

    What is neither JSON nor TOML nor YAML is replaced as a whole.
    """
    form = FORMS.get(name.rpartition(".")[2], FORMS["json"])
    below = _table(own, form)
    if below is None:
        return own, over
    above = _overlay_table(over.removeprefix("\ufeff"), name, place, form)
    if above is None:
        return own, over
    return form.write(below), form.write(_deep(below, above))


@dataclass(frozen=True)
class SettingsForm:
    """A form in which agents keep their settings."""

    name: str
    read: Callable[[str], Any]
    write: Callable[[dict[str, Any]], str]


def _table(content: str, form: SettingsForm) -> dict[str, Any] | None:
    try:
        found = form.read(content)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _overlay_table(over: str, name: str, place: Path, form: SettingsForm) -> dict[str, Any] | None:
    """The overlay's part, which has to be of the same form as the agent's own."""
    if not over.strip():
        return {}
    try:
        found = form.read(over)
    except tomllib.TOMLDecodeError as error:
        line = AT_LINE.search(str(error))
        why = AT_LINE.sub("", AT_END.sub("", str(error))).strip()
        raise FileError(place, int(line[1]) if line else over.count("\n") + 1, _unreadable("TOML", why)) from error
    except json.JSONDecodeError as error:
        if not (name.endswith((".json", ".jsonc")) or over.lstrip().startswith("{")):
            return None
        raise FileError(place, error.lineno, _unreadable("JSON", error.msg)) from error
    except ValueError as error:
        # YAML's own; or a number with more digits than Python reads, in whatever form.
        raise FileError(place, getattr(error, "line", None), _unreadable(form.name, str(error))) from error
    except RecursionError as error:
        raise FileError(place, None, _unreadable(form.name, "it is nested too deeply")) from error
    return {} if found is None else found if isinstance(found, dict) else None


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


# -- YAML, which takes long to import


def _read_yaml(text: str) -> Any:
    from orvl.project.yaml_text import read_yaml

    return read_yaml(text)[1]


def _write_yaml(table: dict[str, Any]) -> str:
    import yaml

    return yaml.safe_dump(table, allow_unicode=True, sort_keys=False)


YAML = SettingsForm("YAML", _read_yaml, _write_yaml)
FORMS = {
    "json": SettingsForm("JSON", json.loads, json.dumps),
    "toml": SettingsForm("TOML", tomllib.loads, to_toml),
    "yaml": YAML,
    "yml": YAML,
}
"""By the ending of a file's name; what has another one is read as JSON."""
