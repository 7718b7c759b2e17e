"""Whether a planted bug turns an item of a checklist from yes to no."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from orvl.certify.measure import PROGRAMS, control_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from orvl.certify.controls import Ladder
    from orvl.certify.measure import Measured
    from orvl.store import Store
    from orvl.types import Score

Items = dict[tuple[str, int], str]
"""Answers by metric and the item's place."""


def flips(ladder: Ladder, store: Store, measured: Measured, repeats: int) -> NDArray[np.float64] | None:
    """Evals × repeats × judges: 1 where an item that good work had is denied to the work with a bug, else 0."""
    if measured.judges == (PROGRAMS,):
        return None
    found = np.full((len(measured.evals), repeats, len(measured.judges)), np.nan)
    for e, one in enumerate(measured.evals):
        answers = {
            control: _answers(ladder, store, measured, one, control, repeats) for control in ("good", "planted-bug")
        }
        for place, items in answers["planted-bug"].items():
            if before := answers["good"].get(place):
                found[e, place[0] - 1, place[1]] = any(
                    told == "no" and before.get(item) == "yes" for item, told in items.items()
                )
    return found


def _answers(
    ladder: Ladder, store: Store, measured: Measured, one: str, control: str, repeats: int
) -> Mapping[tuple[int, int], Items]:
    """By repeat and judge, the newest answers of a control's runs."""
    keys = [c.key for c in ladder.plan.cells if c.eval.name == one and control_of(c.agent.name) == control]
    episodes = {run.attempt: run.episode for run in store.carried_out(keys) if run.episode <= repeats}
    found: dict[tuple[int, int], Items] = defaultdict(dict)
    judges = {judge.key: j for j, judge in enumerate(ladder.plan.panels[one].judges)}
    for attempt, episode in episodes.items():
        for score in store.scores(attempt):
            if score.metric in measured.metrics and score.judge_key in judges:
                found[episode, judges[score.judge_key]].update(_items(score))
    return found


def _items(score: Score) -> Iterator[tuple[tuple[str, int], str]]:
    detail = score.detail or {}
    told = [answer for asked in detail.get("asked", [detail]) for answer in asked.get("answers", ())]
    for number, answer in enumerate(told):
        yield (score.metric, number), answer
