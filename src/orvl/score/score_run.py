"""Scores a captured run by its metrics: functions, and checklists that judges answer."""

from __future__ import annotations

import asyncio
import reprlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from numbers import Real
from typing import TYPE_CHECKING, Any

from orvl.errors import Abstention, BudgetSpent, FunctionRaised, FunctionTimeout, Missed, OrvlError
from orvl.plan.layout import NOBODY, metric_key
from orvl.project.python_file import UserFunction
from orvl.score.judges import ChecklistJudge, Item, Verdict
from orvl.types import Score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.score.judges.panel import JudgedRun
    from orvl.types import Eval, Judge, Metric, ScoreKind

WatchJudge = Callable[[str, str], AbstractContextManager[None]]
"""Is entered with a judge's and a metric's name while that judge is asked for that score."""
SPENT = ("calls", "seconds", "input_tokens", "cached_tokens", "output_tokens", "cost_usd")


async def score_run(
    judged: JudgedRun,
    eval_: Eval,
    metrics: Sequence[Metric],
    judges: Sequence[Judge],
    limit: float,
    samples: Callable[[str, str], int | None],
    watch: WatchJudge = lambda _, __: nullcontext(),
) -> tuple[list[Score], bool]:
    """The scores of a run, and whether these are all: the money for judges may end before.

    `samples(metric_key, judge_key)` is the number of the sample to take, or None to take none.
    """
    scoring = []
    for metric in metrics:
        key = metric_key(metric, eval_)
        for judge in judges if metric.judged and judges else [None]:
            sample = samples(key, judge.key if judge else "")
            if sample is not None:
                scoring.append(_score(judged, eval_, metric, key, judge, limit, sample, watch))
    scores = await asyncio.gather(*scoring)
    return [score for score in scores if score is not None], None not in scores


async def _score(
    judged: JudgedRun,
    eval_: Eval,
    metric: Metric,
    key: str,
    judge: Judge | None,
    limit: float,
    sample: int,
    watch: WatchJudge,
) -> Score | None:
    """One score of a metric by a judge, or by none; None where no money is left to ask."""

    def score(kind: ScoreKind, value: float | None = None, reason: str | None = None, detail: Any = None) -> Score:
        name, judge_key = (judge.name, judge.key) if judge else NOBODY
        return Score(metric.name, key, name, judge_key, sample, kind, value, reason, detail)

    if metric.needs_judge and judge is None:
        return score("no judge", reason="no judge is configured")
    ready = None
    try:
        with watch(judge.name, metric.name) if judge else nullcontext():
            ready = await judged.judge(judge, metric, key, sample) if judge else None
            result = await _call(judged, eval_, metric, ready, limit)
    except BudgetSpent:
        return None
    except FunctionTimeout:
        return score("error", reason=f"{metric.path}: it took longer than {limit:g} s (limits.score).")
    except FunctionRaised as error:
        if isinstance(error.__cause__, BudgetSpent):
            return None
        if isinstance(error.__cause__, Abstention) and ready:
            return score("abstained", reason=str(error.__cause__), detail=_detail(ready.verdicts))
        return score("error", reason=str(error))
    except OrvlError as error:
        return score("error", reason=str(error), detail=_missed(error))
    detail = _detail(ready.verdicts) if ready else None
    if isinstance(result, Verdict) and result.score is None:
        return score("abstained", reason=result.reason or "no reason given", detail=detail)
    if result is None:
        return score("not applicable", reason="there is nothing to score (the function returned None)")
    value = _number(result.score if isinstance(result, Verdict) else result)
    if value is None:
        return score("error", reason=_not_a_score(metric, result))
    return score("scored", value, detail=detail)


def _detail(verdicts: Sequence[Verdict]) -> dict[str, Any] | None:
    """What is stored of a judge's verdicts; a function that asks several times has several."""
    details = [_detail_of(given) for given in verdicts]
    if len(details) < 2:
        return details[0] if details and details[0] else None
    alarm = next((detail["alarm"] for detail in details if "alarm" in detail), None)
    known = [name for name in SPENT if any(name in detail for detail in details)]
    spent = {name: _sum([detail.get(name) for detail in details]) for name in known}
    missed = {"missed": True} if any(detail.get("missed") for detail in details) else {}
    told = [given.told for given in verdicts if given.told is not None]
    share = {"told": sum(told) / len(told)} if told else {}
    return {"asked": details, **spent, **share, **missed, **({"alarm": alarm} if alarm else {})}


def _detail_of(given: Verdict) -> dict[str, Any]:
    own = {"answers": given.answers, "good": given.good} if given.good else {"answers": given.answers}
    told = {} if given.told is None else {"told": round(given.told, 4)}
    return {**(own if given.answers else {}), **told, **given.detail}


def _missed(error: BaseException | None) -> dict[str, Any] | None:
    return {"missed": True} if isinstance(error, Missed) else None


def is_missed(score: Score) -> bool:
    """Whether a judge's provider failed, or the machine was too busy for a browser: the same command asks again."""
    return score.value is None and bool(score.detail and score.detail.get("missed"))


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _number(value: Any) -> float | None:
    """A number from 0 to 1, or nothing; never a guess."""
    if not isinstance(value, Real) and type(value).__module__ != "numpy":
        return None
    try:
        number = float(value)
    except (OverflowError, ValueError, TypeError):
        return None
    return number if 0 <= number <= 1 else None


def _not_a_score(metric: Metric, value: Any) -> str:
    line = getattr(metric.function, "line", None)
    place = f"{metric.path}:{line}" if line else str(metric.path)
    try:
        shown = reprlib.repr(value)
    except Exception:  # noqa: BLE001 - a user's object may fail to show itself
        shown = f"a {type(value).__name__}"
    return f"{place}: the score is {shown}; it must be a number from 0 to 1."


async def _call(judged: JudgedRun, eval_: Eval, metric: Metric, judge: ChecklistJudge | None, limit: float) -> Any:
    """What a metric's function returns, or a judge's verdict on its checklist."""
    function = metric.function
    if function is None:
        assert judge is not None
        return await judge.checklist(metric.items)
    assert isinstance(function, UserFunction)
    available = {
        "run": judged.run,
        "eval": eval_,
        "judge": judge,
        "par": eval_.par.get(metric.name, metric.par),
        "items": metric.items,
    }
    if metric.origin == "built-in":
        return 0.0 if _is_unearned(judged, metric) else await function.here(**available)
    if judge is None:
        return await function.call(limit, **available)
    threadsafe = ThreadsafeJudge(judge, asyncio.get_running_loop())
    return await function.call(limit, lambda: threadsafe.waited, **{**available, "judge": threadsafe})


def _is_unearned(judged: JudgedRun, metric: Metric) -> bool:
    """Whether a metric would praise how little a run used that did nothing, or failed without its model."""
    run = judged.run
    if metric.par is None:
        return False
    asked_nobody = run.usage.tokens == 0 and run.usage.cost_source != "none"
    has_failed = run.outcome == "failed"
    # Reading what it did takes longer than all else here, so that is asked last.
    return (has_failed and asked_nobody) or ((has_failed or asked_nobody) and not run.did_something)


class ThreadsafeJudge:
    """A judge for a user's function, which runs in a thread with an event loop of its own."""

    def __init__(self, judge: ChecklistJudge, loop: asyncio.AbstractEventLoop) -> None:
        self.name, self.verdicts = judge.name, judge.verdicts
        self.waited = 0.0
        """Seconds for which the function waited for the judge; they do not count against its limit."""
        self._judge, self._loop = judge, loop

    async def checklist(self, items: Sequence[Item], evidence: Any = None) -> Verdict:
        began = time.monotonic()
        asking = asyncio.run_coroutine_threadsafe(self._judge.checklist(items, evidence), self._loop)
        try:
            return await asyncio.wrap_future(asking)
        finally:
            self.waited += time.monotonic() - began
