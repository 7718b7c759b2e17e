"""Reads the store and rates what it holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.plan import Panel, panel_of
from orvl.report.board import USAGE, CellScores, Row, Rules, over_evals, rate_cell
from orvl.score import layout_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.plan import Plan
    from orvl.project import Project
    from orvl.store import Store
    from orvl.types import Layout

EVER = 1 << 60


@dataclass(frozen=True)
class CellRef:
    """A cell in the store, and how many of its runs were asked for (None: as many as there are)."""

    id: int | None
    names: tuple[str, str, str, str]
    planned: int | None = None


@dataclass
class Scoring:
    """The layout and weights under which an eval's runs are rated."""

    layout: Layout
    layout_id: int | None
    metric_weights: Sequence[float]
    judge_weights: Sequence[float]


@dataclass
class Board:
    """Ratings by cell, with what must be said beside them."""

    cells: list[Row]
    runs: list[Row] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    broken_metrics: bool = False
    """Whether a metric that counts could not be rated because of an error, or because its judges abstained."""

    @property
    def contestants(self) -> list[Row]:
        return over_evals(self.cells)


def rules_of(project: Project) -> Rules:
    settings = project.settings
    return Rules(settings.penalty, settings.variance, settings.quorum)


def of_plan(project: Project, plan: Plan, store: Store, first: int, last: int, *, by_run: bool = False) -> Board:
    """The ratings of what a plan asked for: its cells, these episodes."""
    ids = dict(store.rows("SELECT key, id FROM cell"))
    refs = [CellRef(ids.get(cell.key), cell.names, last - first + 1) for cell in plan.cells]
    scorings = {name: _scoring(panel, store) for name, panel in plan.panels.items()}
    return collect(store, refs, scorings, rules_of(project), first, last, by_run=by_run)


def of_store(project: Project, store: Store, keep: Any, judges: Sequence[str], *, by_run: bool = False) -> Board:
    """The ratings of all that a store holds; of each cell the newest identity. `keep` filters by names."""
    newest: dict[tuple[str, str, str, str], int] = {}
    older = 0
    for row in store.rows(
        "SELECT cell.id, agent, model, provider, eval FROM cell JOIN run ON run.cell = cell.id GROUP BY cell.id"
    ):
        names = (row[1], row[2], row[3], row[4])
        if not keep(names):
            continue
        older += names in newest
        newest[names] = max(row[0], newest.get(names, 0))
    refs = [CellRef(number, names) for names, number in newest.items()]
    scorings = {}
    warnings = (
        [f"{older} cells have runs of an older agent, version or eval; only the newest are shown."] if older else []
    )
    for name in dict.fromkeys(ref.names[3] for ref in refs):
        if name in project.eval_files:
            scorings[name] = _scoring(panel_of(project, project.eval(name), None, judges), store)
        else:
            warnings.append(f"The eval {name} is not in this project any more; its runs are not rated.")
    refs = [ref for ref in refs if ref.names[3] in scorings]
    board = collect(store, refs, scorings, rules_of(project), 1, EVER, by_run=by_run)
    board.warnings = warnings + board.warnings
    return board


def _scoring(panel: Panel, store: Store) -> Scoring:
    layout = layout_of(panel.eval, panel.metrics, panel.judges)
    weights = [judge.weight for judge in panel.judges] or [1.0]
    return Scoring(layout, store.layout_id(layout), panel.weights, weights)


def collect(
    store: Store,
    refs: Sequence[CellRef],
    scorings: dict[str, Scoring],
    rules: Rules,
    first: int,
    last: int,
    *,
    by_run: bool = False,
) -> Board:
    """One row per cell, rated over the runs that are scored."""
    board = Board([Row(*ref.names) for ref in refs])
    counted = _counts(store, first, last)
    tables = {name: _tables(store, scoring, first, last) for name, scoring in scorings.items()}
    for row, ref in zip(board.cells, refs, strict=True):
        _fill_counts(row, ref, counted)
        scoring = scorings[ref.names[3]]
        attempts, S = tables[ref.names[3]].get(ref.id or 0, (None, None))
        if S is None:
            continue
        scores = CellScores(scoring.layout, scoring.metric_weights, scoring.judge_weights, S)
        rate_cell(row, scores, rules)
        if by_run:
            board.runs += _run_rows(store, row, attempts, scores, rules)
    _add_trouble(board, store, [ref.id for ref in refs], scorings)
    return board


def _counts(store: Store, first: int, last: int) -> dict[int, tuple[Any, ...]]:
    """For each cell: runs, failed, errored, and what was used."""
    sums = ", ".join(f"sum(a.{name}), count(a.{name})" for name in USAGE)
    rows = store.rows(
        f"SELECT run.cell, count(*), sum(a.outcome = 'failed'), sum(a.id IS NULL), count(a.id), "
        f"group_concat(DISTINCT a.cost_source), {sums} FROM run "
        "LEFT JOIN attempt a ON a.run = run.id AND a.outcome <> 'errored' "
        "WHERE run.episode BETWEEN ? AND ? GROUP BY run.cell",
        (first, last),
    )
    return {row[0]: row[1:] for row in rows}


def _fill_counts(row: Row, ref: CellRef, counted: dict[int, tuple[Any, ...]]) -> None:
    runs, failed, errored, carried_out, sources, *sums = counted.get(
        ref.id or 0, (0, 0, 0, 0, None, *(None, 0) * len(USAGE))
    )
    row.planned = runs if ref.planned is None else ref.planned
    row.failed, row.errored = failed or 0, errored or 0
    if carried_out:
        totals = dict(zip(USAGE, zip(sums[::2], sums[1::2], strict=True), strict=True))
        row.usage = {name: total if count == carried_out else None for name, (total, count) in totals.items()}
        row.usage["cost_source"] = sources


def _tables(store: Store, scoring: Scoring, first: int, last: int) -> dict[int, tuple[Any, Any]]:
    """For each cell, the attempts that are scored and their S, stacked."""
    if scoring.layout_id is None:
        return {}
    if first == 1 and last == EVER:
        rows = store.cards(scoring.layout_id)
    else:
        rows = store.rows(
            "SELECT card.attempt, card.cell, S FROM card JOIN attempt ON attempt.id = card.attempt "
            "JOIN run ON run.id = attempt.run WHERE layout = ? AND run.episode BETWEEN ? AND ?",
            (scoring.layout_id, first, last),
        )
    if not rows:
        return {}
    attempts, cells, cards = zip(*rows, strict=True)
    S = np.frombuffer(b"".join(cards), dtype="<f8").reshape(len(rows), *scoring.layout.shape)
    of_cell = np.asarray(cells)
    numbers = np.asarray(attempts)
    order = np.argsort(of_cell, kind="stable")
    starts = np.flatnonzero(np.diff(of_cell[order], prepend=-1))
    groups = np.split(order, starts[1:])
    return {int(of_cell[group[0]]): (numbers[group], S[group]) for group in groups}


def _run_rows(store: Store, cell: Row, attempts: Any, scores: CellScores, rules: Rules) -> Iterable[Row]:
    """One row per run of a cell."""
    found = store.rows(
        f"SELECT attempt.id, run.key, outcome, cost_source, {', '.join(USAGE)} FROM run "
        "JOIN attempt ON attempt.run = run.id WHERE run.cell = (SELECT cell FROM card WHERE attempt = ? LIMIT 1)",
        (int(attempts[0]),),
    )
    by_attempt = {row[0]: row[1:] for row in found}
    for i, attempt in enumerate(attempts):
        key, outcome, source, *used = by_attempt[int(attempt)]
        row = Row(cell.agent, cell.model, cell.provider, cell.eval, planned=1, run=key, failed=int(outcome == "failed"))
        rate_cell(row, replace(scores, S=scores.S[i : i + 1]), rules)
        row.usage = {**dict(zip(USAGE, used, strict=True)), "cost_source": source}
        yield row


def _add_trouble(board: Board, store: Store, ids: Sequence[int | None], scorings: dict[str, Scoring]) -> None:
    """What could not be scored, one sentence per metric and reason."""
    if not any(metric.unrated or metric.abstained for row in board.cells for metric in row.metrics.values()):
        return
    missing = {name for row in board.cells for name in row.missing}
    keys = {key for scoring in scorings.values() for _, key in scoring.layout.metrics}
    cells = {number for number in ids if number is not None}
    found: dict[tuple[str, str, str, str], int] = {}
    for cell, metric, key, judge, kind, reason in store.rows(
        "SELECT run.cell, metric, metric_key, judge, kind, score.reason FROM score "
        "JOIN attempt ON attempt.id = score.attempt JOIN run ON run.id = attempt.run WHERE kind <> 'scored'"
    ):
        if cell in cells and key in keys:
            found[metric, judge, kind, reason or ""] = found.get((metric, judge, kind, reason or ""), 0) + 1
            board.broken_metrics |= kind in ("error", "abstained") and metric in missing
    board.warnings += [_sentence(*row, count) for row, count in found.items()]


def _sentence(metric: str, judge: str, kind: str, reason: str, count: int) -> str:
    runs = "1 run" if count == 1 else f"{count} runs"
    if kind == "abstained":
        return f"{metric}: the judge {judge} abstained on {runs}: {reason}."
    if kind == "error":
        return f"{metric}: not rated on {runs}: {reason}"
    return f"{metric}: not rated on {runs}: {reason}."
