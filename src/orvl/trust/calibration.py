"""Harsh and generous judges on a common scale, from the dose series: work with no bug, one, two, four and all."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.capture.turn_scores import checks_score
from orvl.errors import StoreError
from orvl.rate.stats.calibration import JudgeMap, calibrate
from orvl.trust.control_agents import control_of
from orvl.trust.measure import measure
from orvl.trust.standing import eval_content, judge_content

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.types import Cell, Judge

KIND = "calibration"
LEAST_APART = 0.1
"""Checks that see less of a difference between the doses say nothing about what they are worth."""
NOTHING_KNOWN = (
    "nobody knows what its anchors are worth. Write checks that see the bugs in controls/bugs, or label runs of the "
    "controls: orvl label"
)


def make(project: Project, ladder: Ladder, store: Store) -> dict[str, Any]:
    """A map for each judge, with its error on held-out anchors."""
    # Only here: reports read maps, and need none of what makes controls.
    from orvl.trust.controls.doses import DOSES

    measured = measure(ladder, store)
    scores = {dose: measured.works[dose] for dose in DOSES if dose in measured.works}
    worth, sources = worths(ladder, store, measured.working, tuple(scores))
    maps = calibrate(scores, worth, measured.judges)
    if not sources:
        maps = tuple(replace(one, refused=f"{one.judge} is not calibrated: {NOTHING_KNOWN}") for one in maps)
    judges = next(iter(ladder.plan.panels.values())).judges
    content = [judge_content(judge) for judge in judges] or [{"name": name, "key": ""} for name in measured.judges]
    return {
        "judges": [
            {**judge, "map": asdict(one), "held_out_error": one.held_out_error}
            for judge, one in zip(content, maps, strict=True)
        ],
        "metrics": list(measured.working),
        "evals": {name: eval_content(project.eval(name)) for name in ladder.evals},
        "worth": {dose: _known(values) for dose, values in worth.items()},
        "worth_from": sources,
        "repeats": len(ladder.episodes),
    }


def worths(
    ladder: Ladder, store: Store, metrics: Sequence[str], doses: Sequence[str]
) -> tuple[dict[str, NDArray[np.float64]], dict[str, str]]:
    """What each dose is worth on each eval, NaN where nobody knows; and who says so, by eval.

    People come first; then the eval's own checks, where these tell some dose from the good files. That work with all
    bugs were worth nothing would be an assumption: it may still start, and pass most of what is asked.
    """
    worth = {dose: np.full(len(ladder.evals), np.nan) for dose in doses}
    sources: dict[str, str] = {}
    labels: dict[int, list[float]] = {}
    for label in store.labels():
        if label.metric == "" or label.metric in metrics:
            labels.setdefault(label.attempt, []).append(label.value)
    for place, name in enumerate(ladder.evals):
        cells = [cell for cell in ladder.plan.cells if cell.eval.name == name]
        attempts = {dose: _attempts(ladder, store, cells, dose) for dose in doses}
        ways: tuple[tuple[str, Callable[[Cell, int], float]], ...] = (
            ("people", lambda _, attempt: float(np.mean(labels[attempt])) if attempt in labels else np.nan),
            ("checks", lambda cell, attempt: _checked(store, cell, attempt)),
        )
        for source, say in ways:
            found = {dose: _mean([say(cell, number) for cell, number in some]) for dose, some in attempts.items()}
            known = [value for value in found.values() if value == value]
            if len(known) > 1 and max(known) - min(known) > LEAST_APART:
                sources[name] = source
                for dose, value in found.items():
                    worth[dose][place] = value
                break
    return worth, sources


def _attempts(ladder: Ladder, store: Store, cells: Sequence[Cell], dose: str) -> list[tuple[Cell, int]]:
    own = {cell.key: cell for cell in cells if control_of(cell.agent.name) == dose}
    by_id = {cell.id: own[cell.key] for cell in store.cells() if cell.key in own}
    return [(by_id[run.cell], run.attempt) for run in store.carried_out(own) if run.episode in ladder.episodes]


def _checked(store: Store, cell: Cell, attempt: int) -> float:
    """What the eval's checks say of the files; NaN without checks."""
    _, results = store.attempt(attempt, cell.eval.checks_digest)
    score = checks_score(results or ())
    return np.nan if score is None else score


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if value == value]
    return sum(known) / len(known) if known else np.nan


def _known(values: NDArray[np.float64]) -> list[float | None]:
    return [None if value != value else round(value, 4) for value in values.tolist()]


def maps_for(store: Store, judges: Sequence[Judge]) -> list[JudgeMap | None] | None:
    """The newest map of each judge as it is now, in the panel's order; None where no judge has one.

    Where there was too little to fit a line to, nothing was found out, and an older map holds.
    """
    found: list[JudgeMap | None] = []
    calibrations = [content for _, _, content in store.trust(KIND)]
    try:
        for judge in judges:
            own = [one["map"] for content in calibrations for one in content["judges"] if one["key"] == judge.key]
            fitted = [one for one in own if one["slope"] is not None]
            found.append(JudgeMap(**(fitted or own)[0]) if own else None)
    except (LookupError, TypeError, AttributeError) as error:
        raise StoreError(
            f"A calibration in the store {store.folder} is damaged ({error}). Restore a backup of the store."
        ) from error
    return found if any(one is not None and not one.refused for one in found) else None
