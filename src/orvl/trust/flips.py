"""Whether a planted bug turns an item of a checklist from yes to no."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from orvl.plan.layout import layout_of
from orvl.store.score_matrix import places
from orvl.trust.control_agents import control_of
from orvl.trust.measure import PROGRAMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.trust.measure import Measured
    from orvl.types import Score

Items = dict[tuple[str, int], str]
"""Answers by metric and the item's place."""


def flips(ladder: Ladder, store: Store, measured: Measured) -> NDArray[np.float64] | None:
    """Evals × repeats × judges: 1 where an item that good work had is denied to the work with a bug, else 0."""
    if measured.judges == (PROGRAMS,):
        return None
    found = np.full((len(measured.evals), len(ladder.episodes), len(measured.judges)), np.nan)
    for e, one in enumerate(measured.evals):
        answers = {control: _answers(ladder, store, measured, one, control) for control in ("good", "planted-bug")}
        for place, items in answers["planted-bug"].items():
            if before := answers["good"].get(place):
                found[e, place[0] - ladder.episodes[0], place[1]] = any(
                    told == "no" and before.get(item) == "yes" for item, told in items.items()
                )
    return found


def _answers(
    ladder: Ladder, store: Store, measured: Measured, one: str, control: str
) -> Mapping[tuple[int, int], Items]:
    """By repeat and judge, the newest answers of a control's runs."""
    keys = [c.key for c in ladder.plan.cells if c.eval.name == one and control_of(c.agent.name) == control]
    episodes = {run.attempt: run.episode for run in store.carried_out(keys) if run.episode in ladder.episodes}
    found: dict[tuple[int, int], Items] = defaultdict(dict)
    panel = ladder.plan.panels[one]
    judges = {judge.key: j for j, judge in enumerate(panel.judges)}
    tested = [metric for metric in panel.metrics if metric.name in measured.metrics]
    wanted = set(places(layout_of(panel.eval, tested, panel.judges)))
    for attempt, episode in episodes.items():
        newest = {(score.metric_key, score.judge_key): score for score in store.scores(attempt)}
        for score in (newest[place] for place in newest.keys() & wanted):
            found[episode, judges[score.judge_key]].update(_items(score))
    return found


def _items(score: Score) -> Iterator[tuple[tuple[str, int], str]]:
    detail = score.detail or {}
    told = [answer for asked in detail.get("asked", [detail]) for answer in asked.get("answers", ())]
    for number, answer in enumerate(told):
        yield (score.metric, number), answer
