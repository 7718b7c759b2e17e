"""The files that `orvl report` and a run write beside what they print, for CI."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any

import click

from orvl.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate
    from orvl.trust.section import Trust

LEAST = 4_000
"""Bytes below which a summary is not worth its place."""


FLAGS = (
    click.option("--md", metavar="FILE|-", help="Write a Markdown summary, of 64 kB at most; - is standard output."),
    click.option("--github", is_flag=True, help="Add the Markdown summary to that of the GitHub Actions step."),
    click.option("--junit", metavar="FILE", help="Write JUnit XML: a suite per contestant, a case per eval."),
)


def file_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(FLAGS):
        function = option(function)
    return function


@dataclass(frozen=True)
class ReportFiles:
    """What is written, and where to."""

    md: str | None = None
    junit: Path | None = None
    summary: Path | None = None
    """The summary of a GitHub Actions step."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> ReportFiles:
        """Refuses what cannot be written, before anything is done for it."""
        for flag in ("junit", "md"):
            if given[flag] == "":
                raise UserError(f"--{flag} is empty: name a file, or leave the flag out.")
            if given[flag] and given[flag] != "-" and not Path(given[flag]).parent.is_dir():
                folder = Path(given[flag]).parent
                raise UserError(f"--{flag} {given[flag]} cannot be written: there is no folder {folder}.")
        junit = Path(given["junit"]) if given["junit"] else None
        return cls(given["md"], junit, step_summary() if given["github"] else None)

    @property
    def are_wanted(self) -> bool:
        return any((self.md, self.junit, self.summary))

    @property
    def take_standard_output(self) -> bool:
        return self.md == "-"

    def write(self, rows: Sequence[Row], board: Board, gate: Gate) -> None:
        if self.junit:
            write_junit(self.junit, rows, board, gate)
        if self.md or self.summary:
            write_markdown(self.md, self.summary, rows, board, gate)


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


def write_pictures(files: Mapping[str, str | None], rows: Sequence[Row], board: Board, beside: Trust | None) -> None:
    """The board as --svg and --png, and the first contestant as --badge."""
    from orvl.web.badge import badge_json, badge_svg
    from orvl.web.board_picture import BoardPicture
    from orvl.web.pages.board import RatedRows

    picture = BoardPicture(rows, RatedRows(board, rows, beside).best, board.standing)
    if path := files["svg"]:
        _write("--svg", Path(path), picture.svg().encode())
    if path := files["png"]:
        _write("--png", Path(path), picture.png())
    if path := files["badge"]:
        badge = badge_json if path.endswith(".json") else badge_svg
        _write("--badge", Path(path), badge(rows, board.standing).encode())


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
