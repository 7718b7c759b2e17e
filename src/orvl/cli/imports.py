"""`orvl import`: results and tasks of other tools."""

from __future__ import annotations

from typing import Any

import click

from orvl.cli.common import as_json, where
from orvl.errors import UserError

TASKS = ("harbor", "polyglot")
OF_RESULTS = {"scale": "--scale", "ignore": "--ignore", "source": "--as", "store": "--store"}
OF_TASKS = {"name": "--name"}


@click.command()
@click.argument("what", type=click.Choice(["results", *TASKS]))
@click.argument("path", metavar="FILE|PATH")
@click.option("--scale", type=click.FloatRange(0, 1e9, min_open=True), metavar="N", help="Divide scores.")
@click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave a column out.")
@click.option("--as", "source", metavar="NAME", help="The name of the source (default: the file's).")
@click.option("--name", metavar="NAME", help="The name of the eval that a task becomes (default: the task's).")
@as_json
@where
def command(what: str, path: str, **given: Any) -> int:
    """Put results of other tools on the board, or make evals of their tasks.

    `results` takes a FILE of CSV with a head, or of JSON lines; `-` is standard input. Its columns are agent and eval,
    and where they are known model, provider, episode, cost (in dollars) and seconds; and either `score`, one number
    from 0 to 1, or one column for each metric: `scores.NAME`, or NAME where the project has this metric. In JSON,
    `scores` may be an object with a number for each metric. true and false are 1 and 0; what is empty is unknown,
    never 0. The agents are contestants of their own, `imported:AGENT`. Importing a file again replaces what it brought
    before; delete it with: orvl gc --runs 'imported:*'

    `harbor` takes the folder of a Harbor task, or of many, `polyglot` that of an Exercism exercise, a track or several.
    Each becomes evals/NAME/ in the project, or is refused with the reason. Nothing of a task is executed before it is
    run, in a sandbox.

    \b
      orvl import results leaderboard.csv
      orvl import results leaderboard.csv --scale 100      scores from 0 to 100
      other-tool --json | orvl import results - --as nightly
      orvl import harbor terminal-bench/tasks
      orvl import polyglot polyglot-benchmark/python
    """
    wrong = OF_RESULTS if what in TASKS else OF_TASKS
    if flag := next((flag for name, flag in wrong.items() if given[name]), None):
        raise UserError(f"{flag} is not for {what}. See: orvl import --help")
    if what in TASKS:
        from orvl.cli.import_tasks import import_tasks

        return import_tasks(what, path, given)
    from orvl.cli.import_results import import_results

    return import_results(path, given)
