"""The leaderboard's columns, from which its table, JSON and CSV are made: a new column is a new entry here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from orvl.project.names import count
from orvl.report.text import dollars, known_usage, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.rate.board import MetricRow, Row
    from orvl.rate.stats.spending import Spending

T = TypeVar("T")
UNKNOWN = "–"
VISIBLE_FLOOR = 0.0005


@dataclass(frozen=True)
class Column(Generic[T]):
    """One fact about each row: `value` under `name` in JSON and CSV, `cell` under `heading` in a table."""

    name: str = ""
    """Empty: in tables only."""
    value: Callable[[T], Any] = lambda _: None
    heading: str = ""
    """Empty: in JSON and CSV only."""
    cell: Callable[[T], str] = lambda _: ""
    rows: Literal["all", "contestants", "cells", "runs"] = "all"
    """Which rows have it in JSON and CSV."""
    when: Callable[[Sequence[T]], bool] = lambda _: True
    """Whether a table of these rows shows it."""
    legend: Callable[[Sequence[T]], str] = lambda _: ""
    """What the table's heading means."""
    words: bool = False
    """Text, which is aligned to the left and may wrap."""
    bold: bool = False
    key: bool = False
    """Whether it tells a table's rows apart."""
    below: bool = False
    """Put below the others first where the terminal is too narrow."""
    unseen: str = ""
    """What a legend calls it where no row has anything of it."""


def leaderboard(rows: Sequence[Row], penalty: float) -> list[Column[Row]]:
    """In the order in which they are shown."""
    return [
        Column(
            "rank",
            lambda row: row.rank,
            "#",
            lambda row: str(row.rank or UNKNOWN),
            rows="contestants",
            when=lambda rows: any(row.rank for row in rows),
            legend=lambda _: (
                "#: 1 + the number of contestants that are shown to be better; who cannot be told apart shares a rank."
            ),
        ),
        Column("run", lambda row: row.run, rows="runs"),
        Column("episode", lambda row: row.episode, rows="runs"),
        Column("outcome", lambda row: row.outcome, rows="runs"),
        Column("reason", lambda row: row.reason),
        Column("agent", lambda row: row.agent, "agent model provider", _contestant, words=True, key=True),
        Column("provider", lambda row: row.provider or None),
        Column("model", lambda row: row.model or None),
        Column("imported", lambda row: row.imported),
        Column(
            "eval",
            lambda row: row.eval,
            "eval",
            lambda row: plain(row.eval or ""),
            when=lambda rows: any(row.eval for row in rows),
            words=True,
            key=True,
        ),
        Column(
            heading="run",
            cell=lambda row: (row.run or "")[:12],
            when=lambda rows: any(row.run for row in rows),
            key=True,
        ),
        Column(
            "R",
            lambda row: row.R,
            "R",
            lambda row: _number(row.R) + ("*" if row.missing else "") + ("°" if row.is_elsewhere else ""),
            legend=_R_legend,
            bold=True,
        ),
        Column(
            "R_pen",
            lambda row: row.R_pen,
            "R_pen",
            lambda row: _number(row.R_pen),
            legend=lambda _: f"R_pen: R minus {penalty:g} × the judges' variance.",
        ),
        Column(
            "interval",
            lambda row: list(row.interval) if row.interval else None,
            "95 %",
            lambda row: f"{row.interval[0]:.2f}–{row.interval[1]:.2f}" if row.interval else UNKNOWN,
            when=lambda rows: any(row.interval for row in rows),
            legend=_interval_legend,
        ),
        Column("families", lambda row: row.families, rows="contestants"),
        Column("penalty", lambda _: penalty),
        Column(
            "calibrated",
            lambda row: row.calibrated,
            "calibrated",
            lambda row: _number(row.calibrated),
            rows="contestants",
            when=lambda rows: any(row.calibrated is not None for row in rows),
            legend=lambda _: "Calibrated: R with each judge's scores on a common scale (orvl calibrate).",
        ),
        Column("floor", lambda row: row.floor, rows="contestants"),
        Column(
            "above_floor",
            lambda row: row.above_floor,
            "above floor",
            lambda row: _number(row.above_floor),
            rows="contestants",
            # Where doing nothing earns nothing, R counts from 0 already.
            when=lambda rows: any(row.above_floor is not None and (row.floor or 0) >= VISIBLE_FLOOR for row in rows),
            legend=lambda _: "Above floor: R measured from what the empty control gets on the same evals.",
        ),
        Column("one_judge_less", lambda row: _list(row.one_judge_less), rows="contestants"),
        Column("other_families", lambda row: row.other_families, rows="contestants"),
        Column("metrics", lambda row: {name: _metric(metric) for name, metric in row.metrics.items()}),
        *_metric_columns(rows),
        Column("missing", lambda row: list(row.missing)),
        Column(
            "runs",
            lambda row: {name: getattr(row, name) for name in ("planned", "rated", "failed", "errored")},
            "runs",
            lambda row: f"{row.rated}/{row.failed}/{row.errored}/{row.planned}",
            legend=lambda _: "Runs: rated / failed / errored / planned.",
        ),
        Column("usage", lambda row: known_usage(row.usage) or None),
        Column("cost_per_run", lambda row: _spending(row.cost_per_run), rows="contestants"),
        Column("seconds_per_run", lambda row: _spending(row.seconds_per_run), rows="contestants"),
        Column(heading="time", cell=_time),
        Column(heading="spent", cell=_cost),
        Column("sandbox", lambda row: row.sandbox),
        Column("scoring", lambda row: row.scoring, rows="cells"),
    ]


def _metric_columns(rows: Sequence[Row]) -> list[Column[Row]]:
    """The mean of each metric that counts, those that weigh most first."""
    weights: dict[str, float] = {}
    for row in rows:
        for name, metric in row.metrics.items():
            weights[name] = max(weights.get(name, 0), metric.weight)

    def column(name: str) -> Column[Row]:
        return Column(heading=name, cell=lambda row: _mean(row.metrics.get(name)), below=True)

    counting = [name for name, weight in weights.items() if weight]
    return [column(name) for name in sorted(counting, key=lambda name: -weights[name])]


def _metric(metric: MetricRow) -> dict[str, Any]:
    earned = ("raw", "earned") if metric.earned is not None or metric.raw is not None else ()
    names = ("weight", "mean", "variance", "judges", "abstained", "unrated", *earned)
    return {name: getattr(metric, name) for name in names}


def _R_legend(rows: Sequence[Row]) -> str:
    apart = " °: on other evals, not ranked." if any(row.is_elsewhere for row in rows) else ""
    return f"R, from 0 to 1: the weighted mean of the metrics.{apart}"


def _interval_legend(rows: Sequence[Row]) -> str:
    by_eval = any(row.eval for row in rows)
    noun = "run" if by_eval else "eval"
    counts = {row.rated if by_eval else row.evals for row in rows if row.interval}
    over = count(counts.pop(), noun) if len(counts) == 1 else f"its {noun}s"
    families = {row.families for row in rows if row.interval and row.eval is None and row.families < row.evals}
    related = f" in {', '.join(map(str, sorted(families)))} families" if families else ""
    return f"95 %: the confidence interval of R, over {over}{related}."


def _contestant(row: Row) -> str:
    return plain(f"{row.agent} {row.model or UNKNOWN} {row.provider or UNKNOWN}")


def _list(pair: tuple[float, float] | None) -> list[float] | None:
    return list(pair) if pair else None


def _spending(found: Spending | None) -> dict[str, Any] | None:
    return None if found is None else {"mean": found.mean, "interval": _list(found.interval), "evals": found.evals}


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"


def _mean(metric: MetricRow | None) -> str:
    return UNKNOWN if metric is None or metric.mean is None else f"{metric.mean:.2f}"


def _cost(row: Row) -> str:
    cost = row.usage.get("cost_usd")
    return f"≤ {dollars(cost)}" if cost is not None and row.usage.get("is_bound") else dollars(cost)


def _time(row: Row) -> str:
    taken = row.usage.get("seconds")
    return UNKNOWN if taken is None else seconds(taken)
