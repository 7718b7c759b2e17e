"""Reads JSON that may have any shape: what is not of the expected type counts as missing, and never raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
OUTPUT_LIMIT = re.compile(r"tokens|predict|max_gen|max_len", re.IGNORECASE)
LARGEST_COUNT = 1e15
LARGEST_COST = 1e6
TEXT_KEYS = ("text", "content", "parts", "output", "functionResponse", "response", "result", "error", "summary")


def as_object(data: str | bytes) -> Json | None:
    """A JSON object, or None for anything else."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def number(value: Any) -> int:
    """A count as a server reports it; anything that is not a plausible count is 0."""
    return int(value) if is_count(value) else 0


def optional_number(value: Any) -> int | None:
    """A count that a server may leave out; one that is not plausible is none."""
    return int(value) if is_count(value) else None


def output_limit(settings: Json) -> int | None:
    """The most tokens that a request allows for an answer; None where it does not say so in a way that all read alike.

    A host may heed any of several fields, also one in a table of settings, so the largest of them counts.
    """
    tables = [settings, *(value for value in settings.values() if isinstance(value, dict))]
    fields = [value for table in tables for name, value in table.items() if OUTPUT_LIMIT.search(name)]
    limits = [value for value in fields if isinstance(value, int | float | str) and not isinstance(value, bool)]
    counts = [math.ceil(value) if not isinstance(value, str) and 0 < value < LARGEST_COUNT else 0 for value in limits]
    return max(counts) if counts and all(counts) else None


def choices(*fields: Any) -> int:
    """How many answers a request asks for, where any of several fields may say so."""
    counts = [math.ceil(float(value)) for value in fields if is_count(value)]
    return max([1, *counts])


def is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < LARGEST_COUNT


def money(value: Any) -> float | None:
    """Dollars as a server reports them, or None for an implausible amount."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < LARGEST_COST else None


def objects(value: Any) -> list[Json]:
    """The objects in a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def string(value: Any) -> str | None:
    """A non-empty string, or None."""
    return value if isinstance(value, str) and value else None


def texts(value: Any) -> Iterator[str]:
    """Every text in a message, in a list of messages, or in a part of one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key in TEXT_KEYS:
            yield from texts(value.get(key))


def foreign_tool(body: Json, own: tuple[str, ...]) -> str | None:
    """The kind of a tool that does not begin like one of the agent's own; one without a kind is its own."""
    kinds = (tool.get("type") for tool in objects(body.get("tools")))
    return next((str(kind) for kind in kinds if kind and not (isinstance(kind, str) and kind.startswith(own))), None)


def mentions(value: Any, names: tuple[str, ...]) -> bool:
    """Whether any object in a value has one of these keys, or is of a kind of that name."""
    level = [value]
    while level:
        inner: list[Any] = []
        for one in level:
            if isinstance(one, dict):
                if any(name in one for name in names) or one.get("type") in names:
                    return True
                inner.extend(child for child in one.values() if isinstance(child, dict | list))
            elif isinstance(one, list):
                inner.extend(child for child in one if isinstance(child, dict | list))
        level = inner
    return False


def without_keys(schema: Any, *names: str) -> Any:
    """A JSON schema without some keywords, at any depth."""
    if isinstance(schema, dict):
        return {name: without_keys(value, *names) for name, value in schema.items() if name not in names}
    return [without_keys(value, *names) for value in schema] if isinstance(schema, list) else schema


def merged(body: Json, options: Any) -> Json:
    """A body with a user's options over it; tables are merged, everything else is replaced."""
    for name, value in options.items():
        inner = body.get(name)
        is_table = isinstance(inner, dict) and isinstance(value, dict)
        body[name] = merged(dict(inner), value) if is_table and inner else value
    return body


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
