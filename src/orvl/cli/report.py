"""`orvl report`: ratings of what the store holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console, five_words, open_to_read, selection_from, where
from orvl.cli.gates import baseline_from, gate_flags, gate_of, not_run_of, status_with, tell
from orvl.cli.report_files import ReportFiles, file_flags, write_pictures
from orvl.errors import UserError, disk_sentence
from orvl.plan.selection import ORDER, chosen_metrics, stored_matcher
from orvl.project import open_project
from orvl.store.beneath import replacing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.plan.selection import Selection
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate
    from orvl.rate.history import PastRow
    from orvl.trust.section import Trust


PICTURES = ("svg", "png", "badge")


@dataclass(frozen=True)
class _Report:
    """What there is to print."""

    rows: Sequence[Row]
    board: Board
    beside: Trust | None
    past: Sequence[PastRow]
    gate: Gate


@click.command()
@five_words
@click.option(
    "--by",
    type=click.Choice(["agent", "eval", "run"]),
    default="agent",
    help="One row per agent × model × provider, cell, or run.",
)
@click.option("--judge", multiple=True, metavar="NAME", help="Rate with these judges' scores only.")
@click.option("--matrix", is_flag=True, help="Agents × evals, with R in each place.")
@click.option("--history", "past", is_flag=True, help="Also runs of files that have changed since, and what changed.")
@gate_flags
@as_json
@click.option("--csv", "csv_", is_flag=True, help="Write CSV to standard output.")
@file_flags
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the viewer's parts into one file.")
@click.option(
    "--size",
    default="10MB",
    metavar="SIZE",
    help="With --html: the largest file (default: 10MB).",
)
@click.option(
    "--without",
    default="",
    metavar="PARTS",
    help="With --html: leave out steps, diffs or pictures (commas between them).",
)
@click.option("--svg", metavar="FILE", help="Draw the board as SVG.")
@click.option("--png", metavar="FILE", help="Draw the board as PNG; needs Chromium.")
@click.option("--badge", metavar="FILE", help="Write R as a badge: SVG, or JSON for shields.io if FILE ends so.")
@where
def command(**given: Any) -> int:
    """Print ratings of what has been run, of the agents' and evals' files as they are now.

    Weights and penalty are those of the project as it is now: changing them re-rates at once, without scoring again.
    """
    from orvl.rate.history import history
    from orvl.trust.rated_board import rated_board

    words = selection_from(given)
    if given["html"]:
        return _write_html(given, words)
    _refuse(given)
    files = ReportFiles.of(given)
    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])
    baseline = baseline_from(project, given["baseline"])

    with open_to_read(project, given["store"]) as store:
        cells = store.cells()
        keep = stored_matcher(project, words, [cell.names for cell in cells])
        metrics = chosen_metrics(project, words, cells)
        by_run = given["by"] == "run" or files.junit is not None
        board, rows, beside = rated_board(project, store, keep, given["judge"], metrics, given["by"], by_run=by_run)
        past = history(project, store, keep, given["judge"], metrics) if given["past"] else []
    not_run = not_run_of(project, cells, keep, metrics, board) if _is_for_ci(given) else []
    gate = gate_of(board, words, given["fail_under"], baseline, rows, not_run)
    files.write(rows, board, gate)
    if any(given[flag] for flag in PICTURES):
        write_pictures({flag: given[flag] for flag in PICTURES}, rows, board, beside)
    _print(given, out, _Report(rows, board, beside, past, gate))
    return status_with(gate, 0)


def _is_for_ci(given: dict[str, Any]) -> bool:
    """Whether what is missing counts, too. A threshold of 0 is one."""
    files = ("fail_under", "baseline", "junit", "md")
    return given["github"] or any(given[flag] is not None for flag in files)


def _refuse(given: dict[str, Any]) -> None:
    for flag in PICTURES:
        if given[flag] == "":
            raise UserError(f"--{flag} is empty: name a file, or leave the flag out.")
    if given["by"] != "agent" and (drawn := next((flag for flag in PICTURES if given[flag]), None)):
        raise UserError(f"--{drawn} shows contestants: leave out --by.")
    if given["csv_"] and given["json_"]:
        raise UserError("--json and --csv exclude each other.")
    if given["csv_"] and (given["past"] or given["matrix"]):
        raise UserError("--csv has neither --matrix nor --history. See: orvl export runs FILE --history")
    if given["md"] == "-" and (given["json_"] or given["csv_"]):
        raise UserError("--md - writes to standard output, as --json and --csv do. Give it a file: --md FILE")


def _print(given: dict[str, Any], out: JsonOut | None, report: _Report) -> None:
    """The form that standard output gets; how the gate stands goes there with a table, else to standard error."""
    if out:
        out.write(_json(given, report))
    elif given["csv_"]:
        from orvl.report.ratings_csv import as_csv

        click.echo(as_csv(report.rows, report.board), nl=False)
    elif given["md"] != "-":
        _print_tables(given, report)
        return
    tell(report.gate)


def _json(given: dict[str, Any], report: _Report) -> dict[str, Any]:
    from orvl.report.gate import gate_json
    from orvl.report.history import history_json
    from orvl.report.matrix import matrix_json
    from orvl.report.ratings_json import report_json

    more: dict[str, Any] = {"history": history_json(report.past)} if given["past"] else {}
    more |= {"matrix": matrix_json(report.board)} if given["matrix"] else {}
    return report_json(report.rows, report.board, report.beside, given["by"], **more, **gate_json(report.gate))


def _print_tables(given: dict[str, Any], report: _Report) -> None:
    from orvl.report.gate import print_gate
    from orvl.report.history import print_history
    from orvl.report.matrix import print_matrix
    from orvl.report.table import print_ratings
    from orvl.report.trust_text import sentences

    terminal, board, beside = console(), report.board, report.beside
    if given["matrix"]:
        print_matrix(terminal, board)
    else:
        print_ratings(terminal, report.rows, board, sentences(beside, board.standing) if beside else ())
    if given["past"]:
        print_history(terminal, report.past)
    print_gate(terminal, report.gate)


def _write_html(given: dict[str, Any], words: Selection) -> int:
    """One file; what is there already is replaced as a whole."""
    if given["json_"] or given["csv_"] or given["matrix"] or given["past"] or given["by"] != "agent":
        raise UserError("--html has all ratings: leave out --by, --json, --csv, --matrix and --history.")
    if drawn := next((flag for flag in PICTURES if given[flag] is not None), None):
        raise UserError(f"--html and --{drawn} are two calls: give --{drawn} in one of its own.")
    if _is_for_ci(given):
        raise UserError("--html holds nothing against a threshold: give the flags for CI in a call of their own.")
    size = _bytes(given["size"])
    from orvl.web.file_runs import parse_without
    from orvl.web.one_file import one_file

    without = parse_without(given["without"])
    project = open_project(given["project"])
    with open_to_read(project, given["store"]) as store:
        asked = {**{place: getattr(words, place) for place in ORDER}, "judge": ",".join(given["judge"])}
        text = one_file(project, store, asked, size, without)
    file, data = Path(given["html"]), text.encode()
    try:
        with replacing(file) as out:
            out.write(data)
    except OSError as error:
        raise UserError(f"Cannot write {file}: {disk_sentence(error)}.") from error
    click.echo(f"{len(data):,} bytes written to {file}")
    return 0


def _bytes(size: str) -> int:
    """10MB, 500kB."""
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(kB|MB)", size.strip(), re.IGNORECASE)
    if found is None:
        raise UserError(f"--size {size} is no size. Write it as 10MB or 500kB.")
    return int(float(found[1]) * {"kb": 1_000, "mb": 1_000_000}[found[2].lower()])
