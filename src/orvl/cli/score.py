"""`orvl score`: score stored runs again, without running them again."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import (
    JsonOut,
    as_json,
    console,
    five_words,
    open_to_read,
    open_to_write,
    open_with_keys_hidden,
    selection_from,
    where,
)
from orvl.errors import OrvlError
from orvl.plan.identities import identities
from orvl.plan.options import RunOptions
from orvl.plan.remaining import next_episode, remaining_of
from orvl.project.names import count

if TYPE_CHECKING:
    from orvl.plan.planning import Plan
    from orvl.plan.selection import Selection
    from orvl.project import Project
    from orvl.store import Store
    from orvl.types import Agent


@click.command()
@five_words
@click.option("--judge", multiple=True, metavar="NAME", help="A judge for the panel, instead of all in orvl.toml.")
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="USD", help="Stop when judges spent this.")
@click.option("--allow-unpriced", is_flag=True, help="With --budget: call models without a price, too.")
@click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Runs that are scored at once.")
@click.option("--fresh", is_flag=True, help="Look at pages again, and sample every score anew; the old ones are kept.")
@as_json
@where
def command(**flags: Any) -> int:
    """Score stored runs again, without running them again.

    Scores that are missing are made, and those that were errors or abstentions are asked for once more. With --fresh,
    pages are looked at again, and every score gets a new sample. Nothing is overwritten.
    """
    from orvl import pipeline
    from orvl.cli.watch import SCORED_AT_ONCE, watched
    from orvl.rate.collect import of_plan
    from orvl.trust.standing import with_standing

    selection = selection_from(flags)
    out = JsonOut() if flags["json_"] else None
    project = open_with_keys_hidden(flags["project"])
    open_to_read(project, flags["store"]).close()
    options = RunOptions(
        judges=flags["judge"],
        concurrency=flags["concurrency"] or project.settings.concurrency or SCORED_AT_ONCE,
        budget=flags["budget"],
        allow_unpriced=flags["allow_unpriced"],
        samples="all" if flags["fresh"] else "unanswered",
        written=tuple(sys.argv[1:]),
    )
    with open_to_write(project, flags["store"]) as store:
        options = replace(options, selection=_with_stored(project, selection, store))
        plan = _as_stored(pipeline.plan(project, replace(options, episodes=1), _no_version), project, store)
        last = next_episode(plan, store) - 1
        plan = plan.with_episodes(range(1, last + 1))
        remaining = remaining_of(plan, store)
        remaining = replace(remaining, to_score=(*remaining.to_score, *remaining.reused), reused=(), to_run=())
        execution = watched(project, pipeline.Prepared(plan, remaining), options, store)
        board = of_plan(project, plan, store, 1, max(last, 1), planned=None)
        board = replace(board, cells=tuple(cell for cell in board.cells if cell.planned))
        board = with_standing(
            project, store, board.with_warnings(*plan.warnings, *execution.missed_sentences, *_of_older(plan, store))
        )
    if out:
        from orvl.report.ratings_json import as_json as ratings_as_json

        out.write(ratings_as_json(board.cells, board))
    else:
        pipeline.report(pipeline.Evaluation(plan, execution, board), console())
    unrated = any(cell.rated + cell.errored < cell.planned for cell in board.cells)
    if execution.interrupted:
        return 130
    if execution.over_budget and (unrated or execution.unjudged):
        return 3
    return int(board.broken_metrics or unrated or bool(execution.missed))


def _with_stored(project: Project, selection: Selection, store: Store) -> Selection:
    """All agents are also those with overlays and at versions that the store has runs of, and the project still has."""
    if selection.agent != "all":
        return selection
    found = []
    agents = dict.fromkeys(cell.agent for cell in store.cells())
    for name in (agent for agent in agents if "+" in agent or "@" in agent):
        with suppress(OrvlError, KeyError):
            found.append(project.agent(name).name)
    return replace(selection, agent=",".join(["all", *found]))


def _no_version(agent: Agent) -> str:
    """What is stored says which version counts: agents need not be installed to be scored."""
    return agent.at or ""


def _as_stored(plan: Plan, project: Project, store: Store) -> Plan:
    """The plan under the versions that count: agents that were updated since are scored as they ran."""
    current = identities(project, store.cells()).current
    cells = [replace(cell, version=current[cell.names].version) for cell in plan.cells if cell.names in current]
    runs = tuple(run for run in plan.runs if run.cell.names in current)
    return replace(plan, cells=tuple(cells), runs=runs).with_keys({c.key: current[c.names].key for c in cells})


def _of_older(plan: Plan, store: Store) -> list[str]:
    """Runs that have the names of the plan's cells under another identity."""
    keys, names = {cell.key for cell in plan.cells}, {cell.names for cell in plan.cells}
    older = sum(cell.runs for cell in store.cells() if cell.key not in keys and cell.names in names)
    if not older:
        return []
    return [f"Skipped {count(older, 'stored run')} of an older agent, version or eval (their files have changed)."]
