"""Two runs side by side: how each ended, where their points differ, and what differs in what they left."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orvl.capture import diff
from orvl.store.tree import entries_of

if TYPE_CHECKING:
    from orvl.rate.ledger import Line
    from orvl.report.shown_run import ShownRun
    from orvl.store import Store
    from orvl.store.tree import Entry


@dataclass(frozen=True)
class MetricPair:
    """One metric of both runs; None where a run has no score of it."""

    metric: str
    left: Line | None
    right: Line | None

    @property
    def scores(self) -> tuple[float | None, float | None]:
        return self.left.score if self.left else None, self.right.score if self.right else None

    @property
    def difference(self) -> float | None:
        """Left less right."""
        left, right = self.scores
        return None if left is None or right is None else left - right

    @property
    def points(self) -> float:
        """What it adds to the difference of R."""
        return (self.left.points if self.left else 0.0) - (self.right.points if self.right else 0.0)


@dataclass(frozen=True)
class ComparedRuns:
    """Left and right."""

    store: Store
    left: ShownRun
    right: ShownRun

    @property
    def sides(self) -> tuple[ShownRun, ShownRun]:
        return self.left, self.right

    @property
    def is_same_eval(self) -> bool:
        return self.left.run.cell.eval == self.right.run.cell.eval

    @property
    def difference(self) -> float | None:
        """R of the left less that of the right; None where they are not over the same metrics of the same eval."""
        left, right = self.left.ledger, self.right.ledger
        return left.R - right.R if left and right and self.is_same_eval and not self.rated_once else None

    @cached_property
    def rated_once(self) -> list[str]:
        """Metrics with a weight that only one of two rated runs has a score of."""
        if not (self.left.ledger and self.right.ledger):
            return []
        left, right = (
            {line.metric for line in one.lines if line.share} for one in (self.left.ledger, self.right.ledger)
        )
        return sorted(left ^ right)

    @cached_property
    def metrics(self) -> list[MetricPair]:
        """What makes the largest difference first."""
        by_side = [{line.metric: line for line in one.ledger.lines} if one.ledger else {} for one in self.sides]
        names = dict.fromkeys(name for lines in by_side for name in lines)
        pairs = [MetricPair(name, by_side[0].get(name), by_side[1].get(name)) for name in names]
        return sorted(pairs, key=lambda pair: -abs(pair.points))

    @cached_property
    def _trees(self) -> tuple[list[Entry], list[Entry]]:
        blobs, (left, right) = self.store.blobs, (one.attempts[-1].attempt.tree for one in self.sides)
        return entries_of(blobs, left), entries_of(blobs, right)

    @cached_property
    def changes(self) -> list[diff.FileChange]:
        """Files that differ: added are those of the right alone, removed those of the left alone."""
        return [
            one for one in diff.changes(*self._trees) if any(e and e.kind != "folder" for e in (one.before, one.after))
        ]

    @cached_property
    def diff(self) -> str:
        """From the left to the right, as a unified diff."""
        return diff.unified(*self._trees, lambda key: self.store.blobs.get(key, diff.MAX_FILE))

    def as_json(self) -> dict[str, Any]:
        where = {"added": "right", "removed": "left", "changed": "both"}
        return {
            "schema": 1,
            "same_eval": self.is_same_eval,
            "left": _side_json(self.left),
            "right": _side_json(self.right),
            "difference": self.difference,
            "metrics": [
                {"metric": one.metric, "left": one.scores[0], "right": one.scores[1], "difference": one.difference}
                for one in self.metrics
            ],
            "files": [{"path": one.path, "in": where[one.kind]} for one in self.changes],
            "diff": self.diff,
        }


def _side_json(shown: ShownRun) -> dict[str, Any]:
    attempt, ledger = shown.attempts[-1].attempt, shown.ledger
    return {
        "run": shown.run.key,
        **shown.run.names,
        "episode": shown.run.episode,
        "outcome": attempt.outcome,
        "reason": attempt.reason,
        "R": ledger.R if ledger else None,
        "R_pen": ledger.R_pen if ledger else None,
        "seconds": attempt.usage.seconds,
        "tokens": attempt.usage.tokens,
        "cost_usd": attempt.usage.cost_usd,
    }
