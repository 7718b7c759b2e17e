"""Which runs a file shows first."""

from __future__ import annotations

from dataclasses import dataclass

from orvl.rate.board import MetricRow, Row
from orvl.store.rows import NewestScore, RunResult
from orvl.types import Usage
from orvl.web.interest import by_interest


@dataclass(frozen=True)
class AlarmedStore:
    """What the order asks a store."""

    attempts: dict[str, int]
    alarmed_runs: tuple[str, ...] = ()

    def alarmed(self):
        return [NewestScore(self.attempts[run], "m", "k", "j", "k", "scored", None) for run in self.alarmed_runs]

    def results_of(self, attempts):
        runs = {attempt: run for run, attempt in self.attempts.items()}
        return [RunResult(one, runs[one], 1, 1, "finished", None, "none", Usage()) for one in attempts]


def row(run: str, R: float | None, outcome: str = "finished", judges: tuple[float | None, ...] = (), cell: str = "a"):
    scores = {str(place): score for place, score in enumerate(judges)}
    metrics = {"m": MetricRow(1.0, R, 0.0, scores, 0, 0)} if judges else {}
    return Row(cell, "m", "p", "e", R=R, run=run, outcome=outcome, metrics=metrics)


def order(rows, *alarmed: str) -> list[str]:
    store = AlarmedStore({one.run: place for place, one in enumerate(rows, 1)}, alarmed)
    return [one.run for one in by_interest(store, rows)]


def test_failed_alarmed_divided_extremes_errored_and_then_the_worst():
    rows = [
        row("middle", 0.5),
        row("lower", 0.4),
        row("errored", None, "errored"),
        row("best", 0.9),
        row("worst", 0.1),
        row("divided", 0.5, judges=(0.0, 0.6, None)),
        row("more divided", 0.5, judges=(0.0, 1.0)),
        row("alarmed", 0.6),
        row("failed", 0.7, "failed"),
    ]
    expected = ["failed", "alarmed", "more divided", "divided", "worst", "best", "errored", "lower", "middle"]
    assert order(rows, "alarmed") == expected
    assert order(rows[::-1], "alarmed") == expected


def test_every_cell_has_its_worst_and_its_best():
    rows = [row(f"{cell}{number}", 0.1 * number, cell=cell) for cell in "ab" for number in range(1, 5)]
    assert order(rows)[:4] == ["a1", "b1", "a4", "b4"]


def test_judges_that_nearly_agree_are_not_divided():
    rows = [row("plain", 0.2), row("near", 0.5, judges=(0.5, 0.9)), row("top", 0.9)]
    assert order(rows) == ["plain", "top", "near"]
