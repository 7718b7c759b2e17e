"""Reads the store and rates what it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from orvl.errors import FileError
from orvl.plan.planning import panel_of
from orvl.project.names import count
from orvl.rate.alarms import alarms
from orvl.rate.board import USAGE, Row, Rules, Scores, over_evals, rate_rows
from orvl.rate.gather import CellRef, Gathered, gather
from orvl.rate.served import strangers
from orvl.store.protocol import ANY_EPISODE
from orvl.store.rows import CellCounts
from orvl.store.score_matrix import places
from orvl.trust.standing import Standing, standing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from orvl.plan.planning import Panel, Plan
    from orvl.project import Project
    from orvl.store import Store
    from orvl.store.rows import RunResult
    from orvl.types import Eval


@dataclass
class Board:
    """Ratings by cell, with what must be said beside them."""

    cells: list[Row]
    gathered: Gathered
    rules: Rules
    standing: Standing = field(default_factory=lambda: Standing("none"))
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


def of_plan(
    project: Project, plan: Plan, store: Store, first: int, last: int, *, planned: int | None, by_run: bool = False
) -> Board:
    """The ratings of what a plan asked for: its cells, these episodes; `planned` of each, or as many as there are."""
    ids = {cell.key: cell.id for cell in store.cells()}
    refs = [CellRef(ids.get(cell.key), cell.names, planned) for cell in plan.cells]
    return collect(project, store, gather(store, refs, plan.panels, first, last), by_run=by_run)


def of_store(
    project: Project,
    store: Store,
    keep: Callable[[tuple[str, str, str, str]], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
    *,
    by_run: bool = False,
) -> Board:
    """The ratings of all that a store holds; of each cell the newest identity. `keep` filters by names."""
    gathered, warnings = gather_all(project, store, keep, judges, metrics)
    board = collect(project, store, gathered, by_run=by_run)
    board.warnings = warnings + board.warnings
    return board


def gather_all(
    project: Project,
    store: Store,
    keep: Callable[[tuple[str, str, str, str]], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
) -> tuple[Gathered, list[str]]:
    """What a store holds of each cell's newest identity, and what must be said of the rest."""
    newest: dict[tuple[str, str, str, str], int] = {}
    older = 0
    for cell in store.cells():
        if cell.runs and keep(cell.names):
            older += cell.names in newest
            newest[cell.names] = cell.id
    refs = [CellRef(number, names) for names, number in newest.items()]
    warnings = (
        [f"{older} cells have runs of an older agent, version or eval; only the newest are shown."] if older else []
    )
    panels, unrated = panels_of(project, dict.fromkeys(ref.names[3] for ref in refs), metrics, judges)
    warnings += unrated
    refs = [ref for ref in refs if ref.names[3] in panels]
    return gather(store, refs, panels, 1, ANY_EPISODE), warnings


def panels_of(
    project: Project, names: Iterable[str], metrics: Mapping[str, bool] | None, judges: Sequence[str]
) -> tuple[dict[str, Panel], list[str]]:
    """How each eval's runs are scored now; what cannot be is a sentence."""
    panels, warnings = {}, []
    for name in names:
        try:
            panels[name] = panel_of(project, _eval(project, name), metrics, judges)
        except FileError as error:
            warnings.append(f"The runs of {name} are not rated: {error}")
    return panels, warnings


def _eval(project: Project, name: str) -> Eval:
    if name not in project.eval_files:
        raise FileError(project.root / "evals", None, f"there is no eval '{name}' any more.")
    return project.eval(name)


def collect(project: Project, store: Store, gathered: Gathered, *, by_run: bool = False) -> Board:
    """One row per cell, rated over the runs that are scored."""
    refs, scorings, stacks, rules = gathered.refs, gathered.scorings, gathered.stacks, rules_of(project)
    board = Board([Row(*ref.names) for ref in refs], gathered, rules)
    for row, ref in zip(board.cells, refs, strict=True):
        _fill_counts(row, ref, gathered.counted)
    if gathered.unscored:
        verb = "lacks" if gathered.unscored == 1 else "lack"
        sentence = f"{count(gathered.unscored, 'run')} {verb} scores of the present metrics and judges."
        board.warnings.append(f"{sentence} Make them with: orvl score")
    results = {run.attempt: run for run in store.run_results([ref.id for ref in refs if ref.id])} if by_run else {}
    for name, scoring in scorings.items():
        here = [(row, ref.id) for row, ref in zip(board.cells, refs, strict=True) if ref.names[3] == name]
        rated = [(row, number, *stacks[number]) for row, number in here if number in stacks]
        if not rated:
            continue
        rows, numbers, attempts, parts = zip(*rated, strict=True)
        scores = Scores(scoring.layout, scoring.metric_weights, scoring.judge_weights, np.concatenate(parts))
        sizes = [len(part) for part in parts]
        R = rate_rows(rows, sizes, scores, rules)
        gathered.ratings.update(zip(numbers, np.split(R, np.cumsum(sizes)[:-1]), strict=True))
        if by_run:
            runs = [
                _run_row(row, results[int(number)]) for row, some in zip(rows, attempts, strict=True) for number in some
            ]
            rate_rows(runs, [1] * len(runs), scores, rules)
            board.runs += runs
    if by_run:
        names = {ref.id: ref.names for ref in refs}
        board.runs += [_errored_row(names[run.cell], run) for run in results.values() if run.outcome == "errored"]
    _add_trouble(board, store, gathered)
    wanted = {place for scoring in scorings.values() for place in places(scoring.layout)}
    board.warnings += alarms(store, gathered.attempts(), wanted)
    if bare := sum(gathered.counted[ref.id].bare for ref in refs if ref.id in gathered.counted):
        board.warnings.append(f"{count(bare, 'run')} had no sandbox: the agent could read and write what you can.")
    board.warnings += strangers(store, [ref.id for ref in refs], gathered.first, gathered.last)
    board.standing = standing(project, store, gathered.panels.values())
    return board


def _fill_counts(row: Row, ref: CellRef, counted: dict[int, CellCounts]) -> None:
    counts = counted.get(ref.id or 0, CellCounts(0))
    row.planned = counts.runs if ref.planned is None else ref.planned
    row.failed, row.errored = counts.failed, counts.runs - counts.carried_out
    row.usage, row.sandbox = dict(counts.usage), counts.sandbox


def _run_row(cell: Row, run: RunResult) -> Row:
    usage = {name: getattr(run.usage, name) for name in (*USAGE, "cost_source")}
    return Row(
        *(cell.agent, cell.model, cell.provider, cell.eval),
        planned=1,
        failed=int(run.outcome == "failed"),
        usage=usage,
        sandbox=run.sandbox,
        run=run.key,
        episode=run.episode,
        outcome=run.outcome,
        reason=run.reason,
    )


def _errored_row(names: tuple[str, str, str, str], run: RunResult) -> Row:
    """Of a run that was tried in vain, with the last reason."""
    return Row(
        *names,
        planned=1,
        errored=1,
        run=run.key,
        episode=run.episode,
        outcome=run.outcome,
        reason=run.reason,
    )


def _add_trouble(board: Board, store: Store, gathered: Gathered) -> None:
    """What could not be scored on these attempts, one sentence per metric and reason; by the newest samples."""
    metrics = [(name, metric) for row in board.cells for name, metric in row.metrics.items()]
    if not any(metric.unrated or metric.abstained for _, metric in metrics):
        return
    missing = {name for row in board.cells for name in row.missing}
    attempts = gathered.attempts()
    wanted = {place for scoring in gathered.scorings.values() for place in places(scoring.layout)}
    found: Counter[tuple[str, str, str, str]] = Counter()
    for score in store.unscored():
        if score.attempt in attempts and (score.metric_key, score.judge_key) in wanted:
            found[score.metric, score.judge, score.kind, score.reason or ""] += 1
            board.broken_metrics |= score.kind in ("error", "abstained") and score.metric in missing
    board.warnings += [_sentence(*row, number) for row, number in found.items()]
    for name in sorted(missing & {name for name, metric in metrics if metric.judges}):
        runs = sum(metric.unrated for other, metric in metrics if other == name)
        board.warnings.append(
            f"{name}: not rated on {count(runs, 'run')}: fewer judges answered than the quorum asks for."
        )


def _sentence(metric: str, judge: str, kind: str, reason: str, number: int) -> str:
    runs, reason = count(number, "run"), reason if kind == "error" else reason.rstrip(".")
    if kind == "abstained":
        return f"{metric}: the judge {judge} abstained on {runs}: {reason}."
    if judge and kind == "error":
        return f"{metric}: the judge {judge} failed on {runs}: {reason}"
    if judge:
        return f"{metric}: the judge {judge} gave no score on {runs}: {reason}."
    if kind == "error":
        return f"{metric}: not rated on {runs}: {reason}"
    return f"{metric}: not rated on {runs}: {reason}."
