"""How users' files are checked: pydantic reads them into dataclasses, and what it refuses becomes one sentence."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

from orvl.errors import FileError, disk_sentence
from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

T = TypeVar("T")
Place = tuple[str | int, ...]
"""The keys and list indices that lead to a value."""
FORBID: dict[str, Any] = {"extra": "forbid"}
LONGEST = 100


class Bound:
    """A bound that pydantic reads; a class of ours, so that pydantic is imported only to read a file."""

    def __init__(self, **bounds: float | str) -> None:
        self.bounds = bounds

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        schema = handler(source)
        schema.update(self.bounds, strict=True)
        if schema["type"] == "float":
            schema["allow_inf_nan"] = False
        return schema


Weight = Annotated[float, Bound(ge=0)]
Positive = Annotated[float, Bound(gt=0)]
Seconds = Positive
Mebibytes = Annotated[int, Bound(gt=0)]
Count = Annotated[int, Bound(ge=1)]
Flag = Annotated[bool, Bound()]
Text = Annotated[str, Bound(pattern=r"\S")]


def validated(model: type[T], data: Any, file: str, wrong: Callable[[Place, str], FileError]) -> T:
    """The data as the model has it; `file` is what the sentence on an unknown key calls the file."""
    from pydantic import ValidationError

    kind: Any = model
    try:
        result: T = _adapter(kind).validate_python(data)
        return result
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = _place_in(data, first["loc"])
        raise wrong(place, _sentence(first, place, model, file)) from error


@cache
def _adapter(model: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(model)


def _place_in(data: Any, loc: Sequence[Any]) -> Place:
    """A place as the file has it: pydantic also names the types that it tried, and keys that are missing."""
    place: list[str | int] = []
    for step in loc:
        if isinstance(data, dict):
            key = next((key for key in data if key == step or str(key) == str(step)), None)
            if key is not None:
                place.append(str(key))
                data = data[key]
        elif isinstance(data, list) and isinstance(step, int):
            place.append(step)
            data = data[step]
    return tuple(place)


def dotted(place: Place) -> str:
    """`checks[2].run`: lists are counted from 1."""
    return "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in place).removeprefix(".")


def _sentence(error: Any, place: Place, model: type, file: str) -> str:
    kind = error["type"]
    if kind in ("unexpected_keyword_argument", "invalid_key"):
        whole = f"'{dotted(place[:-1])}'" if len(place) > 1 else file
        return f"{whole} has no '{place[-1]}'. {did_you_mean(str(place[-1]), _keys_at(model, place[:-1]))}"
    if kind == "missing":
        return f"'{dotted(place)}' needs '{error['loc'][-1]}'."
    value = repr(error["input"])
    value = value if len(value) <= LONGEST else value[:LONGEST] + "…"
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        return f"'{dotted(place)}' is {value}. {did_you_mean(str(error['input']), choices)}"
    form = _form_at(model, place) if kind in SHAPES else None
    return f"'{dotted(place)}' is {value}; it must be {form or _rule(error)}."


SHAPES = {
    "dict_type": "'name: value' pairs",
    "dataclass_type": "'name: value' pairs",
    "list_type": "a list",
}
RULES = {
    **SHAPES,
    "string_type": "text",
    "string_pattern_mismatch": "non-empty text",
    "bool_type": "true or false",
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "greater_than": "above {gt:g}",
    "greater_than_equal": "{ge:g} or more",
    "less_than_equal": "{le:g} or less",
}


def _rule(error: Any) -> str:
    message: str = error["msg"]
    rule = RULES.get(error["type"])
    return rule.format(**error.get("ctx", {})) if rule else message.removeprefix("Input should be ")


def _keys_at(model: type, place: Place) -> list[str]:
    """The keys that a place has: a table inside a model may be a model, or hold models by name."""
    table = _model_at(model, place)
    return [field.name for field in fields(table)] if table else []


def _form_at(model: type, place: Place) -> str | None:
    """How a field describes its own form, or a list the form of its items."""
    place = place[:-1] if isinstance(place[-1], int) else place
    owner = _model_at(model, place[:-1])
    forms = {field.name: field.metadata.get("form") for field in fields(owner)} if owner else {}
    return forms.get(str(place[-1]))


def _model_at(model: Any, place: Place) -> Any:
    for step in place:
        hints = get_type_hints(model) if is_dataclass(model) else {}
        model = hints.get(str(step)) if hints else next(iter(get_args(model)[-1:]), None)
        if isinstance(model, UnionType):
            model = get_args(model)[0]
    return model if is_dataclass(model) else None


# -- TOML


def read_toml(path: Path) -> tuple[str, dict[str, Any]]:
    """A file's text and content; both are empty where there is no file."""
    try:
        source = path.read_bytes()
    except FileNotFoundError:
        return "", {}
    except OSError as error:
        raise FileError(path, None, f"it cannot be read ({disk_sentence(error)}).") from error
    try:
        text = source.decode("utf-8-sig")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise FileError(path, source[: error.start].count(b"\n") + 1, "it is not UTF-8 text.") from error
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        raise FileError(path, int(line[1]) if line else text.count("\n") + 1, f"{error}.") from error


def line_of(text: str, place: Place) -> int | None:
    """The line of a TOML file that sets a key, or the nearest table above it."""
    names = tuple(step for step in place if isinstance(step, str))
    best: tuple[int, int | None] = (0, None)
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            here = table = _keys(header[1])
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            here = table + _keys(key[1])
        else:
            continue
        shared = len(here) if here == names[: len(here)] else len(names) if names == here[: len(names)] else 0
        if shared > best[0]:
            best = (shared, number)
    return best[1]


def _keys(dotted_key: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted_key.split("."))
