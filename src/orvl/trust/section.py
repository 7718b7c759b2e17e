"""How far ratings can be trusted: who leads beyond chance, what judges agree on, and what the next dollar buys."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from orvl.errors import OrvlError
from orvl.rate.board import Groups, Scores, masked
from orvl.rate.numbers import counting_judges, numbers_of
from orvl.rate.rating import by_judge
from orvl.rate.stats.agreement import leave_one_out, panel_agreement
from orvl.rate.stats.calibration import calibrated_rating
from orvl.rate.stats.components import Prices, next_steps, variance_components
from orvl.rate.stats.families import family_of, without_own_family
from orvl.rate.stats.merit import merit
from orvl.rate.stats.paired import winner_set
from orvl.trust.calibration import maps_for
from orvl.trust.control_agents import is_control

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.gather import CellRef, Gathered
    from orvl.rate.numbers import Contestant, Numbers
    from orvl.rate.stats.agreement import PanelAgreement
    from orvl.rate.stats.calibration import JudgeMap
    from orvl.rate.stats.components import Components, NextSteps
    from orvl.rate.stats.merit import Merit
    from orvl.rate.stats.paired import Winners
    from orvl.store import Store
    from orvl.trust.people import People
    from orvl.types import Judge

MOST_RUNS = 5_000
"""Agreement over more, drawn at random, says nothing more, and takes longer than the report."""


@dataclass
class Trust:
    """What stands beside the ratings of contestants."""

    ranking: Winners | None = None
    """Only under a certificate."""
    ranked: list[Contestant] = field(default_factory=list)
    """Whom the ranking is of: all but controls."""
    components: Components | None = None
    steps: NextSteps | None = None
    merit: Merit | None = None
    agreement: dict[str, PanelAgreement] = field(default_factory=dict)
    """By metric; '' is the mean over judged metrics, by each judge alone."""
    judges: tuple[str, ...] = ()
    """Those whose word counts."""
    people: People | None = None


def trust(project: Project, store: Store, board: Board, rows: Sequence[Row]) -> Trust:
    """Fills rows of contestants with what goes beside R, and says what holds of all of them."""
    gathered = board.gathered
    numbers = numbers_of(gathered, board.rules)
    found = Trust(judges=tuple(numbers.judges))
    by_name = {(row.agent, row.model, row.provider): row for row in rows}
    _fill(store, board, by_name)
    _fill_floors(by_name, numbers)
    free = [i for i, names in enumerate(numbers.contestants) if not _is_control(project, names[0])]
    found.ranked = [numbers.contestants[i] for i in free]
    if len(free) > 1:
        per_eval = numbers.per_eval[free]
        found.merit = merit(found.ranked, per_eval)
        if board.standing.may_rank:
            found.ranking = winner_set(per_eval)
            for place, names in enumerate(found.ranked):
                by_name[names].rank = None if place in found.ranking.untested else found.ranking.ranks[place]
    if free:
        _next_dollar(found, numbers, free, store, [by_name[names] for names in found.ranked])
    if len(found.judges) > 1:
        found.agreement = _agreement(gathered)
    return found


def _is_control(project: Project, agent: str) -> bool:
    if is_control(agent):
        return True
    try:
        return agent in project.agent_files and project.agent(agent).control is not None
    except OrvlError:
        return False


def _fill_floors(rows: dict[Contestant, Row], numbers: Numbers) -> None:
    """The empty control's rating on the evals of each contestant."""
    empty = next((i for i, names in enumerate(numbers.contestants) if names[0] == "empty"), None)
    if empty is None:
        return
    per_eval = numbers.per_eval
    for i, names in enumerate(numbers.contestants):
        both = ~np.isnan(per_eval[i]) & ~np.isnan(per_eval[empty])
        if both.any() and (both == ~np.isnan(per_eval[i])).all():
            rows[names].floor = float(per_eval[empty][both].mean())


def _next_dollar(found: Trust, numbers: Numbers, free: Sequence[int], store: Store, rows: Sequence[Row]) -> None:
    has_judges = bool(found.judges)
    table = numbers.by_judge[free] if has_judges else numbers.R[free][..., None]
    found.components = variance_components(table)
    if found.components is not None:
        c = found.components
        episodes = max(1, round(c.episodes))
        prices = Prices(_price_of_run(rows), _price_of_verdict(store) if has_judges else 0.0)
        found.steps = next_steps(c, c.evals, c.judges, episodes, prices, contestants=len(free))
    if found.components is not None and found.steps is not None and not has_judges:
        # Where programs rate alone, nothing can be said of a judge.
        notes = tuple(note for note in found.components.notes if not note.startswith("One judge"))
        found.components = replace(found.components, judges=0, notes=notes)
        found.steps = replace(found.steps, steps=tuple(step for step in found.steps.steps if step.more != "judge"))


def _price_of_run(rows: Sequence[Row]) -> float | None:
    """The mean over contestants; unknown where one is."""
    costs = [(row.usage.get("cost_usd"), row.planned - row.errored) for row in rows if row.rated]
    if not costs or any(cost is None or not runs for cost, runs in costs):
        return None
    return sum((cost or 0.0) / runs for cost, runs in costs) / len(costs)


def _price_of_verdict(store: Store) -> float | None:
    """What a judge's look at a run has cost, over all its metrics; unknown where that was not told."""
    costs = store.verdict_costs()
    if not costs.verdicts:
        return None
    if not costs.priced:
        return None if costs.asked_models else 0.0
    return costs.total / costs.looks if costs.priced == costs.verdicts else None


def _name_the_uncalibrated(board: Board, judges: Sequence[Judge], maps: Sequence[JudgeMap | None] | None) -> None:
    for judge, one in zip(judges, maps or (), strict=False):
        if judge.weight and (one is None or one.refused):
            board.warnings.append(
                f"The judge {judge.name} is not calibrated: in the calibrated rating its scores stand as they are."
            )


def _fill(store: Store, board: Board, rows: dict[Contestant, Row]) -> None:
    """The calibrated rating, R with one judge less, and R without judges of the own family: means over evals."""
    gathered = board.gathered
    first = next(iter(gathered.panels.values()), None)
    if first is None or not any(judge.weight for judge in first.judges):
        return
    maps = maps_for(store, first.judges)
    _name_the_uncalibrated(board, first.judges, maps)
    families = [family_of(judge.model) for judge in first.judges]
    by_eval: dict[str, list[CellRef]] = {}
    for ref in gathered.refs:
        if ref.id in gathered.stacks and not np.isnan(gathered.ratings[ref.id]).all():
            by_eval.setdefault(ref.names[3], []).append(ref)
    kept: dict[Contestant, list[NDArray[np.float64]]] = {}
    for name, refs in by_eval.items():
        for ref, values in zip(refs, _beside(name, refs, board, families, maps), strict=True):
            kept.setdefault((ref.names[0], ref.names[1], ref.names[2]), []).append(values)
    for names, some in kept.items():
        # What is not known on every eval would be the mean over other evals than R's.
        *less, other, calibrated = np.mean(some, axis=0)
        known = [value for value, judge in zip(less, first.judges, strict=True) if judge.weight and not np.isnan(value)]
        if known:
            rows[names].one_judge_less = float(min(known)), float(max(known))
        rows[names].other_families = None if np.isnan(other) else float(other)
        rows[names].calibrated = None if np.isnan(calibrated) else float(calibrated)


def _beside(
    name: str,
    refs: Sequence[CellRef],
    board: Board,
    families: Sequence[str | None],
    maps: Sequence[JudgeMap | None] | None,
) -> NDArray[np.float64]:
    """Of the cells of one eval: R without each judge in turn, R by other families, and the calibrated R."""
    scoring = board.gathered.scorings[name]
    w, v = scoring.judge_weights, scoring.metric_weights
    stacks = [board.gathered.stacks[ref.id or 0][1] for ref in refs]
    # Where nobody abstained, R of the mean is the mean of R, at a fraction of the work.
    parts = [S if np.isnan(S).any() else S.mean(axis=0, keepdims=True).clip(0, 1) for S in stacks]
    S = masked(Scores(scoring.layout, v, w, np.concatenate(parts)), board.rules.quorum)
    group = Groups([len(part) for part in parts])
    less = [group.mean(R)[0] for R in leave_one_out(S, w, v).R]
    kin = [family for ref, part in zip(refs, parts, strict=True) for family in [family_of(ref.names[1])] * len(part)]
    own = without_own_family(S, w, v, kin, families)
    other = np.where(group.sum(own.left_out) > 0, group.mean(own.R)[0], np.nan)
    calibrated = np.full(len(refs), np.nan)
    if maps is not None:
        every = masked(Scores(scoring.layout, v, w, np.concatenate(stacks)), board.rules.quorum)
        R = calibrated_rating(every, maps, w, v, judged=scoring.layout.judged)
        calibrated = Groups([len(stack) for stack in stacks]).mean(R)[0]
    return np.array([*less, other, calibrated]).T


def _agreement(gathered: Gathered) -> dict[str, PanelAgreement]:
    """Of each judged metric that counts, and of the judges' means over these."""
    judges = list(counting_judges(gathered))
    tables: dict[str, list[NDArray[np.float64]]] = {}
    for name, S in _drawn(gathered).items():
        scoring = gathered.scorings[name]
        v = np.where(scoring.layout.judged, scoring.metric_weights, 0.0)
        for j in np.flatnonzero(v):
            tables.setdefault(scoring.layout.metrics[j][0], []).append(S[:, judges, j])
        if v.any():
            tables.setdefault("", []).append(by_judge(S[:, judges], v))
    return {name: _agreement_of(np.concatenate(parts)) for name, parts in tables.items()}


def _drawn(gathered: Gathered) -> dict[str, NDArray[np.float64]]:
    """S of all runs by eval, or of so many as agreement needs."""
    by_eval: dict[str, list[NDArray[np.float64]]] = {}
    share = MOST_RUNS / max(sum(len(S) for _, S in gathered.stacks.values()), 1)
    random = np.random.default_rng(1)
    for ref in gathered.refs:
        if ref.id in gathered.stacks:
            S = gathered.stacks[ref.id][1]
            by_eval.setdefault(ref.names[3], []).append(S if share >= 1 else S[random.random(len(S)) < share])
    return {name: np.concatenate(parts) for name, parts in by_eval.items()}


def _agreement_of(table: NDArray[np.float64]) -> PanelAgreement:
    return panel_agreement(table[~np.isnan(table).all(axis=1)])
