"""`orvl report`: ratings of what the store holds."""

from __future__ import annotations

from typing import Any

import click

from orvl.cli.common import JsonOut, as_json, console, five_words, open_to_read, selection_from, where
from orvl.errors import UserError
from orvl.plan.selection import chosen_metrics, stored_matcher
from orvl.project import open_project


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
