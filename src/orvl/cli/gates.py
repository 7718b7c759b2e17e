"""--fail-under and --baseline: what a report is held against, and the exit status that comes of it."""

from __future__ import annotations

import os
import subprocess
import sys
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.errors import UserError
from orvl.project.names import closest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.plan.selection import Selection
    from orvl.project import Project
    from orvl.rate.baseline import Baseline
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate
    from orvl.store import StoredCell
    from orvl.store.rows import Names

FAILED, NOT_RATED = 4, 1
"""Exit statuses (docs/command-line.md)."""
GIT_SECONDS = 60
MOST_BYTES = 256 << 20


def gate_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    under = click.option(
        "--fail-under",
        type=click.FloatRange(0, 1),
        callback=_a_number,
        metavar="R",
        help="Exit with status 4 if a row's R is below.",
    )
    baseline = click.option(
        "--baseline",
        metavar="FILE|REF:PATH",
        help="Exit with status 4 if a contestant is worse than in this earlier JSON report, beyond chance.",
    )
    return under(baseline(function))


def _a_number(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    """NaN is between 0 and 1 for click, and nothing is below it."""
    if value is not None and isnan(value):
        raise UserError("--fail-under nan is not a rating: give a number from 0 to 1.")
    return value


def gate_of(
    board: Board,
    selection: Selection,
    under: float | None,
    baseline: Baseline | None,
    rows: Sequence[Row] | None = None,
    not_run: Sequence[Row] = (),
) -> Gate:
    """How rows stand, those of contestants where none are given. Controls count only where agents are named."""
    from orvl.rate.baseline import against_baseline
    from orvl.rate.gate import Gate, held, with_not_run

    exempt = board.controls if selection.agent == "all" else frozenset()
    not_run = tuple(cell for cell in not_run if cell.agent not in exempt)
    if under is None and baseline is None:
        return Gate(exempt=exempt, not_run=not_run)
    kept = [row for row in (board.contestants if rows is None else rows) if row.agent not in exempt]
    kept, cells = with_not_run(kept, not_run), [*board.cells, *not_run]
    return Gate(
        under,
        () if under is None else held(kept, cells, under),
        baseline,
        () if baseline is None else against_baseline(kept, cells, baseline, board.gathered.panels),
        exempt,
        not_run,
    )


def not_run_of(
    project: Project,
    cells: Sequence[StoredCell],
    keep: Callable[[Names], bool],
    metrics: Mapping[str, bool] | None,
    board: Board,
) -> list[Row]:
    """What the words mean and the report does not show, because it was not run, or its files have changed since."""
    from orvl.plan.identities import still_wanted
    from orvl.rate.board import Row

    if metrics is not None and not any(name in project.metric_files for name in metrics):
        return []  # metrics that only imported results have
    shown = {(*cell.contestant, cell.eval) for cell in board.cells}
    return [Row(*names) for names in still_wanted(project, cells) if keep(names) and names not in shown]


def status_with(gate: Gate, status: int) -> int:
    """Whoever was interrupted, could not start or had no money left says so first."""
    if status not in (0, NOT_RATED):
        return status
    return {"failed": FAILED, "undecided": NOT_RATED, "passed": status}[gate.state]


def tell(gate: Gate) -> None:
    """On standard error, for standard output belongs to a program."""
    from orvl.report.gate import gate_sentences
    from orvl.report.text import plain

    for _, sentence in gate_sentences(gate):
        sys.stderr.write(f"{plain(sentence)}\n")


def baseline_from(project: Project, word: str | None) -> Baseline | None:
    """The earlier report that --baseline names: a file, or REF:PATH in git."""
    if word is None:
        return None
    from orvl.rate.baseline import read_baseline

    return read_baseline(word, _file(word) if os.path.lexists(word) else _from_git(project, word))


def _file(word: str) -> bytes:
    try:
        with Path(word).open("rb") as file:
            return _not_too_long(word, file.read(MOST_BYTES + 1))
    except OSError as error:
        raise UserError(f"--baseline {word} cannot be read: {(error.strerror or str(error)).lower()}.") from None


def _not_too_long(word: str, data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise UserError(f"--baseline {word} is longer than {MOST_BYTES >> 20} MiB, which no report is.")
    return data


def _from_git(project: Project, word: str) -> bytes:
    """`cat-file` runs no filter, pager or program of the repository's configuration."""
    ref, colon, path = word.partition(":")
    if not (ref and colon and path) or ref.startswith("-"):
        near = closest(word, [str(one) for one in Path(word).parent.glob("*.json")])
        hint = f"Did you mean '{near}'?" if near else "Make a file with: orvl report --json > FILE"
        raise UserError(f"--baseline {word}: there is no such file, and it is not REF:PATH of git. {hint}")
    try:
        done = subprocess.run(
            ["git", "cat-file", "blob", word],
            cwd=project.root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=GIT_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise UserError(f"--baseline {word} needs git, and there is none on the PATH: apt install git") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"--baseline {word}: git gave no answer within {GIT_SECONDS} seconds.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"status {done.returncode}"]
        raise UserError(
            f"--baseline {word}: there is no such file, and git does not have it: {said[0].rstrip('.')}. "
            f"See: git ls-tree -r --name-only {ref} (in CI, fetch {ref} first)"
        )
    return _not_too_long(word, done.stdout)
