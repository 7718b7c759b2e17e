"""How users' files are checked: pydantic reads them into dataclasses, and what it refuses becomes one sentence."""

from __future__ import annotations

import operator
import re
import tomllib
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from orvl.errors import FileError, disk_sentence
from orvl.project.names import did_you_mean
from orvl.store.beneath import LARGEST, read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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
    kind: Any = model
    with suppress(TypeError, OverflowError):
        valid: T = _conforming(kind, data)
        return valid
    from pydantic import ValidationError

    try:
        result: T = _adapter(kind).validate_python(data)
        return result
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = _place_in(data, first["loc"])
        raise wrong(place, _sentence(first, place, model, file)) from error


def _conforming(kind: Any, value: Any) -> Any:
    """A value that is beyond doubt of this kind; else a TypeError, and pydantic decides.

    Importing pydantic takes longer than all else that `orvl list` does, and files are nearly always right.
    """
    if is_dataclass(kind):
        return _conforming_model(kind, value)
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _within(parts[1].bounds, _conforming(parts[0], value))
    if origin is UnionType or origin is Union:
        return _conforming_member(parts, value)
    if origin is Literal and type(value) is str and value in parts:
        return value
    if origin is list and type(value) is list:
        return [_conforming(parts[0], item) for item in value]
    if origin is dict and type(value) is dict and parts[0] is str:
        return {_conforming(str, key): _conforming(parts[1], item) for key, item in value.items()}
    if kind is float and type(value) in (int, float) and isfinite(value):
        return float(value)
    if kind is Any or (kind in (str, int, bool) and type(value) is kind):
        return value
    raise TypeError


def _conforming_model(model: Any, data: Any) -> Any:
    hints = _hints(model)
    if type(data) is not dict or not data.keys() <= {field.name for field in fields(model)}:
        raise TypeError
    return model(**{name: _conforming(hints[name], value) for name, value in data.items()})


def _conforming_member(members: Sequence[Any], value: Any) -> Any:
    """A value of a union: None or one of its members; which one a number is, pydantic decides."""
    if value is None and NoneType in members:
        return None
    others = [member for member in members if member is not NoneType]
    if len(others) == 1:
        return _conforming(others[0], value)
    if isinstance(value, int | float):
        raise TypeError
    conforming = []
    for member in others:
        with suppress(TypeError):
            conforming.append(_conforming(member, value))
    if len(conforming) != 1:
        raise TypeError
    return conforming[0]


def _within(bounds: Mapping[str, Any], value: Any) -> Any:
    for name, bound in bounds.items():
        holds = re.search(bound, value) if name == "pattern" else getattr(operator, name)(value, bound)
        if not holds:
            raise TypeError
    return value


@cache
def _hints(model: Any) -> dict[str, Any]:
    return get_type_hints(model, include_extras=True)


@cache
def _adapter(model: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(model)


def _place_in(data: Any, loc: Sequence[Any]) -> Place:
    """A place as the file has it: pydantic also names the types that it tried, and keys that are missing."""
    place: list[str | int] = []
    for step in loc:
        if isinstance(data, dict):
            for key in [key for key in data if key == step or str(key) == str(step)][:1]:
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
    value = _shown(error["input"])
    if kind == "literal_error":
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        return f"'{dotted(place)}' is {value}. {did_you_mean(str(error['input']), choices)}"
    form = _form_at(model, place) if kind in SHAPES else None
    return f"'{dotted(place)}' is {value}; it must be {form or _rule(error)}."


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:
        return "a number with thousands of digits"
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


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
    "less_than": "below {lt:g}",
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
    """A file's text and content; both are empty if there is no file."""
    try:
        source = read(path, LARGEST)
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
    except (ValueError, RecursionError) as error:
        raise FileError(path, None, f"it cannot be read ({error}).") from error


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
