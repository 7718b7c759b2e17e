"""Ratings as a table that a tired person understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from orvl.report.text import count, dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from orvl.report.board import MetricRow, Row

UNKNOWN = "–"
BASE_WIDTH = 58


def print_ratings(console: Console, rows: Sequence[Row], penalty: float, warnings: Sequence[str]) -> None:
    """The table, what its columns mean, and what is missing."""
    if not rows:
        console.print("Nothing has been run yet that fits these words.")
        return
    ordered = sorted(rows, key=lambda row: (len(row.missing), -(row.R if row.R is not None else -1), row.agent))
    by_eval = any(row.eval for row in rows)
    console.print(_table(console, ordered, by_eval))
    counts = {row.rated if by_eval else row.evals for row in rows}
    unit = ("runs" if by_eval else "evals") if len(counts) > 1 else count(counts.pop(), "run" if by_eval else "eval")
    interval = f"95 %: the interval of R over {unit}. " if any(row.interval for row in rows) else ""
    console.print(
        f"R from 0 to 1: the weighted mean of the metrics. R_pen: R less {penalty:g} × the judges' disagreement.\n"
        f"{interval}Runs: rated / failed / errored / planned.\n"
        "Not certified: no control has tested the judges, so the rows are not ranked.",
        style="dim",
        highlight=False,
    )
    for warning in warnings:
        console.print(Text("! " + plain(warning), style="yellow"))


def _table(console: Console, rows: Sequence[Row], by_eval: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    names = max((len(_name(row)) for row in rows), default=10)
    table.add_column("agent model provider", overflow="fold", min_width=min(names, 24))
    evals = max((len(row.eval or "") for row in rows), default=0)
    if by_eval:
        table.add_column("eval", overflow="fold")
    table.add_column("R", justify="right")
    table.add_column("R_pen", justify="right")
    table.add_column("95 %", justify="center", no_wrap=True)
    metrics = _metrics_that_fit(console.width - BASE_WIDTH - names - evals, rows)
    for name in metrics:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("runs", justify="right", no_wrap=True)
    table.add_column("time", justify="right", no_wrap=True)
    table.add_column("cost", justify="right", no_wrap=True)
    for row in rows:
        shown = [Text(plain(_name(row)))]
        shown += [Text(plain(row.eval or ""))] if by_eval else []
        shown += [Text(_number(row.R) + ("*" if row.missing else ""), style="bold"), Text(_number(row.R_pen))]
        shown += [Text(_interval(row))]
        shown += [Text(_mean(row.metrics.get(name))) for name in metrics]
        used = row.usage.get("seconds")
        shown += [Text(_runs(row)), Text(seconds(used) if used is not None else UNKNOWN)]
        shown += [Text(dollars(row.usage.get("cost_usd")))]
        table.add_row(*shown)
    if any(row.missing for row in rows):
        missing = sorted({name for row in rows for name in row.missing})
        table.caption = f"* without {', '.join(missing)}: compare only with rows that miss the same"
        table.caption_justify = "left"
    return table


def _metrics_that_fit(room: int, rows: Sequence[Row]) -> list[str]:
    """The metrics that weigh most, as many as there is room for, in their own order."""
    weights: dict[str, float] = {}
    for row in rows:
        for name, metric in row.metrics.items():
            weights[name] = max(weights.get(name, 0), metric.weight)
    kept = []
    for name in sorted(weights, key=lambda name: -weights[name]):
        room -= max(len(name), 4) + 2
        if room < 0:
            break
        kept.append(name)
    return kept


def _name(row: Row) -> str:
    return f"{row.agent} {row.model} {row.provider}"


def _number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3f}"


def _interval(row: Row) -> str:
    return UNKNOWN if row.interval is None else f"{row.interval[0]:.2f}–{row.interval[1]:.2f}"


def _mean(metric: MetricRow | None) -> str:
    return UNKNOWN if metric is None or metric.mean is None else f"{metric.mean:.2f}"


def _runs(row: Row) -> str:
    return f"{row.rated}/{row.failed}/{row.errored}/{row.planned}"
