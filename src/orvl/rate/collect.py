"""Reads the store and rates what it holds."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.errors import FileError
from orvl.plan.identities import identities
from orvl.plan.imported import imported_panel, panel_name
from orvl.plan.layout import panel_of
from orvl.plan.private import WITHHELD
from orvl.plan.weights import weight_notes
from orvl.rate.board import NOT_CERTIFIED, USAGE, Row, Rules, Standing, over_evals, rate_groups, why_errored
from orvl.rate.common import Common, common_evals, control_agents
from orvl.rate.gather import CellRef, Gathered, families_of, fingerprint, gather
from orvl.rate.stats.race import FEWEST
from orvl.rate.warnings import told_shares, warnings_of
from orvl.store.protocol import ANY_EPISODE
from orvl.store.rows import CellCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.plan.layout import Panel
    from orvl.plan.planning import Plan
    from orvl.project import Project
    from orvl.rate.board import GroupRating
    from orvl.store import Store, StoredCell
    from orvl.store.rows import RunResult
    from orvl.types import Eval


@dataclass(frozen=True)
class Board:
    """Ratings by cell, with what must be said beside them."""

    cells: tuple[Row, ...]
    gathered: Gathered
    rules: Rules
    ratings: Mapping[int, NDArray[np.float64]] = field(default_factory=dict)
    """R of the runs of each cell that has any."""
    runs: tuple[Row, ...] = ()
    warnings: tuple[str, ...] = ()
    broken_metrics: bool = False
    """Whether a metric that counts could not be rated because of an error, or because its judges abstained."""
    standing: Standing = NOT_CERTIFIED
    """Whoever shows a board says how its judges stand to a certificate: `trust.standing.with_standing`."""

    vetted: Mapping[str, bool | None] = field(default_factory=dict)
    """By eval, whether it has passed the gate; None where nobody has tried."""
    told: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By metric and judge, the share of the checklist's items that the judge told."""
    controls: frozenset[str] = frozenset()
    """Agents that write fixed files: they are not ranked, and do not decide which evals rows have in common."""

    @property
    def contestants(self) -> list[Row]:
        return over_evals(self.cells, self.common, partial(families_of, self.gathered.panels))

    @cached_property
    def common(self) -> Common:
        """What rows of contestants are rated over."""
        return common_evals(self.cells, self.controls)

    @property
    def shared(self) -> Board:
        """The same without what is no part of ranked rows' ratings: what comparisons of rows are made from."""
        common = self.common
        if common.evals is None:
            return self
        # Rows from elsewhere that share too little for any test stay, and are listed as not tested.
        tested = {names for names in common.elsewhere if len(common.own[names] & common.evals) >= FEWEST}
        refs = [ref for ref in self.gathered.refs if ref.names[3] in common.evals]
        kept = tuple(ref for ref in refs if ref.names[:3] not in tested)
        return replace(self, gathered=replace(self.gathered, refs=kept))

    @property
    def isolation(self) -> dict[str, dict[str, int]]:
        """By eval, how many of its checks run apart from the agent's work, and how many beside it."""
        return {one.name: dict(Counter(map(one.isolation_of, one.checks))) for one in self._evals if one.checks}

    @property
    def imported_evals(self) -> dict[str, str]:
        """The evals that were tasks of other tools, and of which."""
        return {one.name: one.imported.get("from", "another tool") for one in self._evals if one.imported}

    @property
    def _evals(self) -> list[Eval]:
        names = sorted({row.eval for row in self.cells if row.eval} & set(self.gathered.panels))
        return [self.gathered.panels[name].eval for name in names]

    def with_warnings(self, *first: str) -> Board:
        """The same, where other things are to be said first."""
        return replace(self, warnings=(*first, *self.warnings))


def rules_of(project: Project) -> Rules:
    settings = project.settings
    return Rules(settings.penalty, settings.variance, settings.quorum)


def of_plan(
    project: Project, plan: Plan, store: Store, first: int, last: int, *, planned: int | None, by_run: bool = False
) -> Board:
    """The ratings of what a plan asked for: its cells, these episodes; `planned` of each, or as many as there are."""
    stored = {cell.key: cell for cell in store.cells()}
    known = [stored.get(cell.key) for cell in plan.cells]
    refs = [
        CellRef(one.id if one else None, cell.names, planned, cell.eval.name)
        for cell, one in zip(plan.cells, known, strict=True)
    ]
    board = collect(project, store, gather(store, refs, plan.panels, first, last), by_run=by_run)
    if planned is None or not any(one and (one.last_episode > last or first > 1) for one in known):
        return board
    episodes = f"episode {first}" if first == last else f"episodes {first} to {last}"
    return board.with_warnings(f"These ratings are of {episodes}; there are more of these cells. All: orvl report")


def of_store(
    project: Project,
    store: Store,
    keep: Callable[[tuple[str, str, str, str]], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
    *,
    by_run: bool = False,
) -> Board:
    """The ratings of all that a store holds, of the files as they are now. `keep` filters by names."""
    gathered, warnings = gather_all(project, store, keep, judges, metrics)
    return collect(project, store, gathered, by_run=by_run).with_warnings(*warnings)


def gather_all(
    project: Project,
    store: Store,
    keep: Callable[[tuple[str, str, str, str]], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
) -> tuple[Gathered, list[str]]:
    """What a store holds of the files as they are now, and what must be said of the rest."""
    known = identities(project, store.cells())
    cells = sorted((cell for names, cell in known.current.items() if keep(names)), key=lambda cell: cell.id)
    warnings = known.sentences(keep)
    panels, unrated = panels_of(project, cells, metrics, judges)
    warnings += unrated
    if metrics is None:
        warnings += weight_notes(project, panels)
    refs = [ref for ref in map(CellRef.of, cells) if ref.panel in panels]
    return gather(store, refs, panels, 1, ANY_EPISODE), warnings


def panels_of(
    project: Project, cells: Iterable[StoredCell], metrics: Mapping[str, bool] | None, judges: Sequence[str]
) -> tuple[dict[str, Panel], list[str]]:
    """How the runs of these cells are scored now; what cannot be is a sentence."""
    panels, warnings = {}, []
    own = metrics and {name: is_named for name, is_named in metrics.items() if name in project.metric_files}
    for name, cell in {panel_name(cell): cell for cell in cells}.items():
        try:
            if cell.imported:
                panels[name] = imported_panel(project, cell, metrics)
            elif own or metrics is None:
                panels[name] = panel_of(project, _eval(project, name), own, judges)
        except FileError as error:
            warnings.append(f"The runs of {cell.eval} are not rated: {error}")
    return panels, warnings


def _eval(project: Project, name: str) -> Eval:
    if name not in project.eval_files:
        raise FileError(project.root / "evals", None, f"there is no eval '{name}' any more.")
    return project.eval(name)


def collect(project: Project, store: Store, gathered: Gathered, *, by_run: bool = False) -> Board:
    """One row per cell, rated over the runs that are scored."""
    rules = rules_of(project)
    ratings: dict[int, GroupRating] = {}
    R: dict[int, NDArray[np.float64]] = {}
    of_runs: dict[int, GroupRating] = {}
    for name, cells in gathered.cells_by_panel().items():
        stacks = [gathered.stacks[cell] for cell in cells]
        scores, sizes = gathered.scorings[name].scores(stacks), [len(stack.S) for stack in stacks]
        groups, every = rate_groups(sizes, scores, rules)
        ratings.update(zip(cells, groups, strict=True))
        R.update(zip(cells, np.split(every, np.cumsum(sizes)[:-1]), strict=True))
        if by_run:
            attempts = np.concatenate([stack.attempts for stack in stacks]).tolist()
            of_runs.update(zip(attempts, rate_groups([1] * len(attempts), scores, rules)[0], strict=True))
    errors = _errors(store, gathered)
    made_by = {name: fingerprint(panel, gathered.scorings[name]) for name, panel in gathered.panels.items()}
    cell_rows = tuple(
        replace(_cell_row(ref, gathered.counted, ratings, errors), scoring=made_by[ref.panel]) for ref in gathered.refs
    )
    told = told_shares(store, gathered)
    warnings, is_broken = warnings_of(store, gathered, cell_rows, told)
    runs = _run_rows(store, gathered, of_runs) if by_run else ()
    controls = control_agents(project, (ref.names[0] for ref in gathered.refs))
    return Board(cell_rows, gathered, rules, R, runs, tuple(warnings), is_broken, controls=controls, told=told)


def _errors(store: Store, gathered: Gathered) -> dict[int, Counter[str]]:
    """Why runs are errored, by cell. Numbers in a reason, such as a process's, do not make it another."""
    counts = {ref.id: gathered.counted[ref.id] for ref in gathered.refs if ref.id and ref.id in gathered.counted}
    cells = [cell for cell, one in counts.items() if one.runs > one.carried_out]
    shown: dict[str, str] = {}
    errors: dict[int, Counter[str]] = {cell: Counter() for cell in cells}
    private = gathered.private
    for run in store.errored_runs(cells) if cells else ():
        if gathered.first <= run.episode <= gathered.last:
            reason = WITHHELD if run.cell in private else run.reason or "no reason is known"
            errors[run.cell][shown.setdefault(re.sub(r"\d+", "0", reason), reason)] += 1
    return errors


def _cell_row(
    ref: CellRef,
    counted: Mapping[int, CellCounts],
    ratings: Mapping[int, GroupRating],
    errors: Mapping[int, Mapping[str, int]],
) -> Row:
    counts = counted.get(ref.id or 0, CellCounts(0))
    row = Row(
        *ref.names,
        **_rated(ratings.get(ref.id or 0)),
        planned=counts.runs if ref.planned is None else ref.planned,
        failed=counts.failed,
        errored=counts.runs - counts.carried_out,
        carried_out=counts.carried_out,
        usage=counts.usage,
        sandbox=counts.sandbox,
        imported=ref.imported,
    )
    return replace(row, **why_errored(errors.get(ref.id or 0, {})))


def _rated(rating: GroupRating | None) -> dict[str, Any]:
    """A rating as the fields of a row."""
    return vars(rating) if rating else {}


def _run_rows(store: Store, gathered: Gathered, ratings: Mapping[int, GroupRating]) -> tuple[Row, ...]:
    """One row per rated run, by eval and cell; then the runs that were tried in vain, with the last reason."""
    of_cell = {ref.id: ref for ref in gathered.refs}
    results = {run.attempt: run for run in store.run_results([ref.id for ref in gathered.refs if ref.id])}
    rated = (run_row(of_cell[results[attempt].cell], results[attempt], rating) for attempt, rating in ratings.items())
    errored = (run_row(of_cell[run.cell], run, None) for run in results.values() if run.outcome == "errored")
    private = {of_cell[cell].names for cell in gathered.private}
    return tuple(
        replace(row, reason=WITHHELD) if row.reason and (*row.contestant, row.eval) in private else row
        for row in (*rated, *errored)
    )


def run_row(ref: CellRef, run: RunResult, rating: GroupRating | None) -> Row:
    usage = {name: getattr(run.usage, name) for name in (*USAGE, "cost_source", "is_bound")}
    is_errored = run.outcome == "errored"
    return Row(
        *ref.names,
        **_rated(rating),
        planned=1,
        failed=int(run.outcome == "failed"),
        errored=int(is_errored),
        usage={} if is_errored else usage,
        sandbox=None if is_errored else run.sandbox,
        run=run.key,
        episode=run.episode,
        outcome=run.outcome,
        reason=run.reason,
        imported=ref.imported,
    )
