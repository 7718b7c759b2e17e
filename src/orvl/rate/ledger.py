"""A rating explained: weights × scores = R, line by line, and which points were lost where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.plan.identities import identities
from orvl.plan.weights import earned_by
from orvl.rate.collect import collect, of_store, panels_of, rules_of
from orvl.rate.gather import CellRef, gather

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.plan.layout import Panel
    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.store import Store, StoredCell

Contestant = tuple[str, str, str]
ROUNDING = 1e-9


@dataclass(frozen=True)
class Line:
    """One metric: its weight as a share of 1 among those that were rated, its score, and what both make."""

    metric: str
    weight: float
    """As a share of 1 among all that count, rated or not."""
    share: float
    """Among those that are rated: the weights of the rest are spread over them."""
    points: float
    """share × score; these add up to R."""
    lost: float
    """share × (1 − score); these add up to 1 − R."""
    score: float | None = None
    charge: float = 0.0
    """share × the judges' variance; λ times their sum is what R_pen is lower by."""
    judges: Mapping[str, float | None] = field(default_factory=dict)
    """What each judge said; empty where a program scored it."""
    raw: float | None = None
    """Of a metric that is earned: what it scored. `score` is the part of it that was earned."""
    earned: float | None = None
    """That share; None where all of it counts."""

    @property
    def product(self) -> str:
        """How an earned score came about; of several runs, the product of means is not the mean of products."""
        if self.raw is None or self.earned is None:
            return ""
        is_exact = self.score is not None and abs(self.raw * self.earned - self.score) < ROUNDING
        return f"{self.raw:.3f} {'×' if is_exact else 'and'} earned {self.earned:.3f}"


@dataclass(frozen=True)
class Ledger:
    """What a rating is made of."""

    R: float
    R_pen: float
    penalty: float
    lines: tuple[Line, ...]
    """The largest loss first."""
    imported: str | None = None
    """Where its scores were imported from."""
    weights_from: str | None = None
    """Who says what counts; None for a mean over evals of which not all have it from the same."""
    earned: str | None = None
    """How efficiency is earned, as a sentence."""

    @property
    def unrated(self) -> tuple[str, ...]:
        """Metrics that weigh something, and that were not rated everywhere."""
        return tuple(line.metric for line in self.lines if line.weight and line.score is None)

    def as_json(self) -> dict[str, Any]:
        return {
            "R": self.R,
            "R_pen": self.R_pen,
            "penalty": self.penalty,
            "unrated": list(self.unrated),
            "imported": self.imported,
            "weights_from": self.weights_from,
            "lines": [{**vars(line), "judges": dict(line.judges)} for line in self.lines],
        }


def ledger_of_run(row: Row, penalty: float, panel: Panel | None = None) -> Ledger | None:
    """Of the row of one run; None where it has no rating. Its panel says where its weights come from."""
    if row.R is None or row.R_pen is None:
        return None
    rated = sum(metric.weight for metric in row.metrics.values() if metric.mean is not None)
    lines = []
    for name, metric in row.metrics.items():
        share = metric.weight / rated if metric.mean is not None and rated else 0.0
        score = metric.mean if metric.mean is not None else 0.0
        lines.append(
            Line(
                name,
                metric.weight,
                share,
                share * score,
                share * (1 - score),
                metric.mean,
                share * (metric.variance or 0.0),
                metric.judges,
                metric.raw,
                metric.earned,
            )
        )
    own = panel if panel and not row.imported else None
    source, earned = (own.weights_from, earned_by(own)) if own else (None, None)
    return Ledger(row.R, row.R_pen, penalty, _ordered(lines), row.imported, source, earned)


def mean_of(ledgers: Sequence[Ledger]) -> Ledger:
    """Of ratings that are averaged: every line is the mean of theirs, so that lines still add up to R."""
    number = len(ledgers)
    names = dict.fromkeys(line.metric for ledger in ledgers for line in ledger.lines)
    lines = []
    for name in names:
        some = [line for ledger in ledgers for line in ledger.lines if line.metric == name]
        scores = [line.score for line in some if line.score is not None]
        judges = dict.fromkeys(judge for line in some for judge in line.judges)
        weight, share, points, lost = (
            sum(getattr(line, part) for line in some) / number for part in ("weight", "share", "points", "lost")
        )
        lines.append(
            Line(
                name,
                weight,
                share,
                points,
                lost,
                score=sum(scores) / len(scores) if scores else None,
                charge=sum(line.charge for line in some) / number,
                judges={judge: _mean([line.judges.get(judge) for line in some]) for judge in judges},
                raw=_mean([line.raw for line in some]),
                earned=_mean([line.earned for line in some]),
            )
        )
    R, R_pen = (sum(getattr(ledger, name) for ledger in ledgers) / number for name in ("R", "R_pen"))
    source, earned = (_only({getattr(ledger, name) for ledger in ledgers}) for name in ("weights_from", "earned"))
    return Ledger(R, R_pen, ledgers[0].penalty, _ordered(lines), ledgers[0].imported, source, earned)


def _only(values: set[str | None]) -> str | None:
    """The one that all have."""
    return values.pop() if len(values) == 1 else None


def _ordered(lines: Sequence[Line]) -> tuple[Line, ...]:
    return tuple(sorted(lines, key=lambda line: (-line.lost, -line.weight, line.metric)))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


# -- from the store


def of_run(project: Project, store: Store, cell: StoredCell, episode: int) -> Ledger | None:
    """Of one stored run, by the project's metrics, weights and judges as they are now."""
    panels, _ = panels_of(project, [cell], None, ())
    if not panels:
        return None
    board = collect(project, store, gather(store, [CellRef.of(cell)], panels, episode, episode), by_run=True)
    row = next((row for row in board.runs if row.episode == episode and row.R is not None), None)
    return ledger_of_run(row, rules_of(project).penalty, next(iter(panels.values()))) if row else None


def of_rows(
    project: Project, store: Store, agent: str, eval_: str | None
) -> dict[Contestant, tuple[Row, dict[str, Ledger]]]:
    """The rows of an agent as a report has them, with the ledger of each eval that is part of them."""
    known = identities(project, store.cells()).current
    everyone = of_store(
        project, store, lambda names: not names[0].startswith("control:") or names[0] == agent, (), None
    )
    runs = of_store(project, store, lambda names: names[0] == agent and names in known, (), None, by_run=True).runs
    found: dict[Contestant, tuple[Row, dict[str, Ledger]]] = {}
    rows = everyone.cells if eval_ else everyone.contestants
    for row in rows:
        if row.agent != agent or row.R is None or (eval_ is not None and row.eval != eval_):
            continue
        by_eval: dict[str, list[Ledger]] = {}
        for run in runs:
            counts = run.eval == eval_ if eval_ else everyone.common.counts(row.contestant, run.eval or "")
            if run.contestant != row.contestant or not counts:
                continue
            if ledger := ledger_of_run(run, everyone.rules.penalty, everyone.gathered.panels.get(run.eval or "")):
                by_eval.setdefault(run.eval or "", []).append(ledger)
        found[row.contestant] = row, {name: mean_of(some) for name, some in sorted(by_eval.items())}
    return found
