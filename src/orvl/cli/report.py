"""`orvl report`: ratings of what the store holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console, five_words, open_to_read, selection_from, where
from orvl.errors import UserError, disk_sentence
from orvl.plan.selection import ORDER, chosen_metrics, stored_matcher
from orvl.project import open_project
from orvl.store.beneath import replacing

if TYPE_CHECKING:
    from orvl.plan.selection import Selection


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
@as_json
@click.option("--csv", "csv_", is_flag=True, help="Write CSV to standard output.")
@click.option("--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the viewer's parts into one file.")
@click.option(
    "--size",
    default="10MB",
    metavar="SIZE",
    help="With --html: the largest file (default: 10MB).",
)
@where
def command(**given: Any) -> int:
    """Print ratings of what has been run, of the agents' and evals' files as they are now.

    Weights and penalty are those of the project as it is now: changing them re-rates at once, without scoring again.
    """
    from orvl.rate.history import history
    from orvl.report.history import history_json, print_history
    from orvl.report.matrix import matrix_json, print_matrix
    from orvl.trust.rated_board import rated_board

    words = selection_from(given)
    if given["html"]:
        return _write_html(given, words)
    if given["csv_"] and given["json_"]:
        raise UserError("--json and --csv exclude each other.")
    if given["csv_"] and (given["past"] or given["matrix"]):
        raise UserError("--csv has neither --matrix nor --history. See: orvl export runs FILE --history")
    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])

    with open_to_read(project, given["store"]) as store:
        cells = store.cells()
        keep = stored_matcher(project, words, [cell.names for cell in cells])
        metrics = chosen_metrics(project, words, cells)
        board, rows, beside = rated_board(project, store, keep, given["judge"], metrics, given["by"])
        past = history(project, store, keep, given["judge"], metrics) if given["past"] else []
    if out:
        from orvl.report.ratings_json import as_json as ratings_as_json
        from orvl.report.trust_text import as_json as trust_as_json

        more: dict[str, Any] = {"history": history_json(past)} if given["past"] else {}
        more |= {"matrix": matrix_json(board)} if given["matrix"] else {}
        out.write(ratings_as_json(rows, board, trust=trust_as_json(beside, board.standing) if beside else None, **more))
        return 0
    if given["csv_"]:
        from orvl.report.ratings_csv import as_csv

        click.echo(as_csv(rows, board), nl=False)
        return 0
    from orvl.report.table import print_ratings
    from orvl.report.trust_text import sentences

    terminal = console()
    if given["matrix"]:
        print_matrix(terminal, board)
    else:
        print_ratings(terminal, rows, board, sentences(beside, board.standing) if beside else ())
    if given["past"]:
        print_history(terminal, past)
    return 0


def _write_html(given: dict[str, Any], words: Selection) -> int:
    """One file; what is there already is replaced as a whole."""
    if given["json_"] or given["csv_"] or given["matrix"] or given["past"] or given["by"] != "agent":
        raise UserError("--html has all ratings: leave out --by, --json, --csv, --matrix and --history.")
    size = _bytes(given["size"])
    from orvl.web.one_file import one_file

    project = open_project(given["project"])
    with open_to_read(project, given["store"]) as store:
        asked = {**{place: getattr(words, place) for place in ORDER}, "judge": ",".join(given["judge"])}
        text = one_file(project, store, asked, size)
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
