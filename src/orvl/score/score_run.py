"""Metrics over a capture: functions, checklists asked of judges, and the table S that they fill."""

from __future__ import annotations

import asyncio
import reprlib
import time
from numbers import Real
from typing import TYPE_CHECKING, Any

from orvl.errors import Abstention, BudgetSpent, FunctionRaised, FunctionTimeout, OrvlError
from orvl.plan.layout import NOBODY, metric_key
from orvl.project.python_file import UserFunction
from orvl.score.judges import Item, Panelist, Verdict
from orvl.types import Score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.score.judges.bench import Case
    from orvl.types import Eval, Judge, Metric, ScoreKind

SPENT = ("calls", "seconds", "input_tokens", "cached_tokens", "output_tokens", "cost_usd")


async def score_run(
    case: Case,
    one: Eval,
    metrics: Sequence[Metric],
    judges: Sequence[Judge],
    limit: float,
    samples: Callable[[str, str], int | None],
) -> tuple[list[Score], bool]:
    """Scores a run; says whether all is scored, or the money for judges ended before.

    `samples(metric_key, judge_key)` numbers the sample to take, or is None where none is wanted.
    """
    asked = []
    for metric in metrics:
        key = metric_key(metric, one)
        for judge in judges if metric.judged and judges else [None]:
            sample = samples(key, judge.key if judge else "")
            if sample is not None:
                asked.append(_one(case, one, metric, key, judge, limit, sample))
    scores = await asyncio.gather(*asked)
    return [score for score in scores if score is not None], None not in scores


async def _one(
    case: Case, one: Eval, metric: Metric, key: str, judge: Judge | None, limit: float, sample: int
) -> Score | None:
    def score(kind: ScoreKind, value: float | None = None, reason: str | None = None, detail: Any = None) -> Score:
        name, judge_key = (judge.name, judge.key) if judge else NOBODY
        return Score(metric.name, key, name, judge_key, sample, kind, value, reason, detail)

    if metric.needs_judge and judge is None:
        return score("no judge", reason="no judge is configured")
    panelist = None
    try:
        panelist = await case.panelist(judge, metric) if judge else None
        told = await _ask(case, one, metric, panelist, limit)
    except BudgetSpent:
        return None
    except FunctionTimeout:
        return score("error", reason=f"{metric.path}: it took longer than {limit:g} s (limits.score).")
    except FunctionRaised as error:
        if isinstance(error.__cause__, BudgetSpent):
            return None
        if isinstance(error.__cause__, Abstention) and panelist:
            return score("abstained", reason=str(error.__cause__), detail=_detail(panelist.verdicts))
        return score("error", reason=str(error))
    except OrvlError as error:
        return score("error", reason=str(error))
    detail = _detail(panelist.verdicts) if panelist else None
    if isinstance(told, Verdict) and told.score is None:
        return score("abstained", reason=told.reason or "no reason given", detail=detail)
    if told is None:
        return score("not applicable", reason="there is nothing to score (the function returned None)")
    value = _number(told.score if isinstance(told, Verdict) else told)
    if value is None:
        return score("error", reason=_not_a_score(metric, told))
    return score("scored", value, detail=detail)


def _detail(verdicts: Sequence[Verdict]) -> dict[str, Any] | None:
    """What is kept of what a judge said; a function that asks several times keeps all."""
    kept = [{**({"answers": told.answers} if told.answers else {}), **told.detail} for told in verdicts]
    if len(kept) < 2:
        return kept[0] if kept and kept[0] else None
    alarm = next((told["alarm"] for told in kept if "alarm" in told), None)
    spent = {name: _sum([told.get(name) for told in kept]) for name in SPENT if any(name in told for told in kept)}
    return {"asked": kept, **spent, **({"alarm": alarm} if alarm else {})}


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _number(told: Any) -> float | None:
    """A number from 0 to 1, or nothing; never a guess."""
    if not isinstance(told, Real) and type(told).__module__ != "numpy":
        return None
    try:
        value = float(told)
    except (OverflowError, ValueError, TypeError):
        return None
    return value if 0 <= value <= 1 else None


def _not_a_score(metric: Metric, told: Any) -> str:
    line = getattr(metric.function, "line", None)
    place = f"{metric.path}:{line}" if line else str(metric.path)
    try:
        shown = reprlib.repr(told)
    except Exception:  # noqa: BLE001 - a user's object may fail to show itself
        shown = f"a {type(told).__name__}"
    return f"{place}: the score is {shown}; it must be a number from 0 to 1."


async def _ask(case: Case, one: Eval, metric: Metric, judge: Panelist | None, limit: float) -> Any:
    function = metric.function
    if function is None:
        assert judge is not None
        return await judge.checklist(metric.items)
    assert isinstance(function, UserFunction)
    available = {
        "run": case.run,
        "eval": one,
        "judge": judge,
        "par": one.par.get(metric.name, metric.par),
        "items": metric.items,
    }
    if metric.origin == "built-in":
        return await function.here(**available)
    if judge is None:
        return await function.call(limit, **available)
    elsewhere = Elsewhere(judge, asyncio.get_running_loop())
    return await function.call(limit, lambda: elsewhere.waited, **{**available, "judge": elsewhere})


class Elsewhere:
    """A judge as a user's function gets it, whose thread has a loop of its own."""

    def __init__(self, judge: Panelist, loop: asyncio.AbstractEventLoop) -> None:
        self.name, self.verdicts = judge.name, judge.verdicts
        self.waited = 0.0
        """Seconds for which the function waited for the judge."""
        self._judge, self._loop = judge, loop

    async def checklist(self, items: Sequence[Item], evidence: Any = None) -> Verdict:
        began = time.monotonic()
        asked = asyncio.run_coroutine_threadsafe(self._judge.checklist(items, evidence), self._loop)
        try:
            return await asyncio.wrap_future(asked)
        finally:
            self.waited += time.monotonic() - began
