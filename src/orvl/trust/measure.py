"""What the judges said of the controls, read from the store: scores as arrays, flipped items, and missing answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.plan.layout import layout_of
from orvl.rate.rating import by_judge
from orvl.store.score_matrix import places, score_tables
from orvl.trust.control_agents import control_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from orvl.plan.layout import Panel
    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.types import Cell, Score

PROGRAMS = "programs"
"""Who scores where there is no judge."""
WORKING = ("functionality", "bugs", "missing-cases", "checks")
"""The metrics that a bug should move, where they are tested."""
Items = dict[tuple[str, int], str]
"""By metric and the item's number: `yes` where a judge's answer is the one of good work, `no` where it is not."""


@dataclass
class Measured:
    """Scores of the controls, each evals × repeats × judges, NaN where there is none."""

    judges: tuple[str, ...]
    weights: tuple[float, ...]
    evals: tuple[str, ...]
    metrics: tuple[str, ...]
    """Those that are tested: the judged ones, or without a judge those of programs that look at the work."""
    ratings: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """By control: each judge's rating of each run, over the tested metrics."""
    works: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """The same over the metrics that say whether the work works, or over all where there are none of those."""
    by_metric: dict[str, dict[str, NDArray[np.float64]]] = field(default_factory=dict)

    @property
    def working(self) -> tuple[str, ...]:
        return tuple(name for name in self.metrics if name in WORKING) or self.metrics


def measure(ladder: Ladder, store: Store) -> Measured:
    """Reads the scores of a ladder's runs."""
    panels = ladder.plan.panels
    first = next(iter(panels.values()))
    judges = tuple(judge.name for judge in first.judges) or (PROGRAMS,)
    weights = tuple(judge.weight for judge in first.judges)
    if not any(weights):
        weights = (1.0,) * len(judges)
    evals = tuple(panels)
    measured = Measured(judges, weights, evals, tested_metrics(panels.values(), bool(first.judges)))
    shape = (len(evals), len(ladder.episodes), len(judges))
    ids = {cell.key: cell.id for cell in store.cells()}
    for place, panel in enumerate(panels.values()):
        cells = {
            ids[cell.key]: cell for cell in ladder.plan.cells if cell.eval.name == evals[place] and cell.key in ids
        }
        for number, S in _stacks(store, panel, cells, ladder.episodes).items():
            _enter(measured, panel, control_of(cells[number].agent.name), place, S, shape)
    return measured


def tested_metrics(panels: Iterable[Panel], has_judges: bool) -> tuple[str, ...]:
    """The metrics that the panel is tested by: those that count, or all where none of them does."""
    pairs = [
        (metric.name, weight)
        for panel in panels
        for metric, weight in zip(panel.metrics, panel.weights, strict=True)
        if (metric.judged if has_judges else not metric.judged and not metric.earned)
    ]
    return tuple(sorted({name for name, weight in pairs if weight} or {name for name, _ in pairs}))


def _stacks(store: Store, panel: Panel, cells: Mapping[int, Cell], episodes: range) -> dict[int, NDArray[np.float64]]:
    """For each cell the tables S of its repeats."""
    layout = layout_of(panel.eval, panel.metrics, panel.judges)
    runs = [run for run in store.carried_out(cell.key for cell in cells.values()) if run.episode in episodes]
    episode_of = {run.attempt: run.episode for run in runs}
    known = score_tables(store, layout, Counter(run.cell for run in runs), episode_of.keys())
    stacks = {cell: np.full((len(episodes), *layout.shape), np.nan) for cell in cells}
    for attempt, cell, S in zip(known.attempts.tolist(), known.cells.tolist(), known.S, strict=True):
        stacks[cell][episode_of[attempt] - episodes[0]] = S
    return stacks


def _enter(
    measured: Measured, panel: Panel, control: str, place: int, S: NDArray[np.float64], shape: tuple[int, ...]
) -> None:
    """Enters one control's tables on one eval: S is repeats × judges × metrics."""
    names = [metric.name for metric in panel.metrics]
    for kept, entered in ((measured.metrics, measured.ratings), (measured.working, measured.works)):
        weights = [weight if name in kept else 0.0 for name, weight in zip(names, _weights(panel, kept), strict=True)]
        if any(weights):
            entered.setdefault(control, np.full(shape, np.nan))[place] = by_judge(S, weights)
    for column, name in enumerate(names):
        tables = measured.by_metric.setdefault(name, {})
        tables.setdefault(control, np.full(shape, np.nan))[place] = S[:, :, column]


def _weights(panel: Panel, tested: tuple[str, ...]) -> tuple[float, ...]:
    """Where none of the tested metrics counts (the embedded model judges alone), they have their own weights."""
    names = [metric.name for metric in panel.metrics]
    if any(weight for name, weight in zip(names, panel.weights, strict=True) if name in tested):
        return panel.weights
    return tuple(metric.weight or 1.0 for metric in panel.metrics)


def flips(ladder: Ladder, store: Store, measured: Measured) -> NDArray[np.float64] | None:
    """Evals × repeats × judges: 1 where a planted bug turned an item from yes to no, else 0; None without judges."""
    if measured.judges == (PROGRAMS,):
        return None
    table = np.full((len(measured.evals), len(ladder.episodes), len(measured.judges)), np.nan)
    for place, name in enumerate(measured.evals):
        good, bug = (_answers(ladder, store, measured, name, control) for control in ("good", "planted-bug"))
        for (episode, judge), items in bug.items():
            if before := good.get((episode, judge)):
                table[place, episode - ladder.episodes[0], judge] = any(
                    answer == "no" and before.get(item) == "yes" for item, answer in items.items()
                )
    return table


def _answers(
    ladder: Ladder, store: Store, measured: Measured, eval_name: str, control: str
) -> Mapping[tuple[int, int], Items]:
    """By repeat and judge, the newest answers on a control's runs."""
    keys = [
        cell.key for cell in ladder.plan.cells if cell.eval.name == eval_name and control_of(cell.agent.name) == control
    ]
    episodes = {run.attempt: run.episode for run in store.carried_out(keys) if run.episode in ladder.episodes}
    answers: dict[tuple[int, int], Items] = defaultdict(dict)
    panel = ladder.plan.panels[eval_name]
    judges = {judge.key: place for place, judge in enumerate(panel.judges)}
    wanted = _wanted(panel, measured)
    for attempt, episode in episodes.items():
        newest = {(score.metric_key, score.judge_key): score for score in store.scores(attempt)}
        for score in (newest[place] for place in newest.keys() & wanted):
            answers[episode, judges[score.judge_key]].update(_items(score))
    return answers


def _items(score: Score) -> Iterator[tuple[tuple[str, int], str]]:
    """A metric may ask several checklists; their items are numbered through."""
    detail = score.detail or {}
    number = 0
    for asked in detail.get("asked", [detail]):
        answers = asked.get("answers", ())
        for answer, good in zip(answers, asked.get("good") or ["yes"] * len(answers), strict=False):
            told = answer != "cannot-tell"
            yield (score.metric, number), ("yes" if answer == good else "no") if told else answer
            number += 1


def missing_answers(ladder: Ladder, store: Store, measured: Measured) -> dict[str, dict[str, Any]]:
    """By judge: how many scores of the tested metrics were wanted, how many are missing, and the usual reason."""
    wanted = set().union(*(_wanted(panel, measured) for panel in ladder.plan.panels.values()))
    asked: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {judge: Counter() for judge in measured.judges}
    for answer in store.answers([attempt for attempt, _ in _attempts(ladder, store)]):
        if answer.judge in reasons and (answer.metric_key, answer.judge_key) in wanted:
            asked[answer.judge] += 1
            reasons[answer.judge].update([] if answer.is_scored else [answer.reason])
    return {
        judge: {"wanted": asked[judge], "missing": missing.total(), "reason": missing.most_common(1)[0][0]}
        for judge, missing in reasons.items()
        if missing
    }


def missing_runs(ladder: Ladder, store: Store) -> dict[str, int]:
    """How many runs of controls failed, and how many there are none of."""
    outcomes = [outcome for _, outcome in _attempts(ladder, store)]
    return {"failed": outcomes.count("failed"), "missing": len(ladder.plan.runs) - len(outcomes)}


def unanswered(store: Store) -> set[int]:
    """The attempts on which some judge's newest sample is no answer."""
    return {score.attempt for score in store.unscored() if score.judge and score.kind in ("error", "abstained")}


def _attempts(ladder: Ladder, store: Store) -> list[tuple[int, str]]:
    runs = store.carried_out(cell.key for cell in ladder.plan.cells)
    return [(run.attempt, run.outcome) for run in runs if run.episode in ladder.episodes]


def _wanted(panel: Panel, measured: Measured) -> set[tuple[str, str]]:
    """The places of the tested metrics in an eval's layout: metric key and judge key."""
    tested = [metric for metric in panel.metrics if metric.name in measured.metrics]
    return set(places(layout_of(panel.eval, tested, panel.judges)))
