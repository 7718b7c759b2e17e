"""Attempts, calls, check results and scores as database rows, and back."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from orvl.types import Attempt, CallIssue, CheckResult, Inspection, ModelCall, Score, Turn, Usage, UserPart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from orvl.types import Cell

USAGE = ("seconds", "input_tokens", "cached_tokens", "output_tokens", "tool_calls", "cost_usd", "cost_source")
SPENT = ("is_bound", "model_seconds", "tools_seconds", "own_seconds", "waiting_seconds")
"""What is known of runs since the gateway tells how their time was spent."""
SCORE = ("metric", "metric_key", "judge", "judge_key", "sample", "kind", "value", "reason", "detail")
CALL = tuple(ModelCall.__dataclass_fields__)
FLAGS = ("stream", "left", "reasoning_given", "reasoning_back", "is_bound")
ATTEMPT = ("outcome", "reason", "started", *USAGE, "sandbox", "start_tree", "tree", "steps", "detail")
SECONDS = "CASE WHEN coalesce(spent.untimed, 0) THEN NULL ELSE seconds END"


Row = TypeVar("Row", bound=NamedTuple)
Made = TypeVar("Made")
LARGEST = 1 << 63
LATEST = 1e11
"""Seconds since 1970 that a date can be made of."""


def columns(*names: str) -> str:
    """Columns of attempts and of what they spent, to be read."""
    return ", ".join(f"{SECONDS} AS seconds" if name == "seconds" else name for name in names)


def clean(text: str | None) -> str | None:
    """Text as UTF-8: what cannot be encoded, such as a lone surrogate, is escaped."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()


def check_text(name: str, value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} is {value!r:.40}")


def check_score(value: object) -> None:
    """A score is a number from 0 to 1, or missing."""
    if value is not None and not (isinstance(value, int | float) and 0 <= value <= 1):
        raise ValueError(f"a score of {value!r:.40}")


def check_types(row: Row) -> Row:
    """A row whose values are of the types that its class says; SQLite itself keeps any value in any column."""
    for (name, kind), value in zip(_kinds(type(row)), row, strict=True):
        if not isinstance(value, kind):
            raise ValueError(f"{name} is {value!r:.40}")
    return row


def made(kind: type[Made], fields: Mapping[str, Any]) -> Made:
    """A dataclass of values that have the types of its fields, and are within what orvl itself writes."""
    fields_of: Any = kind
    kinds = _field_kinds(fields_of)
    for name, value in fields.items():
        known = kinds[name]
        if known and not isinstance(value, known):
            raise TypeError(f"{name} is {value!r:.40}")
        if isinstance(value, int | float) and not -LARGEST < value < LARGEST:
            raise ValueError(f"{name} is {value!r:.40}")
    return kind(**fields)


@cache
def _field_kinds(kind: Any) -> dict[str, tuple[type, ...]]:
    return {name: _plain_kinds(hint) for name, hint in get_type_hints(kind).items()}


def _plain_kinds(hint: Any) -> tuple[type, ...]:
    """The types that a value may have; none where it has parts of its own."""
    if hint is float:
        return (float, int)
    if get_origin(hint) is Literal:
        return (str,)
    if isinstance(hint, UnionType):
        parts = [_plain_kinds(part) for part in get_args(hint)]
        return tuple(kind for kinds in parts for kind in kinds) if all(parts) else ()
    return (hint,) if isinstance(hint, type) else ()


@cache
def _kinds(row: type) -> tuple[tuple[str, Any], ...]:
    return tuple(get_type_hints(row).items())


def attempt_row(attempt: Attempt) -> tuple[Any, ...]:
    usage = attempt.usage
    detail: dict[str, Any] = {"turns": [asdict(turn) for turn in attempt.turns], "cut": attempt.cut}
    if attempt.record:
        detail["record"] = attempt.record
    if attempt.contestant:
        detail["contestant"] = attempt.contestant
    if attempt.user:
        detail["user"] = asdict(attempt.user)
    if attempt.prompts:
        detail["prompts"] = [clean(prompt) for prompt in attempt.prompts]
    if attempt.refused:
        detail["refused"] = dict(attempt.refused)
    if attempt.told:
        detail["told"] = asdict(attempt.told)
    return (
        attempt.outcome,
        clean(attempt.reason),
        attempt.started,
        *(getattr(usage, name) for name in USAGE),
        attempt.sandbox,
        attempt.start_tree,
        attempt.tree,
        attempt.steps,
        json.dumps(detail),
    )


def usage_from(values: Sequence[Any]) -> Usage:
    """The columns of USAGE and SPENT as a Usage."""
    fields = dict(zip((*USAGE, *SPENT), values, strict=True))
    for name, value in fields.items():
        if name == "cost_source":
            check_text(name, value)
        elif value is not None and not (isinstance(value, int | float) and 0 <= value < math.inf):
            raise ValueError(f"{name} is {value!r:.40}")
    return Usage(**{**fields, "is_bound": bool(fields["is_bound"])})


def spent_row(attempt: Attempt) -> tuple[Any, ...]:
    return tuple(getattr(attempt.usage, name) for name in SPENT)


def attempt_from(row: Sequence[Any]) -> Attempt:
    """The columns of ATTEMPT and SPENT as an Attempt; its checks are kept apart."""
    fields = dict(zip((*ATTEMPT, *SPENT), row, strict=True))
    detail = json.loads(fields.pop("detail"))
    usage = usage_from([fields.pop(name) for name in (*USAGE, *SPENT)])
    turns = tuple(made(Turn, turn) for turn in detail["turns"])
    told = made(Usage, detail["told"]) if "told" in detail else None
    kept = {"turns": turns, "cut": tuple(detail["cut"]), "record": detail.get("record"), "told": told}
    kept["contestant"] = detail.get("contestant")
    kept["refused"] = dict(detail.get("refused", {}))
    kept["user"] = made(UserPart, detail["user"]) if "user" in detail else None
    kept["prompts"] = tuple(detail.get("prompts", ()))
    for name in ("cut", "prompts"):
        for text in kept[name]:
            check_text(name, text)
    if not 0 <= fields["started"] < LATEST:
        raise ValueError(f"started is {fields['started']!r:.40}")
    return made(Attempt, {"usage": usage, **kept, **fields})


def call_row(call: ModelCall) -> tuple[Any, ...]:
    row = [getattr(call, name) for name in CALL]
    texts = [clean(value) if isinstance(value, str) else value for value in row[:-1]]
    return (*texts, clean(json.dumps([asdict(finding) for finding in call.findings])))


def call_from(row: Sequence[Any]) -> ModelCall:
    fields = dict(zip(CALL, row, strict=True))
    findings = tuple(made(CallIssue, finding) for finding in json.loads(fields.pop("findings")))
    flags = {name: None if fields[name] is None else bool(fields[name]) for name in FLAGS}
    return made(ModelCall, {"findings": findings, **fields, **flags})


def checks_text(checks: Sequence[CheckResult]) -> str:
    return json.dumps([asdict(check) for check in checks])


def checks_from(text: str) -> tuple[CheckResult, ...]:
    return tuple(made(CheckResult, check) for check in json.loads(text))


def inspection_from(row: Sequence[Any]) -> Inspection:
    kind, key, results, pictures = row
    named = dict(json.loads(pictures))
    for value in named.values():
        check_text("a picture", value)
    return made(Inspection, {"kind": kind, "key": key, "results": results, "pictures": named})


def score_row(score: Score) -> tuple[Any, ...]:
    row = [getattr(score, name) for name in SCORE]
    return (*row[:-2], clean(score.reason), json.dumps(score.detail) if score.detail else None)


def made_of_text(cell: Cell) -> str:
    """What the identity of a cell is made of, so that it can be said later what has changed."""
    agent, eval_ = cell.agent, cell.eval
    parts: dict[str, Any] = {
        "agent": agent.digest if not (agent.overlays or agent.at) else _file_digest(agent.path),
        "overlays": {overlay.name: overlay.digest for overlay in agent.overlays},
        "files": dict(cell.files),
        "model_id": cell.model_id,
        "prompts": hashlib.sha256(json.dumps(eval_.prompts).encode()).hexdigest(),
        "workspace": eval_.workspace_digest,
        "limits": dict(eval_.limits),
        "setup": list(eval_.setup),
        "network": eval_.network,
        "control": eval_.control_digests.get(agent.control, "") if agent.control else "",
    }
    if any(map(eval_.asked_before, range(1, len(eval_.prompts) + 1))):
        parts["when"] = eval_.checks_digest
    if eval_.user:
        parts["user"] = hashlib.sha256(json.dumps(asdict(eval_.user)).encode()).hexdigest()
    if eval_.private:
        parts["private"] = True
    if eval_.varies:
        choices = {
            key: list(map(str, one)) if not isinstance(one, range) else str(one) for key, one in eval_.vary.items()
        }
        varied = [list(choices.items()), eval_.variants, eval_.seed]
        parts["variants"] = hashlib.sha256(json.dumps(varied).encode()).hexdigest()
    return json.dumps(parts, sort_keys=True)


def made_of(text: str | None) -> dict[str, Any] | None:
    """What `made_of_text` wrote; None where nothing was recorded, or nothing that can be read."""
    try:
        parts = json.loads(text) if text is not None else None
    except ValueError:
        return None
    return parts if isinstance(parts, dict) else None


def _file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


USER = "user:"
"""Begins what answers of users' models are about: they are kept, so that nothing is asked twice."""


def about(attempt: int) -> str:
    """What the replies of judges on an attempt are about."""
    return f"attempt:{attempt}"


def reply_place(attempt: int, metric_key: str, judge_key: str, sample: int) -> tuple[str, str]:
    """What the replies that lead to a score are about, and their scope."""
    return about(attempt), f"{metric_key}:{judge_key}:{sample}"


def reply_keys(scope: str) -> tuple[str, str]:
    """The metric and the judge of a score that replies with this scope lead to."""
    metric_key, _, rest = scope.partition(":")
    return metric_key, rest.partition(":")[0]


def score_from(row: Sequence[Any]) -> Score:
    fields = dict(zip(SCORE, row, strict=True))
    check_score(fields["value"])
    detail = json.loads(fields["detail"] or "null")
    if not isinstance(detail, dict | None):
        raise TypeError(f"its detail is {detail!r:.40}")
    return made(Score, {**fields, "detail": detail})
