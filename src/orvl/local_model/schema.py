"""A JSON schema with an end: what it leaves open is bounded, so that a small model cannot ramble in it."""

from __future__ import annotations

from typing import Any

LONGEST_STRING = 200
MOST_ITEMS = 32
LARGEST_INTEGER = 1_000_000
BY_NAME = ("properties", "patternProperties", "$defs", "definitions")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = ("items", "additionalProperties")
CLOSED = ("enum", "const", "$ref")
ONE_LINE = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
"""The library's own words for JSON on one line, which saves a third of the tokens."""


def with_an_end(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose every answer is an answer to the given one too, on one line and of bounded length."""
    return {**_bounded(schema), "x-guidance": ONE_LINE}


def _bounded(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    found = dict(schema)
    for name in BY_NAME:
        if isinstance(inner := schema.get(name), dict):
            found[name] = {key: _bounded(value) for key, value in inner.items()}
    for name in LISTS:
        if isinstance(inner := schema.get(name), list):
            found[name] = [_bounded(value) for value in inner]
    for name in SINGLE:
        if name in schema:
            found[name] = _bounded(schema[name])
    if not any(name in schema for name in CLOSED):
        found.update(_limits(schema))
    return found


def _limits(schema: dict[str, Any]) -> dict[str, int]:
    """The limits that a schema of these types lacks."""
    named = schema.get("type")
    kinds = named if isinstance(named, list) else [named]
    limits: dict[str, int] = {}
    if "string" in kinds and not {"maxLength", "pattern", "format"} & schema.keys():
        limits["maxLength"] = max(LONGEST_STRING, schema.get("minLength", 0))
    if "array" in kinds and "maxItems" not in schema:
        limits["maxItems"] = max(MOST_ITEMS, schema.get("minItems", 0))
    if "integer" in kinds and not {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"} & schema.keys():
        limits.update(minimum=-LARGEST_INTEGER, maximum=LARGEST_INTEGER)
    return limits
