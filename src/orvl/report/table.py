"""Ratings as a table that a tired person understands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from orvl.project.names import count
from orvl.report.certificate import standing_sentence
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from orvl.rate.board import MetricRow, Row
    from orvl.rate.collect import Board

UNKNOWN = "–"


def print_ratings(console: Console, rows: Sequence[Row], board: Board, beside: Iterable[str] = ()) -> None:
    """The table, what its columns mean, what stands beside the ratings, and what is missing."""
    if not rows:
        console.print("Nothing has been run yet that fits these words.")
        _print_warnings(console, board.warnings)
        return
    ordered = sorted(rows, key=lambda row: (len(row.missing), -(row.R if row.R is not None else -1), row.agent))
    by_eval = any(row.eval for row in rows)
    table, unseen = _table(console, ordered, by_eval)
    console.print(table)
    if unseen:
        shown = f"For want of room not shown: {', '.join(unseen)}; see --json."
        console.print(shown, style="dim", highlight=False, markup=False)
    for sentence in (*_legend(rows, board.rules.penalty, by_eval), *_uncounted(ordered)):
        console.print(sentence, style="dim", highlight=False, markup=False)
    console.print(standing_sentence(board.standing), style="dim", highlight=False, markup=False)
    for sentence in beside:
        console.print(sentence, highlight=False, markup=False)
    _print_warnings(console, board.warnings)


def _uncounted(rows: Sequence[Row]) -> Iterator[str]:
    """What judges said whose word counts in no rating."""
    judges = {
        judge: [(row, name, value) for row in rows for name, value in _said(row, judge)]
        for judge in sorted({judge for row in rows for metric in row.metrics.values() for judge in metric.judges})
    }
    for judge, said in judges.items():
        if not said:
            continue
        yield f"Beside the rating, and never in it, the judge {judge} said:"
        for row in dict.fromkeys(id(row) for row, _, _ in said):
            here = [(one, name, value) for one, name, value in said if id(one) == row]
            place = f" {plain(here[0][0].eval)}" if here[0][0].eval else ""
            answers = ", ".join(f"{name} {value:.2f}" for _, name, value in here)
            yield f"  {plain(_name(here[0][0]))}{place}: {answers}"


def _said(row: Row, judge: str) -> Iterator[tuple[str, float]]:
    for name, metric in row.metrics.items():
        value = metric.judges.get(judge)
        if judge in metric.uncounted and value is not None:
            yield name, value


def _legend(rows: Sequence[Row], penalty: float, by_eval: bool) -> Iterator[str]:
    """What the columns mean, and what must not be read into them."""
    if missing := sorted({name for row in rows for name in row.missing}):
        yield f"* without {', '.join(missing)}: compare only with rows that miss the same."
    yield "R, from 0 to 1: the weighted mean of the metrics."
    yield f"R_pen: R less {penalty:g} × the judges' disagreement."
    if any(row.interval for row in rows):
        noun = "run" if by_eval else "eval"
        counts = {row.rated if by_eval else row.evals for row in rows if row.interval}
        over = count(counts.pop(), noun) if len(counts) == 1 else f"its {noun}s"
        yield f"95 %: the interval of R, over {over}."
    yield "Runs: rated / failed / errored / planned."
    if any(row.calibrated is not None for row in rows):
        yield "Calibrated: R with each judge's scores put on a common scale (orvl calibrate)."
    if _has_floor(rows):
        yield "Above floor: R counted from what the empty control gets on the same evals."
    if any(row.rank for row in rows):
        yield "#: one more than the number of contestants that are better beyond chance; equals cannot be told apart."


def _print_warnings(console: Console, warnings: Sequence[str]) -> None:
    for warning in warnings:
        console.print(Text("! " + plain(warning), style="yellow"))


def _table(console: Console, rows: Sequence[Row], by_eval: bool) -> tuple[Table, list[str]]:
    """As many metrics as there is room for, those that weigh most first, and those that there is none for."""
    columns: list[tuple[str, list[str]]] = [("agent model provider", [plain(_name(row)) for row in rows])]
    if any(row.rank for row in rows):
        columns.insert(0, ("#", [str(row.rank or UNKNOWN) for row in rows]))
    if by_eval:
        columns.append(("eval", [plain(row.eval or "") for row in rows]))
    if any(row.run for row in rows):
        columns.append(("run", [(row.run or "")[:12] for row in rows]))
    columns += [
        ("R", [_number(row.R) + ("*" if row.missing else "") for row in rows]),
        ("R_pen", [_number(row.R_pen) for row in rows]),
    ]
    if any(row.interval for row in rows):
        columns.append(("95 %", [_interval(row) for row in rows]))
    if any(row.calibrated is not None for row in rows):
        columns.append(("calibrated", [_number(row.calibrated) for row in rows]))
    if _has_floor(rows):
        columns.append(("above floor", [_number(row.above_floor) for row in rows]))
    last = [
        ("runs", [_runs(row) for row in rows]),
        ("time", [UNKNOWN if row.usage.get("seconds") is None else seconds(row.usage["seconds"]) for row in rows]),
        ("cost", [dollars(row.usage.get("cost_usd")) for row in rows]),
    ]
    room = console.width - 2 - sum(_width(column) for column in (*columns, *last))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    fitting = _metrics_that_fit(room, rows)
    shown = [*columns, *fitting, *last]
    for name, _ in shown:
        words = name in ("agent model provider", "eval")
        table.add_column(name, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for cells in zip(*(cells for _, cells in shown), strict=True):
        styled = zip(shown, cells, strict=True)
        table.add_row(*(Text(cell, style="bold" if name == "R" else "") for (name, _), cell in styled))
    named = {name for name, _ in fitting}
    counted = {name for row in rows for name, metric in row.metrics.items() if metric.weight}
    return table, sorted(counted - named)


def _has_floor(rows: Sequence[Row]) -> bool:
    """Whether doing nothing earns something; where it does not, R counts from 0 already."""
    return any(row.above_floor is not None and (row.floor or 0) >= 0.0005 for row in rows)


def _width(column: tuple[str, list[str]]) -> int:
    return max(len(text) for text in (column[0], *column[1])) + 2


def _metrics_that_fit(room: int, rows: Sequence[Row]) -> list[tuple[str, list[str]]]:
    weights: dict[str, float] = {}
    for row in rows:
        for name, metric in row.metrics.items():
            weights[name] = max(weights.get(name, 0), metric.weight)
    kept = []
    for name in sorted(weights, key=lambda name: -weights[name]):
        column = (name, [_mean(row.metrics.get(name)) for row in rows])
        room -= _width(column)
        if room < 0:
            break
        kept.append(column)
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
