"""How far ratings can be trusted: who leads beyond chance, what judges agree on, and what the next dollar buys."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.errors import OrvlError
from orvl.rate.board import Groups, Scores, masked
from orvl.rate.frontier import frontier
from orvl.rate.numbers import counting_judges, numbers_of
from orvl.rate.rating import by_judge
from orvl.rate.stats.agreement import leave_one_out, panel_agreement
from orvl.rate.stats.betting import confidence_sequence
from orvl.rate.stats.calibration import calibrated_rating
from orvl.rate.stats.components import Prices, next_steps, variance_components
from orvl.rate.stats.families import family_of, without_own_family
from orvl.rate.stats.merit import merit
from orvl.rate.stats.paired import winner_set
from orvl.trust.calibration import maps_for
from orvl.trust.control_agents import is_control
from orvl.trust.programs_rank import by_programs
from orvl.types import IMPORTED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.plan.layout import Panel
    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.frontier import Spot
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

MOST_RIVALS = 12
MOST_RUNS = 5_000
"""Agreement over more, drawn at random, says nothing more, and takes longer than the report."""


@dataclass(frozen=True)
class Trust:
    """What stands beside the ratings of contestants."""

    judges: tuple[str, ...]
    """Those whose word counts."""
    ranked: list[Contestant]
    """Whom the ranking is of: all but controls, and imported results where there are others."""
    ranking: Winners | None = None
    """By R under a certificate alone; else by what programs measured, where they can rank."""
    components: Components | None = None
    steps: NextSteps | None = None
    merit: Merit | None = None
    agreement: Mapping[str, PanelAgreement] = field(default_factory=dict)
    """By metric; '' is the mean over judged metrics, by each judge alone."""
    people: People | None = None
    frontier: Sequence[Spot] = ()
    """Cost against quality."""
    vetted: Mapping[str, bool | None] = field(default_factory=dict)
    """By eval, whether it has passed the gate."""
    warnings: tuple[str, ...] = ()


def trust(project: Project, store: Store, board: Board) -> tuple[list[Row], Trust]:
    """The rows of contestants with what goes beside R, and what holds of all of them."""
    contestants, board = board.contestants, board.shared
    numbers = numbers_of(board)
    free = [i for i, names in enumerate(numbers.contestants) if not _is_control(project, names[0])]
    rivals, per_eval = [numbers.contestants[i] for i in free], numbers.per_eval
    # A certificate says nothing of scores that were made elsewhere: they are ranked only among themselves.
    own = [i for i in free if not numbers.contestants[i][0].startswith(IMPORTED)] or free
    ranked = [numbers.contestants[i] for i in own]
    ranking = _ranking(board, numbers, own)
    ranks = dict(zip(ranked, _ranks(ranking), strict=True)) if ranking else {}
    maps = _maps(store, board)
    beside, floors = _beside_each(board, maps), _floors(numbers)
    rows = [
        replace(
            row,
            rank=ranks.get(row.contestant),
            floor=floors.get(row.contestant),
            **beside.get(row.contestant, {}),
        )
        for row in contestants
    ]
    components, steps = None, None
    by_name = {row.contestant: row for row in rows}
    if free:
        # More runs can be made only of agents that orvl runs.
        components, steps = _next_dollar(numbers, own, store, [by_name[names] for names in ranked])
    return rows, Trust(
        judges=tuple(numbers.judges),
        ranked=ranked,
        ranking=ranking,
        vetted=board.vetted,
        components=components,
        steps=steps,
        frontier=frontier([by_name[names] for names in rivals], per_eval[free]) if len(free) > 1 else (),
        merit=merit(rivals, per_eval[free]) if len(free) > 1 else None,
        agreement=_agreement(board.gathered) if len(numbers.judges) > 1 else {},
        warnings=_uncalibrated(board, maps),
    )


def _ranking(board: Board, numbers: Numbers, own: Sequence[int]) -> Winners | None:
    """By R where the judges are certified; else by programs alone, where these can rank."""
    if len(own) < 2 or board.standing.ranks_by is None:
        return None
    per_eval = numbers.per_eval if board.standing.may_rank else numbers_of(by_programs(board)).per_eval
    return winner_set(per_eval[list(own)], families=numbers.families)


def _ranks(ranking: Winners) -> list[int | None]:
    return [None if place in ranking.untested else rank for place, rank in enumerate(ranking.ranks)]


def _is_control(project: Project, agent: str) -> bool:
    if is_control(agent):
        return True
    try:
        return agent in project.agent_files and project.agent(agent).control is not None
    except OrvlError:
        return False


def _floors(numbers: Numbers) -> dict[Contestant, float]:
    """The empty control's rating on the evals of each contestant."""
    empty = next((i for i, names in enumerate(numbers.contestants) if names[0] == "empty"), None)
    if empty is None:
        return {}
    floors, per_eval = {}, numbers.per_eval
    for i, names in enumerate(numbers.contestants):
        if names[0].startswith(IMPORTED):
            continue  # it is rated by other metrics
        both = ~np.isnan(per_eval[i]) & ~np.isnan(per_eval[empty])
        if both.any() and (both == ~np.isnan(per_eval[i])).all():
            floors[names] = float(per_eval[empty][both].mean())
    return floors


def _next_dollar(
    numbers: Numbers, free: Sequence[int], store: Store, rows: Sequence[Row]
) -> tuple[Components | None, NextSteps | None]:
    has_judges = bool(numbers.judges)
    table = numbers.by_judge[free] if has_judges else numbers.R[free][..., None]
    components = variance_components(table)
    if components is None:
        return None, None
    episodes = max(1, round(components.episodes))
    prices = Prices(_price_of_run(rows), _price_of_verdict(store) if has_judges else 0.0)
    units = len(set(numbers.families)) if numbers.families else components.evals
    seen = _seen(numbers, free, rows)
    steps = next_steps(components, units, components.judges, episodes, prices, contestants=len(free), seen=seen)
    if steps is None or has_judges:
        return components, steps
    # Where programs rate alone, nothing can be said of a judge.
    notes = tuple(note for note in components.notes if not note.startswith("One judge"))
    of_runs = tuple(step for step in steps.steps if step.more != "judge")
    return replace(components, judges=0, notes=notes), replace(steps, steps=of_runs)


def _seen(numbers: Numbers, free: Sequence[int], rows: Sequence[Row]) -> float | None:
    """Half of the interval of a difference, as `compare` has it: of the leader and its rivals, on average.

    With one contestant, half of the interval of its R.
    """
    if len(rows) == 1:
        (row,) = rows
        return (row.interval[1] - row.interval[0]) / 2 if row.interval else None
    table = numbers.per_eval[list(free)]
    means = [-1.0 if row.R is None else row.R for row in rows]
    order = sorted(range(len(rows)), key=lambda i: -means[i])
    widths = []
    for i in order[1 : MOST_RIVALS + 1]:
        known = ~np.isnan(table[order[0]] - table[i])
        if known.any():
            families = [numbers.families[j] for j in np.flatnonzero(known)] if numbers.families else None
            low, high = confidence_sequence((table[order[0]] - table[i])[known], families)
            widths.append((high - low) / 2)
    return sum(widths) / len(widths) if widths else None


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


def _counting_panel(board: Board) -> Panel | None:
    """The panel, where one of its judges has a say."""
    panel = next((panel for panel in board.gathered.panels.values() if panel.judges), None)
    return panel if panel and any(judge.weight for judge in panel.judges) else None


def _maps(store: Store, board: Board) -> Sequence[JudgeMap | None] | None:
    panel = _counting_panel(board)
    return maps_for(store, panel.judges) if panel else None


def _uncalibrated(board: Board, maps: Sequence[JudgeMap | None] | None) -> tuple[str, ...]:
    panel = _counting_panel(board)
    return tuple(
        f"The judge {judge.name} is not calibrated: in the calibrated rating its scores stand as they are."
        for judge, judge_map in zip(panel.judges if panel else (), maps or (), strict=False)
        if judge.weight and (judge_map is None or judge_map.refused)
    )


def _beside_each(board: Board, maps: Sequence[JudgeMap | None] | None) -> dict[Contestant, dict[str, Any]]:
    """The calibrated rating, R with one judge less, and R without judges of the own family: means over evals."""
    gathered, panel = board.gathered, _counting_panel(board)
    if panel is None:
        return {}
    families = [family_of(judge.model) for judge in panel.judges]
    by_eval: dict[str, list[CellRef]] = {}
    for ref in gathered.refs:
        if ref.id in gathered.stacks and not ref.imported and not np.isnan(board.ratings[ref.id]).all():
            by_eval.setdefault(ref.panel, []).append(ref)
    kept: dict[Contestant, list[NDArray[np.float64]]] = {}
    for name, refs in by_eval.items():
        for ref, values in zip(refs, _beside(name, refs, board, families, maps), strict=True):
            kept.setdefault((ref.names[0], ref.names[1], ref.names[2]), []).append(values)
    return {names: _fields(np.mean(some, axis=0), panel.judges) for names, some in kept.items()}


def _fields(values: NDArray[np.float64], judges: Sequence[Judge]) -> dict[str, Any]:
    # What is not known on every eval would be the mean over other evals than R's.
    *less, other, calibrated = values.tolist()
    known = [value for value, judge in zip(less, judges, strict=True) if judge.weight and not isnan(value)]
    return {
        "one_judge_less": (min(known), max(known)) if known else None,
        "other_families": None if isnan(other) else other,
        "calibrated": None if isnan(calibrated) else calibrated,
    }


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
    stacks = [board.gathered.stacks[ref.id or 0].S for ref in refs]
    parts = [_with_whole_ones_as_one(S) for S in stacks]
    S = masked(Scores(scoring.layout, v, w, np.concatenate([S for S, _ in parts])), board.rules.quorum)
    group, runs = Groups([len(S) for S, _ in parts]), np.concatenate([runs for _, runs in parts])
    less = [group.mean_over(R, runs) for R in leave_one_out(S, w, v).R]
    other = np.full(len(refs), np.nan)
    kin = [family_of(ref.names[1]) for ref in refs]
    if {*kin} & {*families} - {None}:
        own = without_own_family(S, w, v, np.repeat(np.array(kin, dtype=object), group.sizes).tolist(), families)
        other = np.where(group.sum(own.left_out) > 0, group.mean_over(own.R, runs), np.nan)
    calibrated = np.full(len(refs), np.nan)
    if maps is not None:
        every = masked(Scores(scoring.layout, v, w, np.concatenate(stacks)), board.rules.quorum)
        R = calibrated_rating(every, maps, w, v, judged=scoring.layout.judged)
        calibrated = Groups([len(stack) for stack in stacks]).mean(R)[0]
    return np.array([*less, other, calibrated]).T


def _with_whole_ones_as_one(S: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """S with the mean of all runs on which nobody abstained in place of these, and how many runs each row stands for.

    R of the mean is their mean R, at a fraction of the work.
    """
    has_gap = np.isnan(S.reshape(len(S), -1).sum(axis=1))
    runs = np.ones(int(has_gap.sum()), dtype=np.int64)
    if has_gap.all():
        return S, runs
    mean = S[~has_gap].mean(axis=0, keepdims=True).clip(0, 1)
    return np.concatenate([mean, S[has_gap]]), np.concatenate([[np.int64(len(S) - len(runs))], runs])


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
    """S of all runs by panel, or of so many as agreement needs."""
    by_panel: dict[str, list[NDArray[np.float64]]] = {}
    share = MOST_RUNS / max(sum(len(stack.S) for stack in gathered.stacks.values()), 1)
    random = np.random.default_rng(1)
    for ref in gathered.refs:
        if ref.id in gathered.stacks:
            S = gathered.stacks[ref.id].S
            by_panel.setdefault(ref.panel, []).append(S if share >= 1 else S[random.random(len(S)) < share])
    return {name: np.concatenate(parts) for name, parts in by_panel.items()}


def _agreement_of(table: NDArray[np.float64]) -> PanelAgreement:
    return panel_agreement(table[~np.isnan(table).all(axis=1)])
