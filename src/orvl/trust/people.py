"""People's labels beside the judges' scores: corrected means, and agreement."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import combinations
from math import fsum, isnan
from typing import TYPE_CHECKING

from orvl.rate.stats.people import Agreement, PeopleMean, agreement, people_mean
from orvl.trust.labels import RATING, WHOLE, Judged, edges_of, judged_runs, newest_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.labels import Keep

FEWEST = 2


@dataclass(frozen=True)
class Corrected:
    """The judges' mean of a metric, and what labels make of it; of one contestant, or of all (None)."""

    metric: str
    contestant: tuple[str, str, str] | None
    runs: int
    """Those that judges or functions have scored."""
    judged: float | None
    labelled: int
    by_people: float | None
    """The mean over the labelled runs."""
    by_judges_there: float | None
    mean: PeopleMean
    """From the labels whose runs were drawn at random."""


@dataclass(frozen=True)
class People:
    """All that the labels say."""

    labels: int
    persons: tuple[str, ...]
    corrected: tuple[Corrected, ...]
    judges: tuple[tuple[str, Agreement], ...]
    """By metric: each judge against people."""
    each_other: tuple[tuple[str, Agreement], ...]
    """By metric: one person against another, on runs that both have labelled."""


def people(
    project: Project,
    store: Store,
    keep: Keep,
    judges: Sequence[str] = (),
    metrics: Mapping[str, bool] | None = None,
) -> People | None:
    """What the labels say of the runs that fit; None where nobody has labelled anything."""
    stored = newest_labels(store.labels())
    if not stored:
        return None
    runs = judged_runs(project, store, keep, judges, metrics)
    edges = edges_of(store)
    known = dict.fromkeys(name for one in runs for name in one.row.metrics)
    names = [name for name in (RATING, *known) if any(not isnan(one.by_people(name)) for one in runs)]
    corrected = [found for name in names for found in _of_metric(name, runs, edges)]
    near = [(name, found) for name in names for found in _judges_of(name, runs)]
    each = [(name, found) for name in (WHOLE, *known) for found in _each_other(name, runs)]
    persons = tuple(dict.fromkeys(label.person for label in stored))
    shown = tuple((name or "the whole run", found) for name, found in each)
    return People(len(stored), persons, tuple(corrected), tuple(near), shown)


def _of_metric(metric: str, runs: Sequence[Judged], edges: Mapping[str, str]) -> list[Corrected]:
    """All contestants together, then each that has labels enough."""
    groups = defaultdict(list)
    for one in runs:
        groups[one.names[:3]].append(one)
    found = [_corrected(metric, None, runs, edges)]
    found += [_corrected(metric, names, some, edges) for names, some in groups.items() if len(groups) > 1]
    return [found[0], *(one for one in found[1:] if one.labelled >= FEWEST)]


def _corrected(
    metric: str, contestant: tuple[str, str, str] | None, runs: Sequence[Judged], edges: Mapping[str, str]
) -> Corrected:
    labelled = [one for one in runs if not isnan(one.by_people(metric))]
    scored = [one.by_judges(metric) for one in runs if not isnan(one.by_judges(metric))]
    drawn = [one for one in labelled if one.is_drawn(metric, edges)]
    keys = {one.key for one in drawn}
    others = [one for one in runs if one.key not in keys]
    # Where all is about one eval, its runs are the units; else runs of one eval go together.
    many = len({one.names[3] for one in runs}) > 1
    mean = people_mean(
        [one.by_people(metric) for one in drawn],
        [one.by_judges(metric) for one in drawn],
        [one.by_judges(metric) for one in others],
        evals_of_labelled=[one.names[3] for one in drawn] if many else None,
        evals_of_others=[one.names[3] for one in others] if many else None,
        at_random=bool(drawn) or not labelled,
    )
    return Corrected(
        metric,
        contestant,
        len(scored),
        _mean(scored),
        len(labelled),
        _mean(one.by_people(metric) for one in labelled),
        _mean(one.by_judges(metric) for one in labelled),
        mean,
    )


def _mean(values: Iterable[float]) -> float | None:
    known = [value for value in values if not isnan(value)]
    return fsum(known) / len(known) if known else None


def _judges_of(metric: str, runs: Sequence[Judged]) -> list[Agreement]:
    names = dict.fromkeys(judge for one in runs for told in one.row.metrics.values() for judge in told.judges)
    scores = {judge: [one.by_judge(judge, metric) for one in runs] for judge in names}
    return [found for found in agreement([one.by_people(metric) for one in runs], scores) if found.runs]


def _each_other(metric: str, runs: Sequence[Judged]) -> list[Agreement]:
    """Every pair of persons on every run that both have labelled."""
    pairs = [pair for one in runs for pair in combinations(one.labels.get(metric, {}).values(), 2)]
    if not pairs:
        return []
    first, second = zip(*pairs, strict=True)
    on = sum(len(one.labels.get(metric, {})) > 1 for one in runs)
    return [replace(found, runs=on) for found in agreement(first, {"": second})]
