"""What an agent's own output tells, through its `read`: session, steps, usage, errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from orvl.project.names import did_you_mean
from orvl.types import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TOLD = ("session", "steps", "usage", "error", "provider_error")
COUNTS = ("input_tokens", "cached_tokens", "output_tokens", "tool_calls")


@dataclass(frozen=True)
class Told:
    """One turn as the agent's `read` tells it."""

    session: str | None = None
    steps: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    provider_error: str | None = None


def told_by(returned: Any) -> Told:
    """What `read` returned, looked over; raises TypeError or ValueError with a sentence."""
    if not isinstance(returned, dict):
        raise TypeError(f"read must return a dict, and returned {returned!r}")
    _known("read", returned, TOLD)
    steps, usage = returned.get("steps") or [], returned.get("usage") or {}
    if not isinstance(steps, list | tuple) or not all(isinstance(step, dict) for step in steps):
        raise TypeError("'steps' must be a list of dicts")
    if not isinstance(usage, dict):
        raise TypeError(f"'usage' must be a dict, and is {usage!r}")
    _known("usage", usage, (*COUNTS, "cost_usd"))
    for name, value in usage.items():
        if value is not None and (not isinstance(value, int | float) or not isfinite(value) or value < 0):
            raise ValueError(f"usage '{name}' is {value!r}; it must be a number, 0 or more")
    session, error, provider_error = (returned.get(name) for name in ("session", "error", "provider_error"))
    return Told(
        session=str(session) if session else None,
        steps=tuple(steps),
        usage=usage,
        error=str(error) if error else None,
        provider_error=str(provider_error) if provider_error else None,
    )


def _known(what: str, told: Mapping[str, Any], names: Sequence[str]) -> None:
    if unknown := [name for name in told if name not in names]:
        raise ValueError(f"{what} tells '{unknown[0]}', which means nothing. {did_you_mean(str(unknown[0]), names)}")


def add(usage: Usage, told: Mapping[str, Any], turn: int) -> Usage:
    """Adds a turn's own figures; a sum that misses a turn is unknown, not smaller."""
    numbers: dict[str, Any] = {}
    for name in (*COUNTS, "cost_usd"):
        before, value = getattr(usage, name), told.get(name)
        if value is None:
            numbers[name] = before if usage.cost_source == "none" else None
            continue
        value = value if name == "cost_usd" else int(value)
        numbers[name] = value if turn == 1 else None if before is None else before + value
    if told.get("cost_usd") is not None:
        numbers["cost_source"] = "agent"
    return replace(usage, **numbers)
