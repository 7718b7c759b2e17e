"""Harsh and generous judges on a common scale, from the dose series: work with no bug, one, two, four and all."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.errors import StoreError
from orvl.rate.stats.calibration import JudgeMap, calibrate
from orvl.trust.measure import measure
from orvl.trust.standing import eval_content, judge_content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.types import Judge

KIND = "calibration"


def make(project: Project, ladder: Ladder, store: Store) -> dict[str, Any]:
    """A map for each judge, with its error on held-out anchors."""
    # Only here: reports read maps, and need none of what makes controls.
    from orvl.trust.controls.doses import DOSES

    measured = measure(ladder, store)
    scores = {dose: measured.works[dose] for dose in DOSES if dose in measured.works}
    maps = calibrate(scores, {dose: truths(ladder, dose) for dose in scores}, measured.judges)
    judges = next(iter(ladder.plan.panels.values())).judges
    content = [judge_content(judge) for judge in judges] or [{"name": name, "key": ""} for name in measured.judges]
    return {
        "judges": [
            {**judge, "map": asdict(one), "held_out_error": one.held_out_error}
            for judge, one in zip(content, maps, strict=True)
        ],
        "metrics": list(measured.working),
        "evals": {name: eval_content(project.eval(name)) for name in ladder.evals},
        "repeats": len(ladder.episodes),
    }


def truths(ladder: Ladder, dose: str) -> NDArray[np.float64]:
    """What a dose is worth on each eval: the share of bugs that it does not have."""
    known = [controls.get(dose) for controls in ladder.controls.values()]
    return np.array(
        [1.0 if dose == "good" else np.nan if one is None else one.detail.get("truth", np.nan) for one in known]
    )


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
