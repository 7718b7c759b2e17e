"""Runs as ATIF 1.8, a format of trajectories that other programs read.

Steps come from agents and may hold anything: what fits the format goes into its place, all else into `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any

from orvl.errors import InvalidTrajectory
from orvl.store.records import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.types import Attempt, Score, Usage

SCHEMA = "ATIF-v1.8"
UNKNOWN = "unknown"
SOURCES = ("system", "user", "agent")
AGENT_ONLY = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
NEEDS_A_MODEL = ("metrics", "reasoning_content")
IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
SOUNDS = tuple(f"audio/{kind}" for kind in ("wav", "mpeg", "mp4", "aac", "ogg", "flac", "webm", "aiff"))
LARGEST = 1 << 63
DEEPEST = 50
Json = dict[str, Any]
Fix = Callable[[Any], Any]


# -- runs


def trajectory(
    run: str,
    cell: Mapping[str, str],
    episode: int,
    prompts: Sequence[str],
    attempt: Attempt,
    steps_json: bytes,
    scores: Sequence[Score] = (),
) -> Json:
    """One run. Where the agent reported no steps, the prompts are the steps."""
    steps = steps_of(loaded(steps_json)) or steps_of([{"source": "user", "message": prompt} for prompt in prompts])
    sessions = [turn.session for turn in attempt.turns if turn.session]
    made = {
        "schema_version": SCHEMA,
        "session_id": sessions[-1] if sessions else run,
        "trajectory_id": run,
        "agent": {
            "name": cell["agent"],
            "version": cell["version"] or UNKNOWN,
            "model_name": cell["model"],
            "extra": {"provider": cell["provider"]},
        },
        "final_metrics": _final(attempt.usage, len(steps)),
        "extra": {"orvl": _facts(run, cell, episode, attempt, scores)},
    }
    return {**_strict(made), "steps": steps}


def loaded(steps_json: bytes) -> list[Any]:
    """Steps as they are stored; what is no list of them is none."""
    try:
        steps = json.loads(steps_json)
    except (ValueError, RecursionError):
        return []
    return steps if isinstance(steps, list) else []


def _final(usage: Usage, steps: int) -> Json:
    figures = {
        "total_prompt_tokens": usage.input_tokens,
        "total_completion_tokens": usage.output_tokens,
        "total_cached_tokens": usage.cached_tokens,
        "total_cost_usd": usage.cost_usd,
        "total_steps": steps,
    }
    more = {"seconds": usage.seconds, "tool_calls": usage.tool_calls, "cost_source": usage.cost_source}
    more |= {"is_bound": True} if usage.is_bound else {}
    return {**_known(figures), "extra": _known(more)}


def _facts(run: str, cell: Mapping[str, str], episode: int, attempt: Attempt, scores: Sequence[Score]) -> Json:
    """What else orvl knows about the run; of each score the newest sample."""
    newest = {(score.metric, score.judge): score for score in scores}
    shown = [
        _known({"metric": score.metric, "judge": score.judge or None, "kind": score.kind, "value": score.value})
        for score in newest.values()
    ]
    facts = {
        "run": run,
        "eval": cell["eval"],
        "episode": episode,
        "provider": cell["provider"],
        "outcome": attempt.outcome,
        "reason": attempt.reason,
        "started": datetime.fromtimestamp(attempt.started).astimezone().isoformat(),
        "sandbox": attempt.sandbox,
        "scores": shown,
    }
    return _known(facts)


def _known(facts: Mapping[str, Any]) -> Json:
    return {name: fact for name, fact in facts.items() if fact is not None}


# -- steps


def steps_of(reported: Iterable[Any]) -> list[Json]:
    """Valid, numbered steps; empty ones are dropped."""
    steps = [step for one in reported if isinstance(one, dict) and (step := _step(_strict(one)))]
    return [{"step_id": number, **step} for number, step in enumerate(steps, 1)]


def _strict(value: Any, depth: int = 0) -> Any:
    """A value as strict JSON: text is UTF-8, numbers are finite and of 64 bits, depth is bounded."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < LARGEST else hex(value)
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if isinstance(value, dict | list | tuple) and depth > DEEPEST:
        return "…"
    if isinstance(value, dict):
        return {str(clean(str(name))): _strict(one, depth + 1) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(one, depth + 1) for one in value]
    return clean(str(value))


def _step(fields: Json) -> Json | None:
    said = fields.pop("source", "agent")
    fields.pop("step_id", None)
    source = said if said in SOURCES else "agent"
    if source != said:
        fields["source"] = said
    fixes = {name: fix for name, fix in STEP.items() if source == "agent" or name not in AGENT_ONLY}
    observation = fields.pop("observation", None) if source != "user" else None
    step = _object(fields, fixes)
    if observation is not None:
        calls = {call["tool_call_id"] for call in step.get("tool_calls") or ()}
        _add(step, "observation", observation, lambda value: _observation(value, calls))
    if step.get("llm_call_count") == 0 and (wrong := [name for name in NEEDS_A_MODEL if name in step]):
        step["extra"] = {**{name: step.pop(name) for name in wrong}, **step.get("extra", {})}
    return {"source": source, "message": "", **step} if any(step.values()) else None


def _object(fields: Any, fixes: Mapping[str, Fix], needs: Iterable[str] = ()) -> Json:
    """An object of the format: what fits in its place, all else in `extra`."""
    if not isinstance(fields, dict):
        raise InvalidTrajectory
    made: Json = {}
    extra = fields.get("extra")
    for name, value in fields.items():
        if name != "extra" or not isinstance(extra, dict):
            _add(made, name, value, fixes.get(name, _refused))
    if any(name not in made for name in needs):
        raise InvalidTrajectory
    if isinstance(extra, dict) and extra:
        made["extra"] = {**made.get("extra", {}), **extra}
    return made


def _add(made: Json, name: str, value: Any, fix: Fix) -> None:
    if value is None:
        return
    try:
        made[name] = fix(value)
    except InvalidTrajectory:
        made.setdefault("extra", {})[name] = value


def _refused(_: Any) -> Any:
    raise InvalidTrajectory


def _is(*kinds: type) -> Fix:
    """Accepts a value of these types; a boolean is not a number."""

    def fix(value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise InvalidTrajectory
        return value

    return fix


def _one_of(*values: str) -> Fix:
    def fix(value: Any) -> Any:
        if value not in values:
            raise InvalidTrajectory
        return value

    return fix


def _list_of(fix: Fix) -> Fix:
    """Accepts a list if all its items fit."""
    return lambda value: [fix(one) for one in _is(list)(value)]


def _whole(value: Any) -> int:
    number = _is(int, float)(value)
    if abs(number) >= LARGEST or number != int(number):
        raise InvalidTrajectory
    return int(number)


def _count(value: Any) -> int:
    if (number := _whole(value)) < 0:
        raise InvalidTrajectory
    return number


def _name(value: Any) -> str:
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not text:
        raise InvalidTrajectory
    return text


def _time(value: Any) -> str:
    text: str = _is(str)(value)
    try:
        datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise InvalidTrajectory from error
    return text


def _content(value: Any) -> str | list[Json]:
    """Text, or a list of parts; parts that the format does not know become text."""
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return [_part(part) for part in value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _part(part: Json) -> Json:
    if part.keys() == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str):
        return part
    known = {"image": IMAGES, "audio": SOUNDS}.get(str(part.get("type")))
    source = part.get("source")
    is_file = isinstance(source, dict) and source.keys() == {"media_type", "path"}
    if known and is_file and part.keys() == {"type", "source"}:
        assert isinstance(source, dict)
        if source["media_type"] in known and isinstance(source["path"], str):
            return part
    return {"type": "text", "text": json.dumps(part, ensure_ascii=False)}


def _tool_calls(value: Any) -> list[Json]:
    """All of them; a missing name, id or arguments are filled in."""
    calls = [_object(given if isinstance(given, dict) else {"arguments": given}, CALL) for given in _is(list)(value)]
    return [
        {"tool_call_id": f"call_{place}", "function_name": UNKNOWN, "arguments": {}, **call}
        for place, call in enumerate(calls, 1)
    ]


def _arguments(value: Any) -> Json:
    """An object; anything else becomes one."""
    if isinstance(value, str):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            read = None
        value = _strict(read) if isinstance(read, dict) else value
    return value if isinstance(value, dict) else {"value": value}


def _observation(value: Any, calls: set[str]) -> Json:
    """Results; a reference to a call that is not in the step goes into `extra`."""
    given = value.get("results") if isinstance(value, dict) else value
    if isinstance(value, dict) and value.keys() != {"results"}:
        raise InvalidTrajectory
    results = []
    for one in given if isinstance(given, list) else [given]:
        fixes = {**RESULT, "source_call_id": _one_of(*calls)}
        as_object = one if isinstance(one, dict) else {"content": one}
        if isinstance(number := as_object.get("source_call_id"), int) and not isinstance(number, bool):
            as_object["source_call_id"] = str(number)
        results.append(_object(as_object, fixes))
    return {"results": results}


METRICS = {
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "cached_tokens"), _count),
    "cost_usd": _is(int, float),
    **dict.fromkeys(("prompt_token_ids", "completion_token_ids"), _list_of(_whole)),
    "logprobs": _list_of(_is(int, float)),
}
CALL = {"tool_call_id": _name, "function_name": _name, "arguments": _arguments}
REFERENCE = dict.fromkeys(("trajectory_id", "trajectory_path", "session_id"), _is(str))
RESULT = {
    "content": _content,
    "subagent_trajectory_ref": _list_of(lambda value: _object(value, REFERENCE, needs=("trajectory_path",))),
}
STEP: dict[str, Fix] = {
    "timestamp": _time,
    "message": _content,
    "model_name": _name,
    "reasoning_effort": _is(str, int, float),
    "reasoning_content": _is(str),
    "tool_calls": _tool_calls,
    "metrics": lambda value: _object(value, METRICS),
    "llm_call_count": _count,
    "is_copied_context": _is(bool),
}
