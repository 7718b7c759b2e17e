"""An agent's own output: helpers for its `read`, which must bear cut, odd or missing JSON, and what `read` returns."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any

from orvl.project.names import did_you_mean
from orvl.types import Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DEEPEST = 100
LONGEST_LINE = 2 << 20
"""A longer one is not parsed: it would hold up everything else in the process."""
LONGEST_SESSION = 4096
REPORT_KEYS = ("session", "steps", "usage", "error", "provider_error")
COUNTS = ("input_tokens", "cached_tokens", "output_tokens", "tool_calls")
METRICS = {"prompt_tokens": "input_tokens", "cached_tokens": "cached_tokens", "completion_tokens": "output_tokens"}


def json_lines(text: str, skip: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    """The JSON objects among the lines of a text; lines that begin with one of `skip` are not even parsed."""
    for line in text.split("\n"):
        line = line.strip()
        if not line.startswith("{") or line.startswith(skip) or len(line) > LONGEST_LINE:
            continue
        try:
            found = json.loads(line)
            if "\\ud" in line.lower():
                found = json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        if line.count("{") + line.count("[") <= DEEPEST or not _deeper_than(found, DEEPEST):
            yield found


def _deeper_than(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def at(value: Any, *names: str) -> Any:
    """What lies in nested objects under the given names, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def text_at(value: Any, *names: str) -> str:
    """The text under the given names, or an empty one."""
    found = at(value, *names)
    return found if isinstance(found, str) else ""


def dict_at(value: Any, *names: str) -> dict[str, Any]:
    """The object under the given names, or an empty one."""
    found = at(value, *names)
    return found if isinstance(found, dict) else {}


def list_at(value: Any, *names: str) -> list[Any]:
    """The list under the given names, or an empty one."""
    found = at(value, *names)
    return found if isinstance(found, list) else []


def number_at(value: Any, *names: str) -> float | None:
    """The number, 0 or more, under the given names; None where there is none."""
    found = at(value, *names)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < 1e15 or not isfinite(found):
        return None
    return found


def count_at(value: Any, *names: str) -> int | None:
    """The whole number, 0 or more, under the given names; None where there is none."""
    found = number_at(value, *names)
    return None if found is None else int(found)


def total(*counts: int | None) -> int | None:
    """The sum of counts; unknown if one of them is."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def plain_text(content: Any) -> str:
    """The text of a tool's result: as it is, the texts of its parts, or its JSON."""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and any(text_at(part, "text") for part in content):
        return "\n".join(text for part in content if (text := text_at(part, "text")))
    return json.dumps(content) if content not in (None, "", [], {}) else ""


class Steps:
    """Collects an agent's steps in the form of ATIF, and adds up what they used."""

    def __init__(self) -> None:
        self.list: list[dict[str, Any]] = []
        self._step_of_call: dict[str, dict[str, Any]] = {}
        self._kept = 0

    def begin(self) -> None:
        """What comes now belongs to a new step, which is kept once something is in it."""
        self._kept = len(self.list)

    def _now(self) -> dict[str, Any]:
        if len(self.list) == self._kept:
            self.list.append({"source": "agent", "message": ""})
        return self.list[-1]

    def say(self, text: str) -> None:
        """Adds to what the agent says in this step."""
        self._join("message", text)

    def think(self, text: str) -> None:
        """Adds to what the agent thinks in this step."""
        self._join("reasoning_content", text)

    def _join(self, field: str, text: str) -> None:
        if text:
            step = self._now()
            step[field] = f"{step[field]}\n{text}" if step.get(field) else text

    def call(self, call_id: str, name: str, arguments: Any = None) -> None:
        """A tool that the agent calls in this step; a call that is told twice counts once."""
        if not name or call_id in self._step_of_call:
            return
        step = self._now()
        call_id = call_id or f"call_{len(self._step_of_call) + 1}"
        if not isinstance(arguments, dict):
            arguments = {} if arguments is None else {"value": arguments}
        step.setdefault("tool_calls", []).append(
            {"tool_call_id": call_id, "function_name": name, "arguments": arguments}
        )
        self._step_of_call[call_id] = step

    def result(self, call_id: str, content: Any) -> None:
        """What a tool gave back, put into the step that called it; one of an unknown call is left out."""
        if step := self._step_of_call.get(call_id):
            results = step.setdefault("observation", {"results": []})["results"]
            results.append({"source_call_id": call_id, "content": plain_text(content)})

    def measure(
        self, prompt: int | None = None, cached: int | None = None, completion: int | None = None, cost: Any = None
    ) -> None:
        """What this step used: all of the prompt's tokens, those of them that were cached, all that were generated."""
        figures = {
            "prompt_tokens": prompt,
            "cached_tokens": cached,
            "completion_tokens": completion,
            "cost_usd": number_at({"cost": cost}, "cost") or None,
        }
        if known := {name: figure for name, figure in figures.items() if figure is not None}:
            self._now()["metrics"] = known

    @property
    def tool_calls(self) -> int:
        return len(self._step_of_call)

    def usage(self) -> dict[str, Any]:
        """The sums over all steps; a figure that one of them lacks is left out."""
        used: dict[str, Any] = {"tool_calls": self.tool_calls} if self.list else {}
        for metric, name in {**METRICS, "cost_usd": "cost_usd"}.items():
            figures = [at(step, "metrics", metric) for step in self.list]
            if figures and None not in figures:
                used[name] = sum(figures)
        return used


def turn_report(**facts: Any) -> dict[str, Any]:
    """What `read` returns: only the facts that are known."""
    return {name: fact for name, fact in facts.items() if fact}


# -- what orvl makes of it


@dataclass(frozen=True)
class TurnReport:
    """What an agent's `read` says of one turn."""

    session: str | None = None
    steps: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    provider_error: str | None = None


def parse_turn(returned: Any) -> TurnReport:
    """Checks what `read` returned; raises TypeError or ValueError with a sentence."""
    if not isinstance(returned, dict):
        raise TypeError(f"read must return a dict, and returned {returned!r}")
    _known("read()", returned, REPORT_KEYS)
    steps, usage = returned.get("steps") or [], returned.get("usage") or {}
    if not isinstance(steps, list | tuple) or not all(isinstance(step, dict) for step in steps):
        raise TypeError("'steps' must be a list of dicts")
    if not isinstance(usage, dict):
        raise TypeError(f"'usage' must be a dict, and is {usage!r}")
    _known("usage", usage, (*COUNTS, "cost_usd"))
    for name, value in usage.items():
        if value is not None and (not isinstance(value, int | float) or not isfinite(value) or value < 0):
            raise ValueError(f"usage '{name}' is {value!r}; it must be a number, 0 or more")
    if len(str(returned.get("session") or "")) > LONGEST_SESSION or "\0" in str(returned.get("session")):
        raise ValueError(f"'session' must be an id of {LONGEST_SESSION} characters at most")
    session, error, provider_error = (returned.get(name) for name in ("session", "error", "provider_error"))
    return TurnReport(
        session=str(session) if session else None,
        steps=tuple(steps),
        usage=usage,
        error=str(error) if error else None,
        provider_error=str(provider_error) if provider_error else None,
    )


def _known(what: str, facts: Mapping[str, Any], names: Sequence[str]) -> None:
    if unknown := [name for name in facts if name not in names]:
        raise ValueError(f"{what} returned an unknown key '{unknown[0]}'. {did_you_mean(str(unknown[0]), names)}")


def add_usage(usage: Usage, figures: Mapping[str, Any], turn: int) -> Usage:
    """Adds a turn's own figures; a sum that misses a turn is unknown, not smaller."""
    numbers: dict[str, Any] = {}
    for name in (*COUNTS, "cost_usd"):
        before, value = getattr(usage, name), figures.get(name)
        if value is None:
            numbers[name] = before if usage.cost_source == "none" else None
            continue
        value = value if name == "cost_usd" else int(value)
        numbers[name] = value if turn == 1 else None if before is None else before + value
    if figures.get("cost_usd") is not None:
        numbers["cost_source"] = "agent"
    return replace(usage, **numbers)
