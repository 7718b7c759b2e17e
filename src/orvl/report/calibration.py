"""A calibration in words: how harsh or generous each judge is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from orvl.project.names import count
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def print_calibration(console: Console, content: Mapping[str, Any]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for name in ("judge", "all bugs", "no bug", "slope", "at least", "held-out error", "evals", ""):
        table.add_column(name, justify="left" if name in ("judge", "") else "right", overflow="fold")
    for judge in content["judges"]:
        one = judge["map"]
        ends = [None, None] if one["slope"] is None else [one["intercept"], one["intercept"] + one["slope"]]
        table.add_row(
            plain(judge["name"]),
            *(_number(value) for value in (*ends, one["slope"], one["slope_at_least"], judge["held_out_error"])),
            str(one["evals"]),
            Text("refused", style="red") if one["refused"] else _word(*ends),
        )
    console.print(table)
    for sentence in (
        f"Measured on {', '.join(content['metrics'])}, over {count(len(content['evals']), 'eval')}.",
        "All bugs, no bug: what the judge gives to work that is worth 0, and 1.",
        "Slope: how far its scores follow the truth; 1 is as it should be.",
        "Held-out error: how wrong a calibrated score is on an anchor that was not used.",
    ):
        console.print(sentence, style="dim", highlight=False)
    for judge in content["judges"]:
        if judge["map"]["refused"]:
            console.print(Text(f"! {plain(judge['map']['refused'])}", style="yellow"))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _word(low: float | None, high: float | None) -> str:
    """Where its scores lie as a whole."""
    if low is None or high is None:
        return ""
    middle = (low + high) / 2
    return "harsh" if middle < 0.45 else "generous" if middle > 0.55 else "even"
