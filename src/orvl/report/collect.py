"""Reads the store and rates what it holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.cards import Tables, places, tables
from orvl.errors import FileError
from orvl.plan import Panel, panel_of
from orvl.report.alarms import alarms
from orvl.report.board import USAGE, Row, Rules, Scores, over_evals, rate_rows
from orvl.report.served import strangers
from orvl.report.text import count
from orvl.score import layout_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.plan import Plan
    from orvl.project import Project
    from orvl.store import Store
    from orvl.types import Eval, Layout

EVER = 1 << 60
Stacks = dict[int, tuple[Any, Any]]


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
    metric_weights: Sequence[float]
    judge_weights: Sequence[float]


@dataclass(frozen=True)
class Counts:
    """A cell's runs, those that finished or failed, and what these used."""

    runs: int
    carried_out: int = 0
    failed: int = 0
    bare: int = 0
    sandbox: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)


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


def of_plan(project: Project, plan: Plan, store: Store, first: int, last: int, *, planned: int | None) -> Board:
    """The ratings of what a plan asked for: its cells, these episodes; `planned` of each, or as many as there are."""
    ids = dict(store.rows("SELECT key, id FROM cell"))
    refs = [CellRef(ids.get(cell.key), cell.names, planned) for cell in plan.cells]
    scorings = {name: _scoring(panel) for name, panel in plan.panels.items()}
    return collect(store, refs, scorings, rules_of(project), first, last)


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
    newest: dict[tuple[str, str, str, str], int] = {}
    older = 0
    for number, *names in store.rows(
        "SELECT id, agent, model, provider, eval FROM cell WHERE id IN (SELECT cell FROM run)"
    ):
        key = (names[0], names[1], names[2], names[3])
        if keep(key):
            older += key in newest
            newest[key] = max(number, newest.get(key, 0))
    refs = [CellRef(number, names) for names, number in newest.items()]
    warnings = (
        [f"{older} cells have runs of an older agent, version or eval; only the newest are shown."] if older else []
    )
    scorings = {}
    for name in dict.fromkeys(ref.names[3] for ref in refs):
        try:
            scorings[name] = _scoring(panel_of(project, _eval(project, name), metrics, judges))
        except FileError as error:
            warnings.append(f"The runs of {name} are not rated: {error}")
    refs = [ref for ref in refs if ref.names[3] in scorings]
    board = collect(store, refs, scorings, rules_of(project), 1, EVER, by_run=by_run)
    board.warnings = warnings + board.warnings
    return board


def _eval(project: Project, name: str) -> Eval:
    if name not in project.eval_files:
        raise FileError(project.root / "evals", None, f"there is no eval '{name}' any more.")
    return project.eval(name)


def _scoring(panel: Panel) -> Scoring:
    weights = [judge.weight for judge in panel.judges] or [1.0]
    return Scoring(layout_of(panel.eval, panel.metrics, panel.judges), panel.weights, weights)


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
    for row, ref in zip(board.cells, refs, strict=True):
        _fill_counts(row, ref, counted)
    stacks, unscored = _stacks(store, refs, scorings, counted, first, last)
    if unscored:
        verb = "lacks" if unscored == 1 else "lack"
        sentence = f"{count(unscored, 'run')} {verb} scores of the present metrics and judges."
        board.warnings.append(f"{sentence} Make them with: orvl score")
    for name, scoring in scorings.items():
        here = [(row, ref.id) for row, ref in zip(board.cells, refs, strict=True) if ref.names[3] == name]
        rated = [(row, *stacks[number]) for row, number in here if number in stacks]
        if not rated:
            continue
        rows, attempts, parts = zip(*rated, strict=True)
        scores = Scores(scoring.layout, scoring.metric_weights, scoring.judge_weights, np.concatenate(parts))
        rate_rows(rows, [len(part) for part in parts], scores, rules)
        if by_run:
            runs = _run_rows(store, rows, attempts)
            rate_rows(runs, [1] * len(runs), scores, rules)
            board.runs += runs
    if by_run:
        board.runs += _errored_rows(store, refs)
    _add_trouble(board, store, scorings, stacks)
    wanted = {place for scoring in scorings.values() for place in places(scoring.layout)}
    board.warnings += alarms(store, {int(number) for numbers, _ in stacks.values() for number in numbers}, wanted)
    if bare := sum(counted[ref.id].bare for ref in refs if ref.id in counted):
        board.warnings.append(f"{count(bare, 'run')} had no sandbox: the agent could read and write what you can.")
    board.warnings += strangers(store, [ref.id for ref in refs], first, last)
    return board


def _counts(store: Store, first: int, last: int) -> dict[int, Counts]:
    """For each cell: its runs, and of those that were carried out, what was used."""
    sums = ", ".join(f"sum({name}), count({name})" for name in USAGE)
    used = store.rows(
        f"SELECT run.cell, count(*), sum(outcome = 'failed'), sum(sandbox = 'none'), group_concat(DISTINCT sandbox), "
        f"group_concat(DISTINCT cost_source), {sums} "
        "FROM attempt CROSS JOIN run ON run.id = attempt.run "
        "WHERE outcome <> 'errored' AND run.episode BETWEEN ? AND ? GROUP BY run.cell",
        (first, last),
    )
    runs = dict(store.rows("SELECT cell, count(*) FROM run WHERE episode BETWEEN ? AND ? GROUP BY cell", (first, last)))
    found = {cell: Counts(count) for cell, count in runs.items()}
    for cell, carried_out, failed, bare, sandbox, sources, *rest in used:
        totals = dict(zip(USAGE, zip(rest[::2], rest[1::2], strict=True), strict=True))
        usage = {name: total if count == carried_out else None for name, (total, count) in totals.items()}
        found[cell] = Counts(runs[cell], carried_out, failed, bare, sandbox, {**usage, "cost_source": sources})
    return found


def _fill_counts(row: Row, ref: CellRef, counted: dict[int, Counts]) -> None:
    counts = counted.get(ref.id or 0, Counts(0))
    row.planned = counts.runs if ref.planned is None else ref.planned
    row.failed, row.errored = counts.failed, counts.runs - counts.carried_out
    row.usage, row.sandbox = counts.usage, counts.sandbox


def _stacks(
    store: Store,
    refs: Sequence[CellRef],
    scorings: dict[str, Scoring],
    counted: dict[int, Counts],
    first: int,
    last: int,
) -> tuple[Stacks, int]:
    """For each cell, the attempts that are scored and their S, stacked; and how many are not scored."""
    only = None if first == 1 and last == EVER else _attempts_between(store, first, last)
    by_layout: dict[str, list[CellRef]] = {}
    for ref in refs:
        if ref.id in counted and counted[ref.id].carried_out:
            by_layout.setdefault(scorings[ref.names[3]].layout.key, []).append(ref)
    stacks: Stacks = {}
    unscored = 0
    for here in by_layout.values():
        layout = scorings[here[0].names[3]].layout
        carried_out = {ref.id: counted[ref.id].carried_out for ref in here if ref.id}
        found = tables(store, layout, carried_out, only)
        stacks.update(_stacked(found, layout))
        unscored += sum(carried_out.values()) - len(found.attempts) + len(found.incomplete)
    return stacks, unscored


def _attempts_between(store: Store, first: int, last: int) -> set[int]:
    query = "SELECT attempt.id FROM attempt JOIN run ON run.id = attempt.run WHERE run.episode BETWEEN ? AND ?"
    return {row[0] for row in store.rows(query, (first, last))}


def _stacked(found: Tables, layout: Layout) -> Stacks:
    if not found.attempts:
        return {}
    S = np.frombuffer(b"".join(found.cards), dtype="<f8").reshape(len(found.cards), *layout.shape)
    cells, attempts = np.asarray(found.cells), np.asarray(found.attempts)
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    return {int(cells[group[0]]): (attempts[group], S[group]) for group in np.split(order, starts[1:])}


def _run_rows(store: Store, cells: Sequence[Row], attempts: Sequence[Any]) -> list[Row]:
    """One row per run of these cells, in the order of their attempts."""
    rows = []
    for cell, numbers in zip(cells, attempts, strict=True):
        marks = ", ".join(str(int(number)) for number in numbers)
        found = store.rows(
            f"SELECT attempt.id, run.key, episode, outcome, reason, sandbox, cost_source, {', '.join(USAGE)} "
            f"FROM attempt JOIN run ON run.id = attempt.run WHERE attempt.id IN ({marks})"
        )
        by_attempt = {row[0]: row[1:] for row in found}
        for number in numbers:
            key, episode, outcome, reason, sandbox, source, *used = by_attempt[int(number)]
            usage = {**dict(zip(USAGE, used, strict=True)), "cost_source": source}
            names = (cell.agent, cell.model, cell.provider, cell.eval)
            row = Row(*names, planned=1, failed=int(outcome == "failed"), usage=usage, sandbox=sandbox)
            row.run, row.episode, row.outcome, row.reason = key, episode, outcome, reason
            rows.append(row)
    return rows


def _errored_rows(store: Store, refs: Sequence[CellRef]) -> list[Row]:
    """One row per run that was tried in vain, with the last reason."""
    names = {ref.id: ref.names for ref in refs}
    found = store.rows(
        "SELECT run.cell, run.key, run.episode, reason FROM run JOIN attempt ON attempt.id = "
        "(SELECT max(id) FROM attempt WHERE attempt.run = run.id) WHERE outcome = 'errored'"
    )
    return [
        Row(*names[cell], planned=1, errored=1, run=key, episode=episode, outcome="errored", reason=reason)
        for cell, key, episode, reason in found
        if cell in names
    ]


def _add_trouble(board: Board, store: Store, scorings: dict[str, Scoring], stacks: Stacks) -> None:
    """What could not be scored on these attempts, one sentence per metric and reason; by the newest samples."""
    metrics = [(name, metric) for row in board.cells for name, metric in row.metrics.items()]
    if not any(metric.unrated or metric.abstained for _, metric in metrics):
        return
    missing = {name for row in board.cells for name in row.missing}
    attempts = {int(number) for numbers, _ in stacks.values() for number in numbers}
    wanted = {place for scoring in scorings.values() for place in places(scoring.layout)}
    found: Counter[tuple[str, str, str, str]] = Counter()
    for attempt, metric, key, judge, judge_key, kind, reason in store.rows(
        "SELECT attempt, metric, metric_key, judge, judge_key, kind, reason FROM score s WHERE kind <> 'scored' "
        "AND NOT EXISTS (SELECT 1 FROM score n WHERE n.attempt = s.attempt AND n.metric_key = s.metric_key "
        "AND n.judge_key = s.judge_key AND n.sample > s.sample)"
    ):
        if attempt in attempts and (key, judge_key) in wanted:
            found[metric, judge, kind, reason or ""] += 1
            board.broken_metrics |= kind in ("error", "abstained") and metric in missing
    board.warnings += [_sentence(*row, number) for row, number in found.items()]
    for name in sorted(missing & {name for name, metric in metrics if metric.judges}):
        runs = sum(metric.unrated for other, metric in metrics if other == name)
        board.warnings.append(
            f"{name}: not rated on {count(runs, 'run')}: fewer judges answered than the quorum asks for."
        )


def _sentence(metric: str, judge: str, kind: str, reason: str, number: int) -> str:
    runs = count(number, "run")
    if kind == "abstained":
        return f"{metric}: the judge {judge} abstained on {runs}: {reason}."
    if judge and kind == "error":
        return f"{metric}: the judge {judge} failed on {runs}: {reason}"
    if judge:
        return f"{metric}: the judge {judge} gave no score on {runs}: {reason}."
    if kind == "error":
        return f"{metric}: not rated on {runs}: {reason}"
    return f"{metric}: not rated on {runs}: {reason}."
