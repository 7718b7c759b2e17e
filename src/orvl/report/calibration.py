"""A calibration as text: how harsh or generous each judge is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.terminal import TextCell, TextColumn, TextTable
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.report.terminal import Terminal


LEGEND = (
    "At 0, at 1: the scores that the judge gives to work worth 0 and work worth 1.",
    "Slope: how closely its scores follow the worth; 1 is ideal.",
    "Held-out error: the error of a calibrated score on an anchor that the calibration has not seen.",
)


def print_calibration(terminal: Terminal, content: Mapping[str, Any]) -> None:
    terminal.print(_table(content["judges"]))
    terminal.print(f"Measured on {', '.join(content['metrics'])}, over {count(len(content['evals']), 'eval')}.", "dim")
    if sources := content.get("worth_from"):
        said = " and ".join(dict.fromkeys(sources.values()))
        without = [name for name in content["evals"] if name not in sources]
        other = f" Left out, since nobody knows: {', '.join(without)}." if without else ""
        terminal.print(f"What the anchors are worth comes from {said}.{plain(other)}", "dim")
    for sentence in LEGEND:
        terminal.print(sentence, "dim")
    for judge in content["judges"]:
        if judge["map"]["refused"]:
            terminal.print(f"! {plain(judge['map']['refused'])}", "yellow")


def _table(judges: Sequence[Mapping[str, Any]]) -> TextTable:
    headings = ("judge", "at 0", "at 1", "slope", "at least", "held-out error", "evals", "")
    columns = [TextColumn(name, words=name in ("judge", "")) for name in headings]
    rows: list[list[str | TextCell]] = []
    for judge in judges:
        line = judge["map"]
        ends = [None, None] if line["slope"] is None else [line["intercept"], line["intercept"] + line["slope"]]
        numbers = (*ends, line["slope"], line["slope_at_least"], judge["held_out_error"])
        word = TextCell("refused", "red") if line["refused"] else TextCell(_word(*ends))
        rows.append([plain(judge["name"]), *map(_number, numbers), str(line["evals"]), word])
    return TextTable(columns, rows)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _word(low: float | None, high: float | None) -> str:
    """Whether its scores are too low or too high on the whole."""
    if low is None or high is None:
        return ""
    middle = (low + high) / 2
    return "harsh" if middle < 0.45 else "generous" if middle > 0.55 else "even"
