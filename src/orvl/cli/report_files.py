"""The files that `orvl report` writes beside what it prints."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING

from orvl.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate

LEAST = 4_000
"""Bytes below which a summary is not worth its place."""


def write_junit(path: Path, rows: Sequence[Row], board: Board, gate: Gate) -> None:
    from orvl.report.junit import as_junit

    _write("--junit", path, as_junit(rows, board, gate))


def write_markdown(target: str | None, summary: Path | None, rows: Sequence[Row], board: Board, gate: Gate) -> None:
    """To a file or standard output, and after what a step has written into its summary already."""
    from orvl.report.markdown import COMMENT, SUMMARY, as_markdown

    if target == "-":
        sys.stdout.write(as_markdown(rows, board, gate, COMMENT))
    elif target:
        _write("--md", Path(target), as_markdown(rows, board, gate, COMMENT).encode())
    if summary is None:
        return
    try:
        with summary.open("ab") as file:
            room = SUMMARY - file.tell()
            if room < LEAST:
                sys.stderr.write(
                    "The step's summary is full: GitHub takes 1 MiB. See this one with: orvl report --md -\n"
                )
                return
            file.write(f"\n{as_markdown(rows, board, gate, room - 1)}".encode())
    except OSError as error:
        raise _cannot_write("--github", summary, error) from None


def step_summary() -> Path:
    """The file that GitHub Actions shows as a step's summary."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        raise UserError(
            "--github needs GITHUB_STEP_SUMMARY, which GitHub Actions sets. Elsewhere: orvl report --md FILE"
        )
    return Path(path)


def _write(flag: str, path: Path, data: bytes) -> None:
    """A file is complete or absent; a link, a pipe or a device is written to and stays what it is."""
    from orvl.store.beneath import replacing

    try:
        is_file = not os.path.lexists(path) or S_ISREG(path.lstat().st_mode)
        with replacing(path) if is_file else path.open("wb") as file:
            file.write(data)
    except OSError as error:
        raise _cannot_write(flag, path, error) from None


def _cannot_write(flag: str, path: Path, error: OSError) -> UserError:
    return UserError(f"{flag} {path} cannot be written: {(error.strerror or str(error)).lower()}.")
