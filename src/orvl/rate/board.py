"""From the store's tables S to rows of ratings: by run, by cell, by contestant."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orvl.rate.rating import rate
from orvl.rate.stats.arrays import all_known
from orvl.rate.stats.intervals import mean_intervals, run_intervals
from orvl.rate.stats.spending import spending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.rate.common import Common
    from orvl.rate.earned import Earned
    from orvl.rate.rating import Rating
    from orvl.rate.stats.spending import Spending
    from orvl.types import Layout

USAGE = (
    *("input_tokens", "cached_tokens", "output_tokens", "tool_calls", "seconds", "cost_usd"),
    *("model_seconds", "tools_seconds", "own_seconds", "waiting_seconds"),
)


@dataclass(frozen=True)
class Rules:
    """How scores become ratings: changing any of these re-rates at once."""

    penalty: float = 0.5
    variance: Literal["seed", "unbiased"] = "seed"
    quorum: float = 0.5


State = Literal["certified", "stale", "refused", "none", "programs", "imported"]
"""`programs`: no judge has a say, so there is nothing to certify. `imported`: other tools made all scores."""


@dataclass(frozen=True)
class Standing:
    """How a panel stands to the newest certificate that speaks of it."""

    state: State
    reasons: tuple[str, ...] = ()
    number: int | None = None
    made: float | None = None
    content: Mapping[str, Any] | None = None
    programs_rank: bool = False
    """Whether ranks go by what programs alone have measured, because nothing vouches for the judges."""

    @property
    def may_rank(self) -> bool:
        """Whether R ranks."""
        return self.state in ("certified", "programs", "imported")

    @property
    def ranks_by(self) -> Literal["R", "programs"] | None:
        return "R" if self.may_rank else "programs" if self.programs_rank else None


NOT_CERTIFIED = Standing("none")


@dataclass(frozen=True)
class MetricRow:
    """One metric of a row."""

    weight: float
    mean: float | None
    variance: float | None
    judges: Mapping[str, float | None]
    abstained: int
    unrated: int
    uncounted: tuple[str, ...] = ()
    """Judges whose word weighs nothing."""
    raw: float | None = None
    """Of a metric that is earned: its score as it is stored. `mean` is what was earned of it."""
    earned: float | None = None
    """The share of it that was earned; of several runs, `raw` and `earned` are means of theirs."""


@dataclass(frozen=True)
class GroupRating:
    """The rating of runs that belong together, such as those of a cell."""

    R: float | None
    R_pen: float | None
    interval: tuple[float, float] | None
    rated: int
    metrics: Mapping[str, MetricRow]


@dataclass(frozen=True)
class Row:
    """A rating: of a run, of a cell (`eval` set), or of a contestant over evals (`eval` None)."""

    agent: str
    model: str
    provider: str
    eval: str | None
    R: float | None = None
    R_pen: float | None = None
    interval: tuple[float, float] | None = None
    planned: int = 0
    rated: int = 0
    failed: int = 0
    errored: int = 0
    metrics: Mapping[str, MetricRow] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    sandbox: str | None = None
    run: str | None = None
    episode: int | None = None
    outcome: str | None = None
    reason: str | None = None
    imported: str | None = None
    """Where its results were imported from; None for what orvl has run."""
    errors: Mapping[str, int] = field(default_factory=dict)
    """Why runs are errored, and how many for each reason."""
    carried_out: int = 0
    """Runs that finished or failed: those that the usage is of."""
    cost_per_run: Spending | None = None
    seconds_per_run: Spending | None = None
    """Means over evals, each the mean of its runs; None where one is unknown."""
    evals: int = 1
    families: int = 1
    """Families of evals, where related evals count as one; else the number of evals."""
    unrated_evals: tuple[str, ...] = ()
    rank: int | None = None
    """One more than the number of contestants that are better beyond chance; None where nothing is certified, or where
    it has six evals in common with nobody."""
    calibrated: float | None = None
    floor: float | None = None
    """What the empty control gets on the same evals."""
    is_elsewhere: bool = False
    """Whether it was rated on other evals than the rows that are ranked."""
    one_judge_less: tuple[float, float] | None = None
    """The lowest and highest R when one judge is left out."""
    other_families: float | None = None
    """R without judges of the same family as the contestant's model, where there are such."""
    scoring: str | None = None
    """Of a cell: a fingerprint of its eval, metrics, judges and weights."""

    @property
    def contestant(self) -> tuple[str, str, str]:
        return self.agent, self.model, self.provider

    @property
    def above_floor(self) -> float | None:
        """R from the floor up, as a share of what there is above it."""
        if self.R is None or self.floor is None or self.floor >= 1:
            return None
        return (self.R - self.floor) / (1 - self.floor)

    @property
    def missing(self) -> tuple[str, ...]:
        """Metrics that weigh something and could not be rated on every run, and evals that could not be rated."""
        metrics = (name for name, metric in self.metrics.items() if metric.weight and metric.unrated)
        return (*metrics, *(f"eval {name}" for name in self.unrated_evals))


@dataclass(frozen=True)
class Scores:
    """The tables S of runs, stacked (runs × judges × metrics), and how they are weighed."""

    layout: Layout
    metric_weights: Sequence[float]
    judge_weights: Sequence[float]
    S: NDArray[np.float64]
    earned: Earned | None = None
    """What of efficiency these runs have earned: it is in S already."""


def masked(scores: Scores, quorum: float) -> NDArray[np.float64]:
    """S with judged metrics that too few judges answered taken out."""
    S, judged = scores.S, np.asarray(scores.layout.judged)
    w = np.asarray(scores.judge_weights, dtype=float)
    if not w.any():
        return np.where(judged, np.nan, S)
    if all_known(S):
        return S
    answered = (~np.isnan(S) * (w / w.sum())[:, None]).sum(axis=-2)
    below = (answered < quorum - 1e-12) & judged
    if not below.any():
        return S
    return np.where(below[:, None, :], np.nan, S)


def rate_groups(sizes: Sequence[int], scores: Scores, rules: Rules) -> tuple[list[GroupRating], NDArray[np.float64]]:
    """The rating of the first `sizes[0]` runs, and so on; and R of each run."""
    S = masked(scores, rules.quorum)
    weights = np.asarray(scores.metric_weights, dtype=float)
    judges = scores.judge_weights if any(scores.judge_weights) else [1.0] * len(scores.judge_weights)
    rating = rate(S, judges, weights, rules.penalty, variance=rules.variance)
    group = Groups(sizes)
    R, rated = group.mean(rating.R)
    R_pen, _ = group.mean(rating.R_pen)
    intervals = run_intervals(rating.R, group.sizes).tolist()
    metrics = _metrics(scores, group, rating, weights / weights.sum())
    ratings = [
        GroupRating(
            R=mean if number else None,
            R_pen=penalized if number else None,
            interval=(low, high) if number > 1 else None,
            rated=number,
            metrics=of_metrics,
        )
        for mean, penalized, (low, high), number, of_metrics in zip(
            R.tolist(), R_pen.tolist(), intervals, rated.tolist(), metrics, strict=True
        )
    ]
    return ratings, rating.R


def _metrics(scores: Scores, group: Groups, rating: Rating, weights: NDArray[np.float64]) -> list[dict[str, MetricRow]]:
    """Of each group, by metric."""
    means, answered = group.mean(rating.means)
    variances, _ = group.mean(rating.variances)
    by_judge, told = group.mean(scores.S)
    judges = [name for name, _ in scores.layout.judges]
    took = _earned(scores.earned, group)
    rows: list[dict[str, MetricRow]] = [{} for _ in group.sizes]
    for j, ((name, _), judged) in enumerate(zip(scores.layout.metrics, scores.layout.judged, strict=True)):
        asked = [i for i, judge in enumerate(judges) if judged and judge]
        names, uncounted = [judges[i] for i in asked], tuple(judges[i] for i in asked if not scores.judge_weights[i])
        columns = zip(
            _known(means[:, j]),
            _known(variances[:, j]),
            zip(*(_known(by_judge[:, i, j]) for i in asked), strict=True) if asked else [()] * len(rows),
            (len(asked) * group.sizes - told[:, asked, j].sum(axis=1)).tolist(),
            (group.sizes - answered[:, j]).tolist(),
            took.get(j) or [(None, None)] * len(rows),
            strict=True,
        )
        for row, (mean, variance, of_judges, abstained, unrated, (raw, share)) in zip(rows, columns, strict=True):
            per_judge = dict(zip(names, of_judges, strict=True))
            row[name] = MetricRow(
                float(weights[j]), mean, variance, per_judge, abstained, unrated, uncounted, raw, share
            )
    return rows


def _earned(earned: Earned | None, group: Groups) -> dict[int, list[tuple[float | None, float | None]]]:
    """By column of S, of each group: the score as it is stored, and the share of it that was earned."""
    if earned is None:
        return {}
    raw, share = (_known_columns(group.mean(values)[0]) for values in (earned.raw, earned.share[:, None]))
    return {column: list(zip(raw[place], share[0], strict=True)) for place, column in enumerate(earned.columns)}


def _known_columns(values: NDArray[np.float64]) -> list[list[float | None]]:
    return [_known(values[:, place]) for place in range(values.shape[1])]


class Groups:
    """Stretches of a stacked array, one per row."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = np.asarray(sizes)
        self._starts = np.cumsum(self.sizes) - self.sizes

    def sum(self, values: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.add.reduceat(values, self._starts, axis=0))

    def mean(self, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """The mean of each stretch over what is known, and how much that is."""
        if all_known(values):
            sizes = self.sizes.reshape(-1, *[1] * (values.ndim - 1))
            sums = self.sum(values)
            return sums / sizes, np.broadcast_to(sizes, sums.shape)
        known = ~np.isnan(values)
        counts = self.sum(known.astype(np.int64))
        with np.errstate(invalid="ignore"):
            return self.sum(np.where(known, values, 0.0)) / counts, counts

    def mean_over(self, values: NDArray[np.float64], runs: NDArray[np.int64]) -> NDArray[np.float64]:
        """The same where each value stands for so many runs."""
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore"):
            return np.asarray(self.sum(np.where(known, values * runs, 0.0)) / self.sum(known * runs))


def _known(values: NDArray[np.float64]) -> list[float | None]:
    """NaN is None."""
    return [None if value != value else value for value in values.tolist()]


def over_evals(
    cells: Iterable[Row],
    common: Common | None = None,
    families: Callable[[Sequence[str]], Sequence[str] | None] = lambda _: None,
) -> list[Row]:
    """One row per contestant: the plain mean over evals, each the mean of its episodes; with `common`, over the evals
    that rows have in common. `families` gives the families of evals, where any are related."""
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    for cell in cells:
        groups[cell.agent, cell.model, cell.provider].append(cell)
    counted = [_counted(names, rows, common) for names, rows in groups.items()]
    evals = list(dict.fromkeys(cell.eval or "" for rows in counted for cell in rows))
    place = {name: i for i, name in enumerate(evals)}
    table = np.full((len(groups), len(evals)), np.nan)
    for i, rows in enumerate(counted):
        for cell in rows:
            table[i, place[cell.eval or ""]] = np.nan if cell.R is None else cell.R
    related = families(evals)
    # All at once: one by one, a board of a hundred contestants would take a second.
    intervals = mean_intervals(table, families=related).tolist()
    return [
        replace(
            _contestant(names, rows, those),
            interval=None if low != low else (low, high),
            families=len({related[place[c.eval or ""]] if related else c.eval for c in those if c.R is not None}),
            is_elsewhere=common is not None and names in common.elsewhere,
        )
        for (names, rows), those, (low, high) in zip(groups.items(), counted, intervals, strict=True)
    ]


def _counted(names: tuple[str, str, str], cells: list[Row], common: Common | None) -> list[Row]:
    """The cells that a row's rating is over."""
    if common is None or common.evals is None or names not in common.own:
        return cells
    return [cell for cell in cells if common.counts(names, cell.eval or "")]


def _contestant(names: tuple[str, str, str], cells: list[Row], counted: list[Row]) -> Row:
    R = [cell.R for cell in counted if cell.R is not None]
    R_pen = [cell.R_pen for cell in counted if cell.R_pen is not None]
    sandboxes = {name for cell in cells for name in (cell.sandbox or "").split(",") if name}
    metrics = dict.fromkeys(name for cell in counted for name in cell.metrics)
    return Row(
        *names,
        eval=None,
        R=float(np.mean(R)) if R else None,
        R_pen=float(np.mean(R_pen)) if R else None,
        planned=sum(cell.planned for cell in cells),
        rated=sum(cell.rated for cell in cells),
        failed=sum(cell.failed for cell in cells),
        errored=sum(cell.errored for cell in cells),
        metrics={
            name: _pooled([cell.metrics[name] for cell in counted if name in cell.metrics], len(R)) for name in metrics
        },
        usage=add_usage(cell.usage for cell in cells),
        carried_out=sum(cell.carried_out for cell in cells),
        cost_per_run=_per_run(counted, "cost_usd"),
        seconds_per_run=_per_run(counted, "seconds"),
        sandbox=",".join(sorted(sandboxes)) or None,
        imported=", ".join(sorted({cell.imported for cell in cells if cell.imported})) or None,
        **why_errored(_added(cell.errors for cell in cells)),
        evals=len(R),
        unrated_evals=tuple(cell.eval or "" for cell in counted if cell.R is None) if R else (),
    )


def _per_run(cells: Iterable[Row], what: str) -> Spending | None:
    """What a run takes, eval by eval; an eval of which that is unknown makes the whole unknown."""
    ran = [(cell.usage.get(what), cell.carried_out) for cell in cells if cell.carried_out]
    if any(value is None for value, _ in ran):
        return None
    return spending([(value or 0.0) / runs for value, runs in ran])


def why_errored(errors: Mapping[str, int]) -> dict[str, Any]:
    """The fields of a row that say why runs of it are errored: all reasons, and the most frequent as a sentence."""
    if not errors:
        return {}
    reason, number = max(errors.items(), key=lambda pair: pair[1])
    total = sum(errors.values())
    return {"errors": errors, "reason": reason if number == total == 1 else f"{number} of {total} errored: {reason}"}


def _added(tallies: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for tally in tallies:
        for reason, number in tally.items():
            total[reason] = total.get(reason, 0) + number
    return total


def _pooled(rows: list[MetricRow], evals: int) -> MetricRow:
    judges = dict.fromkeys(name for row in rows for name in row.judges)
    return MetricRow(
        weight=sum(row.weight for row in rows) / max(evals, 1),
        mean=_plain_mean(row.mean for row in rows),
        variance=_plain_mean(row.variance for row in rows),
        judges={name: _plain_mean(row.judges.get(name) for row in rows) for name in judges},
        abstained=sum(row.abstained for row in rows),
        unrated=sum(row.unrated for row in rows),
        uncounted=tuple(dict.fromkeys(name for row in rows for name in row.uncounted)),
        raw=_plain_mean(row.raw for row in rows),
        earned=_plain_mean(row.earned for row in rows),
    )


def _plain_mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def add_usage(usages: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums; a sum with an unknown part is unknown."""
    usages = [usage for usage in usages if usage]
    total: dict[str, Any] = {}
    for name in USAGE:
        values = [usage.get(name) for usage in usages]
        total[name] = None if not values or any(value is None for value in values) else sum(values)
    sources = {usage["cost_source"] for usage in usages if usage["cost_source"]}
    total["cost_source"] = ",".join(sorted(sources)) or None
    total["is_bound"] = any(usage.get("is_bound") for usage in usages)
    return total
