"""`orvl endpoints`: how providers served the same model."""

from __future__ import annotations

from typing import Any

import click

from orvl.cli.common import JsonOut, as_json, console, five_words, open_to_read, selection_from, where
from orvl.errors import UserError
from orvl.project import open_project
from orvl.project.names import count


@click.command()
@five_words
@click.option("-v", "--verbose", is_flag=True, help="List the calls in which something went wrong.")
@as_json
@where
def command(**given: Any) -> int:
    """Compare providers of the same model, over all stored calls.

    Shows failed calls, malformed tool calls, empty and truncated answers, which model and host really answered, speed
    and cost: whether the agent, the model or its host is to blame.
    """
    words = selection_from(given)
    if words.metric != "all":
        raise UserError(f"Model calls have no metric: leave out '{words.metric}'. See: orvl report")
    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])
    from orvl.report.endpoints import print_failing, shown_endpoints

    with open_to_read(project, given["store"]) as store:
        found = shown_endpoints(project, store, words)
        if out:
            out.write(found.as_json())
            return 0
        terminal = console()
        found.print(terminal)
        if given["verbose"]:
            print_failing(terminal, found.calls.failing(found.rows))
        elif found.failing:
            terminal.print(f"Something went wrong in {count(found.failing, 'call')}. List them with: -v")
    return 0
