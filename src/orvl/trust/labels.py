"""Rated runs with what people say of them, and which of them people should look at next."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import fsum, nan
from typing import TYPE_CHECKING

from orvl.rate.collect import of_store
from orvl.rate.stats.people import most_informative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.store import Store
    from orvl.store.rows import StoredLabel

    Keep = Callable[[tuple[str, str, str, str]], bool]

WHOLE = ""
"""The metric of a label that is about the whole run."""
RATING = "R"
DRAWN = "drawn at random"
"""How a label is marked whose run chance has chosen: only such labels can stand for all runs."""
IN_TURN = f"{DRAWN}, in turn"
"""The same where orvl has drawn it, in the order of the keys: they are hashes."""


@dataclass(frozen=True)
class Asked:
    """A run that a person is to look at, the metrics to score it on, and whether chance has chosen it."""

    run: str
    attempt: int
    names: tuple[str, str, str, str]
    metrics: tuple[str, ...]
    drawn: bool = False


@dataclass(frozen=True)
class Judged:
    """A rated run, with what people say of it by metric and person."""

    attempt: int
    key: str
    row: Row
    labels: Mapping[str, Mapping[str, float]]
    drawn: frozenset[str] = frozenset()
    """Metrics on which its labels were drawn at random."""

    @property
    def names(self) -> tuple[str, str, str, str]:
        return self.row.agent, self.row.model, self.row.provider, self.row.eval or ""

    def by_people(self, metric: str) -> float:
        """People's mean. R is what they say of the whole, or follows from labels of all that judges were asked."""
        if metric == RATING and WHOLE not in self.labels:
            return self._rating(self.by_people) if self.labels else nan
        values = self.labels.get(WHOLE if metric == RATING else metric, {}).values()
        return fsum(values) / len(values) if values else nan

    def by_judges(self, metric: str) -> float:
        mean = self.row.R if metric == RATING else self._metric_mean(metric)
        return nan if mean is None else mean

    def by_judge(self, judge: str, metric: str) -> float:
        if metric == RATING:
            return self._rating(lambda name: self.by_judge(judge, name))
        value = self.row.metrics[metric].judges.get(judge) if metric in self.row.metrics else None
        return nan if value is None else value

    def is_drawn(self, metric: str, edges: Mapping[str, str]) -> bool:
        """Whether chance has chosen it, or would have: it was passed over because somebody had picked it before."""
        parts = [metric] if metric != RATING else [WHOLE] if WHOLE in self.labels else self._asked()
        return all(part in self.drawn or self.key <= edges.get(part, "") for part in parts)

    def _metric_mean(self, metric: str) -> float | None:
        return self.row.metrics[metric].mean if metric in self.row.metrics else None

    def _asked(self) -> list[str]:
        """The metrics of R that judges were asked."""
        return [name for name in self._counted() if self.row.metrics[name].judges]

    def _counted(self) -> list[str]:
        return [name for name, metric in self.row.metrics.items() if metric.weight and metric.mean is not None]

    def _rating(self, told: Callable[[str], float]) -> float:
        """R with somebody's own word on what judges were asked; what functions measure stays."""
        if not self._asked():
            return nan
        asked, metrics = self._asked(), self.row.metrics
        parts = [
            (metrics[name].weight, told(name) if name in asked else self.by_judges(name)) for name in self._counted()
        ]
        return fsum(weight * value for weight, value in parts) / fsum(weight for weight, _ in parts)


def judged_runs(
    project: Project, store: Store, keep: Keep, judges: Sequence[str], metrics: Mapping[str, bool] | None
) -> list[Judged]:
    """The rated runs that fit, each with its labels."""
    stored = store.labels()
    labels: dict[int, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for label in newest_labels(stored):
        labels[label.attempt][label.metric][label.person] = label.value
    drawn = defaultdict(set)
    for label in stored:
        if label.drawn is not None:
            drawn[label.attempt].add(label.metric)
    rows = [row for row in of_store(project, store, keep, judges, metrics, by_run=True).runs if not row.imported]
    attempts = {run.key: run.attempt for run in store.runs() if run.outcome != "errored"}
    return [
        Judged(number, row.run, row, labels.get(number, {}), frozenset(drawn.get(number, ())))
        for row in rows
        if row.run is not None and (number := attempts.get(row.run)) is not None
    ]


def newest_labels(labels: Iterable[StoredLabel]) -> list[StoredLabel]:
    """The last word of each person on each metric of each run, oldest first."""
    newest: dict[tuple[int, str, str], StoredLabel] = {}
    for label in labels:
        place = label.attempt, label.metric, label.person
        newest.pop(place, None)
        newest[place] = label
    return list(newest.values())


def edges_of(store: Store) -> dict[str, str]:
    """For each metric, the last key up to which runs were drawn in turn."""
    edges: dict[str, str] = {}
    for label in store.labels():
        if label.drawn == IN_TURN:
            edges[label.metric] = max(label.run, edges.get(label.metric, ""))
    return edges


def queue(
    project: Project,
    store: Store,
    keep: Keep,
    metrics: Mapping[str, bool] | None,
    person: str,
    *,
    whole: bool = False,
    at_random: bool = False,
) -> list[Asked]:
    """The runs that a person has not labelled: by turns one that divides the judges most, and one drawn at random."""
    found: dict[str, tuple[Judged, Asked]] = {}
    for one in judged_runs(project, store, keep, (), metrics):
        wanted = [] if whole else _wanted(project, one.row, metrics)
        left = tuple(name for name in wanted or [WHOLE] if person not in one.labels.get(name, {}))
        if left:
            found[one.key] = one, Asked(one.key, one.attempt, one.names, left)
    picked = [] if at_random else _picked([one for one, _ in found.values()])
    order: dict[str, bool] = {}
    # The order of the keys is a shuffle that stays the same whenever one goes on.
    for pick, drawn in zip_longest(picked, sorted(found)):
        if pick is not None:
            order.setdefault(pick, False)
        order.setdefault(drawn, True)
    return [replace(found[key][1], drawn=drawn) for key, drawn in order.items()]


def _wanted(project: Project, row: Row, metrics: Mapping[str, bool] | None) -> list[str]:
    """The metrics to ask a person for: those chosen, else those that count and need a judge."""
    if metrics is not None:
        return [name for name in row.metrics if name in metrics]
    return [name for name, metric in row.metrics.items() if metric.weight and project.metric(name).judged]


def _picked(runs: Sequence[Judged]) -> list[str]:
    """The keys of the runs that say most about the judges; those that somebody has labelled come last."""
    table = [_most_divided(one.row) for one in runs]
    width = max(map(len, table), default=0)
    table = [row + [nan] * (width - len(row)) for row in table]
    names = [one.names for one in runs]
    seen = [bool(one.labels) for one in runs]
    fresh = most_informative(table, names, labelled=seen)
    return [runs[place].key for place in (*fresh, *most_informative(table, names, labelled=[not one for one in seen]))]


def _most_divided(row: Row) -> list[float]:
    """The judges' scores on the metric that divides them most."""
    by_metric = [[value for value in one.judges.values() if value is not None] for one in row.metrics.values()]
    return max(by_metric, key=lambda told: max(told) - min(told) if told else -1.0, default=[])
