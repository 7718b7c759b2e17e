"""Runs of files that have changed since, as a table and as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from orvl.report.terminal import TextCell, TextColumn, TextTable
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.history import PastRow
    from orvl.report.terminal import Terminal


def history_json(rows: Sequence[PastRow]) -> list[dict[str, Any]]:
    return [
        {
            **dict(zip(("agent", "model", "provider", "eval"), row.names, strict=True)),
            "version": row.version,
            "R": row.R,
            "runs": row.runs,
            "first": row.first,
            "last": row.last,
            "changed": list(row.changed),
            "keys": list(row.keys),
        }
        for row in rows
    ]


def print_history(terminal: Terminal, rows: Sequence[PastRow]) -> None:
    if not rows:
        terminal.print("No history: every stored run is of the files as they are now.")
        return
    terminal.print("History: runs of files that have changed since, no part of any rating above.", "bold")
    headings = ("agent model provider", "eval", "R", "runs", "last run", "key", "changed since")
    columns = [
        TextColumn(name, words=place in (0, 1, 6), key=place in (0, 1, 5)) for place, name in enumerate(headings)
    ]
    cells: list[list[str | TextCell]] = [
        [
            plain(" ".join(row.names[:3])),
            plain(row.names[3]),
            "–" if row.R is None else f"{row.R:.3f}",
            str(row.runs),
            datetime.fromtimestamp(row.last).strftime("%Y-%m-%d %H:%M"),
            row.keys[-1][:12],
            TextCell(plain(", ".join(row.changed) or "nothing that is known")),
        ]
        for row in rows
    ]
    terminal.print(TextTable(columns, cells))
