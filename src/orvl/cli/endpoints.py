"""`orvl endpoints`: how providers served the same model."""

from __future__ import annotations

from typing import Any

import click

from orvl.cli.common import JsonOut, as_json, console, five_words, open_to_read, selection_from, where
from orvl.errors import UserError
from orvl.plan.identities import identities
from orvl.plan.selection import stored_matcher
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
    from orvl.rate.endpoints import Calls, differences
    from orvl.report.endpoints import as_json as endpoints_as_json
    from orvl.report.endpoints import notes, others_asked, print_endpoints, print_failing

    with open_to_read(project, given["store"]) as store:
        cells = store.cells()
        keep = stored_matcher(project, words, [cell.names for cell in cells])
        known = identities(project, cells)
        calls = Calls(
            store, {cell.id: cell.names for cell in known.current.values() if keep(cell.names) and not cell.imported}
        )
        rows = calls.endpoints()
        warnings = [*notes(rows), *others_asked(calls.cells, calls.others), *known.sentences(keep)]
        if out:
            out.write(endpoints_as_json(rows, calls.failing(rows), differences(rows), warnings))
            return 0
        terminal = console()
        print_endpoints(terminal, rows, differences(rows), warnings)
        failing = sum(row.sums["failing"] for row in rows)
        if given["verbose"]:
            print_failing(terminal, calls.failing(rows))
        elif failing:
            terminal.print(f"Something went wrong in {count(failing, 'call')}. List them with: -v")
    return 0
