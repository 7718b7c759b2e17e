"""Whether a model's tool calls are well formed: a tool that was offered, JSON, arguments that fit its schema."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from orvl.types import CallIssue

if TYPE_CHECKING:
    from orvl.gateway.wire.format import ModelRequest, ModelToolCall

LONGEST_DETAIL = 300


def findings_in(asked: ModelRequest, tools: list[ModelToolCall]) -> list[CallIssue]:
    found = []
    for tool in tools:
        if finding := _look_at(asked, tool):
            found.append(finding)
    return found


def _look_at(asked: ModelRequest, tool: ModelToolCall) -> CallIssue | None:
    if tool.name not in asked.tools:
        offered = ", ".join(sorted(asked.tools)[:8]) or "none"
        return _finding("unknown tool", f"'{tool.name}' is none of the agent's tools ({offered})")
    schema = asked.tools[tool.name]
    if schema is None:
        return None
    try:
        arguments = json.loads(tool.arguments or "{}")
    except (ValueError, RecursionError) as error:
        return _finding("invalid JSON", f"{tool.name}: {error}: {tool.arguments[:120]}")
    if why := _misfit(json.dumps(schema, sort_keys=True), arguments):
        return _finding("off the schema", f"{tool.name}: {why}")
    return None


def _finding(kind: str, detail: str) -> CallIssue:
    return CallIssue(kind, detail[:LONGEST_DETAIL])


def _misfit(schema: str, arguments: Any) -> str | None:
    validator = _validator(schema)
    if validator is None:
        return None
    try:
        error = next(validator.iter_errors(arguments), None)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    if error is None:
        return None
    place = "/".join(str(step) for step in error.instance_path)
    return f"{place}: {error.message}" if place else str(error.message)


def _stays_here(uri: str) -> Any:
    raise ValueError(f"{uri} is not looked up")


@lru_cache(maxsize=512)
def _validator(schema: str) -> Any:
    """What an agent sends as a schema may be none; nothing is fetched for it."""
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(json.loads(schema), retriever=_stays_here)
    except (ValueError, TypeError, jsonschema_rs.ReferencingError):
        return None
