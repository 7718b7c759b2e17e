"""How far ratings can be trusted: who leads beyond chance, what judges agree on, and what the next dollar buys."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from orvl.certify.calibration import maps_for
from orvl.certify.controls import is_control
from orvl.errors import OrvlError
from orvl.report.board import Scores, masked
from orvl.report.numbers import mean_of_known, numbers_of
from orvl.stats.agreement import leave_one_out, panel_agreement
from orvl.stats.calibration import calibrated_rating
from orvl.stats.components import Prices, next_steps, variance_components
from orvl.stats.families import family_of, without_own_family
from orvl.stats.merit import merit
from orvl.stats.paired import winner_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from orvl.project import Project
    from orvl.report.board import Row
    from orvl.report.collect import Board
    from orvl.report.gather import CellRef, Gathered
    from orvl.report.numbers import Contestant, Numbers
    from orvl.stats.agreement import PanelAgreement
    from orvl.stats.calibration import JudgeMap
    from orvl.stats.components import Components, NextSteps
    from orvl.stats.merit import Merit
    from orvl.stats.paired import Winners
    from orvl.store import Store

MOST_RUNS = 20_000
"""Agreement over more says nothing more, and takes longer than the report."""


@dataclass
class Trust:
    """What stands beside the ratings of contestants."""

    ranking: Winners | None = None
    ranked: list[Contestant] = field(default_factory=list)
    """Whom the ranking is of: all but controls."""
    components: Components | None = None
    steps: NextSteps | None = None
    merit: Merit | None = None
    agreement: dict[str, PanelAgreement] = field(default_factory=dict)
    """By metric; '' is the rating of each judge alone."""
    judges: tuple[str, ...] = ()


def trust(project: Project, store: Store, board: Board, rows: Sequence[Row]) -> Trust:
    """Fills rows of contestants with what goes beside R, and says what holds of all of them."""
    gathered = board.gathered
    numbers = numbers_of(gathered, board.rules)
    found = Trust(judges=tuple(name for name in numbers.judges if name))
    by_name = {(row.agent, row.model, row.provider): row for row in rows}
    _fill(store, board, by_name)
    _fill_floors(by_name, numbers)
    free = [i for i, names in enumerate(numbers.contestants) if not _is_control(project, names[0])]
    found.ranked = [numbers.contestants[i] for i in free]
    if len(free) > 1:
        per_eval = numbers.per_eval[free]
        found.ranking = winner_set(per_eval)
        found.merit = merit(found.ranked, per_eval)
        if board.standing.may_rank:
            for place, names in enumerate(found.ranked):
                by_name[names].rank = found.ranking.ranks[place]
    if free:
        _next_dollar(found, numbers, free, store, [by_name[names] for names in found.ranked])
    if len(found.judges) > 1:
        found.agreement = _agreement(gathered, numbers)
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


def _price_of_run(rows: Sequence[Row]) -> float | None:
    """The mean over contestants; unknown where one is."""
    costs = [(row.usage.get("cost_usd"), row.planned - row.errored) for row in rows if row.rated]
    if not costs or any(cost is None or not runs for cost, runs in costs):
        return None
    return sum((cost or 0.0) / runs for cost, runs in costs) / len(costs)


def _price_of_verdict(store: Store) -> float | None:
    """What a judge's look at a run has cost, over all its metrics; unknown where that was not told."""
    row = store.rows(
        "SELECT sum(json_extract(detail, '$.cost_usd')), count(json_extract(detail, '$.cost_usd')), count(*), "
        "count(DISTINCT attempt || ' ' || judge_key) FROM (SELECT * FROM score WHERE judge <> '' AND kind = 'scored' "
        "ORDER BY id DESC LIMIT 2000)"
    )[0]
    total, known, every, looks = row
    if not every:
        return None
    if not known:
        return 0.0 if _is_free(store) else None
    return float(total) / looks if known == every else None


def _is_free(store: Store) -> bool:
    """Whether the judges that scored are of the kind that asks nobody."""
    rows = store.rows(
        "SELECT count(*) FROM (SELECT detail FROM score WHERE judge <> '' ORDER BY id DESC LIMIT 100) "
        "WHERE instr(detail, '\"calls\"')"
    )
    return not rows[0][0]


def _fill(store: Store, board: Board, rows: dict[Contestant, Row]) -> None:
    """The calibrated rating, R with one judge less, and R without judges of the own family: means over evals."""
    gathered = board.gathered
    first = next(iter(gathered.panels.values()), None)
    if first is None or not first.judges:
        return
    maps = maps_for(store, first.judges)
    families = [family_of(judge.model) for judge in first.judges]
    kept: dict[Contestant, list[tuple[float, ...]]] = {}
    for ref in gathered.refs:
        if ref.id in gathered.stacks:
            names = ref.names[0], ref.names[1], ref.names[2]
            kept.setdefault(names, []).append(_beside(ref, board, maps, families))
    for names, values in kept.items():
        low, high, other, calibrated = mean_of_known(np.array(values, dtype=float), axis=0)
        row = rows[names]
        if len(first.judges) > 1 and not np.isnan(low):
            row.one_judge_less = float(low), float(high)
        row.other_families = None if np.isnan(other) else float(other)
        row.calibrated = None if np.isnan(calibrated) else float(calibrated)


def _beside(
    ref: CellRef, board: Board, maps: Sequence[JudgeMap | None] | None, families: Sequence[str | None]
) -> tuple[float, ...]:
    """Of one cell: the lowest and highest R with one judge less, R by other families, the calibrated R."""
    gathered = board.gathered
    scoring = gathered.scorings[ref.names[3]]
    scores = Scores(scoring.layout, scoring.metric_weights, scoring.judge_weights, gathered.stacks[ref.id or 0][1])
    S, w, v = masked(scores, board.rules.quorum), scoring.judge_weights, scoring.metric_weights
    if not any(w):
        return (np.nan,) * 4
    less = mean_of_known(leave_one_out(S, w, v).R, axis=1)
    counted = less[np.asarray(w) > 0]
    family = family_of(ref.names[1])
    other = np.nan
    if family and family in families:
        other = float(mean_of_known(without_own_family(S, w, v, [family] * len(S), families).R, axis=0))
    calibrated = np.nan
    if maps is not None:
        calibrated = float(mean_of_known(calibrated_rating(S, maps, w, v, judged=scoring.layout.judged), axis=0))
    return float(np.fmin.reduce(counted)), float(np.fmax.reduce(counted)), other, calibrated


def _agreement(gathered: Gathered, numbers: Numbers) -> dict[str, PanelAgreement]:
    """Of each judged metric that counts, and of the ratings of the judges."""
    tables: dict[str, list[NDArray[np.float64]]] = {}
    for ref in gathered.refs:
        if ref.id not in gathered.stacks:
            continue
        scoring = gathered.scorings[ref.names[3]]
        for j, (name, _) in enumerate(scoring.layout.metrics):
            if scoring.layout.judged[j] and scoring.metric_weights[j]:
                tables.setdefault(name, []).append(gathered.stacks[ref.id][1][:, :, j])
    found = {name: _agreement_of(np.concatenate(parts)) for name, parts in tables.items()}
    if found:
        found[""] = _agreement_of(numbers.by_judge.reshape(-1, len(numbers.judges)))
    return found


def _agreement_of(table: NDArray[np.float64]) -> PanelAgreement:
    table = table[~np.isnan(table).all(axis=1)]
    return panel_agreement(table[:: max(1, len(table) // MOST_RUNS)])
