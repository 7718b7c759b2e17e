"""Scores of one run: the missing ones are made, and stored with the run's score matrix S."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.capture.captured_run import CapturedRun
from orvl.errors import Interrupted, InvalidAppConfig, NotStarted
from orvl.score.judges.evidence import page_text
from orvl.score.judges.redaction import names_of
from orvl.score.score_run import is_missed, score_run
from orvl.store import score_matrix, tree

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from orvl.capture.browser.result import Look
    from orvl.capture.captured_run import Inspections
    from orvl.plan.layout import Panel
    from orvl.plan.options import Samples
    from orvl.sandbox.workdir import WorkDir
    from orvl.score.judges.panel import JudgePanel
    from orvl.score.judges.tools import Browse
    from orvl.score.score_run import WatchJudge
    from orvl.store import Store
    from orvl.store.rows import JudgeReply
    from orvl.types import Attempt, Cell, Eval, Layout, Score


def sampler(
    before: list[Score], samples: Samples, done: Collection[tuple[str, str]] = ()
) -> Callable[[str, str], int | None]:
    """Which sample of a score to take: the first, another if nobody answered, or one more of all.

    `done` are the metric and judge keys of scores that this call, before it was interrupted, has taken already.
    """
    last = {(score.metric_key, score.judge_key): score for score in before}

    def sample(metric_key: str, judge_key: str) -> int | None:
        score = last.get((metric_key, judge_key))
        if score is None:
            return 1
        if (metric_key, judge_key) in done:
            return None
        again = (
            samples == "all" or (samples == "unanswered" and score.kind in ("error", "abstained")) or is_missed(score)
        )
        return score.sample + 1 if again else None

    return sample


def hidden_names(cell: Cell) -> tuple[str, ...]:
    """Names that judges must not see; a control is nobody's work."""
    agent = cell.agent
    return () if agent.control else names_of(agent.name, cell.model, cell.model_id, cell.provider, agent)


def browse_as_text(browse: Callable[[Sequence[str]], Awaitable[Look]] | None) -> Browse | None:
    """What a judge reads of the steps that it asked for in the browser."""
    if browse is None:
        return None

    async def as_text(steps: Sequence[str]) -> str:
        try:
            return "\n\n".join(page_text(await browse(steps), plain=True))
        except InvalidAppConfig as error:
            return str(error)
        except NotStarted as error:
            return f"The browser could not be started: {error}"

    return as_text


@dataclass
class RunScorer:
    """Scores runs; after `cancel`, the next call of orvl scores what was under way."""

    store: Store
    work: WorkDir
    limit: float
    samples: Samples
    judges: JudgePanel
    resampled: Mapping[int, Collection[tuple[str, str]]] = field(default_factory=dict)
    """By attempt, metric and judge keys of samples that an unfinished call of the same words has taken."""
    _tasks: set[asyncio.Task[tuple[list[Score], bool]]] = field(default_factory=set)
    _cancelled: bool = False

    async def scores(
        self,
        attempt: Attempt,
        number: int,
        panel: Panel,
        before: list[Score],
        inspections: Inspections,
        browse: Browse | None,
        replies: Sequence[JudgeReply],
        contestant: str,
        watch: WatchJudge,
    ) -> tuple[list[Score], bool]:
        """The scores that an attempt does not have yet, and whether these are all."""
        scratch = self.work.root / f"score{number}"
        run = CapturedRun(attempt, attempt.prompts or panel.eval.prompts, self.store.blobs, scratch, inspections)
        items = [text for metric in panel.metrics for text, _ in metric.items]
        named = [*items, *_texts_of(panel.eval)]
        judged = self.judges.judged_run(run, named, browse, number, replies, contestant)
        sample = sampler(before, self.samples, self.resampled.get(number, ()))
        task = asyncio.create_task(
            score_run(judged, panel.eval, panel.metrics, panel.judges, self.limit, sample, watch)
        )
        self._tasks.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if self._cancelled:
                raise Interrupted from None
            raise
        finally:
            self._tasks.discard(task)
            if scratch.exists():
                await asyncio.to_thread(tree.remove, scratch)

    def cancel(self) -> None:
        self._cancelled = True
        for task in self._tasks:
            task.cancel()


def _texts_of(eval_: Eval) -> list[str]:
    """What an eval itself names: files in these are shown to judges, and nothing else of these."""
    checks = [text for check in eval_.checks for text in (check.name, check.run, *check.steps)]
    return [*checks, *eval_.app.values(), *eval_.steps, *eval_.setup]


def saving(
    number: int,
    cell: int,
    call: int,
    layout_id: int,
    layout: Layout,
    before: list[Score],
    scores: list[Score],
    is_all: bool,
) -> Callable[[Store], None]:
    """The write that stores new scores of an attempt, with its score matrix S once nothing is missing."""
    matrix = score_matrix.pack(layout, before + scores) if is_all else None
    return lambda store: store.add_scores(number, cell, call, scores, layout_id, matrix)
