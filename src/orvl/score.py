"""Metrics over a capture: functions, checklists asked of judges, and the table S that they fill."""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

from orvl.errors import OrvlError
from orvl.judges import Panelist, Verdict, panelist
from orvl.project.python_file import UserFunction
from orvl.types import Layout, Score

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.capture import CapturedRun
    from orvl.types import Eval, Judge, Metric, ScoreKind

NOBODY = ("", "")


def metric_key(metric: Metric, one: Eval) -> str:
    """The identity of a score's content: the metric's file and what of the eval it looks at."""
    parts = [metric.name, metric.digest, one.scoring_digest, one.par.get(metric.name)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def layout_of(one: Eval, metrics: Sequence[Metric], judges: Sequence[Judge]) -> Layout:
    """Who answers what on the runs of an eval. Without a judge, one row stands for nobody."""
    rows = tuple((judge.name, judge.key) for judge in judges) or (NOBODY,)
    columns = tuple((metric.name, metric_key(metric, one)) for metric in metrics)
    key = hashlib.sha256(json.dumps([rows, columns]).encode()).hexdigest()[:16]
    return Layout(key, rows, columns, tuple(metric.judged for metric in metrics))


async def score_run(
    run: CapturedRun,
    one: Eval,
    metrics: Sequence[Metric],
    judges: Sequence[Judge],
    limit: float,
    samples: Callable[[str, str], int | None],
) -> list[Score]:
    """Scores a run. `samples(metric_key, judge_key)` numbers the sample to take, or is None where none is wanted."""
    asked = []
    for metric in metrics:
        key = metric_key(metric, one)
        for judge in judges if metric.judged and judges else [None]:
            sample = samples(key, judge.key if judge else "")
            if sample is not None:
                asked.append(_one(run, one, metric, key, judge, limit, sample))
    return list(await asyncio.gather(*asked))


async def _one(
    run: CapturedRun, one: Eval, metric: Metric, key: str, judge: Judge | None, limit: float, sample: int
) -> Score:
    def score(kind: ScoreKind, value: float | None = None, reason: str | None = None, detail: Any = None) -> Score:
        name, judge_key = (judge.name, judge.key) if judge else NOBODY
        return Score(metric.name, key, name, judge_key, sample, kind, value, reason, detail)

    if metric.judged and judge is None:
        return score("no judge", reason="no judge is configured")
    try:
        told = await _ask(run, one, metric, panelist(judge, metric.name) if judge else None, limit)
    except TimeoutError:
        return score("error", reason=f"{metric.path}: it took longer than {limit:g} s (limits.score).")
    except OrvlError as error:
        return score("error", reason=str(error))
    except Exception as error:
        if metric.function is None:
            raise
        assert isinstance(metric.function, UserFunction)
        return score("error", reason=str(metric.function.mistake(error)))
    if told is None:
        return score("not applicable", reason="it does not apply to this run")
    if isinstance(told, Verdict):
        detail = {"answers": told.answers} if told.answers else None
        if told.score is None:
            return score("abstained", reason=told.reason or "no reason given", detail=detail)
        return _checked(told.score, metric, lambda value: score("scored", value, detail=detail), score)
    return _checked(told, metric, lambda value: score("scored", value), score)


def _checked(value: Any, metric: Metric, good: Callable[[float], Score], bad: Callable[..., Score]) -> Score:
    """A number from 0 to 1, or an error of that metric; never a guess."""
    if isinstance(value, Real) and isfinite(float(value)) and 0 <= float(value) <= 1:
        return good(float(value))
    line = getattr(metric.function, "line", None)
    place = f"{metric.path}:{line}" if line else str(metric.path)
    return bad("error", reason=f"{place}: the score is {value!r}; it must be a number from 0 to 1.")


async def _ask(run: CapturedRun, one: Eval, metric: Metric, judge: Panelist | None, limit: float) -> Any:
    function = metric.function
    if function is None:
        assert judge is not None
        return await asyncio.wait_for(judge.checklist(metric.items), limit)
    assert isinstance(function, UserFunction)
    available = {"run": run, "eval": one, "judge": judge, "par": one.par.get(metric.name, metric.par)}
    if function.is_async:
        return await asyncio.wait_for(function(**available), limit)
    if metric.origin == "built-in":
        return function(**available)
    return await _in_thread(lambda: function(**available), limit)


async def _in_thread(work: Callable[[], Any], limit: float) -> Any:
    """Calls a user's function in a thread that cannot keep orvl from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(put: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            put(value)

    def call() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - handed to the waiting side
            problem = error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
            loop.call_soon_threadsafe(settle, done.set_exception, problem)
        else:
            loop.call_soon_threadsafe(settle, done.set_result, result)

    threading.Thread(target=call, daemon=True).start()
    return await asyncio.wait_for(done, limit)
