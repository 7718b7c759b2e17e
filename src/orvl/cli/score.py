"""`orvl score`: score stored runs again, without running them again."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import (
    JsonOut,
    as_json,
    five_words,
    open_to_read,
    open_to_write,
    open_with_keys_hidden,
    print_board,
    version_asker,
    where,
    words_from,
)
from orvl.errors import OrvlError
from orvl.plan.planning import make_plan, ordered
from orvl.plan.remaining import next_episode, state_of
from orvl.project.names import count

if TYPE_CHECKING:
    from orvl.plan.planning import Plan
    from orvl.plan.selection import Words
    from orvl.project import Project
    from orvl.store import Store

SCORED_AT_ONCE = 16
"""Runs; judges are waited for, and no agent needs this machine."""


@click.command()
@five_words
@click.option("--judge", multiple=True, metavar="NAME", help="A judge for the panel, instead of all in orvl.toml.")
@click.option("--budget", type=click.FloatRange(0, min_open=True), metavar="USD", help="Stop when judges spent this.")
@click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Runs that are scored at once.")
@click.option("--fresh", is_flag=True, help="Take a new sample of every score; the old ones are kept.")
@as_json
@where
def command(**given: Any) -> int:
    """Score stored runs again, without running them again.

    Scores that are missing are made, and those that were errors or abstentions are asked for once more. With --fresh,
    every score gets a new sample. Nothing is overwritten.
    """
    from orvl.cli.carry_out import carry_out
    from orvl.rate.collect import of_plan

    words = words_from(given)
    out = JsonOut() if given["json_"] else None
    project = open_with_keys_hidden(given["project"])
    open_to_read(project, given["store"]).close()
    with open_to_write(project, given["store"]) as store:
        words = _with_stored(project, words, store)
        plan = make_plan(
            project, words, episodes=[1], judges=given["judge"], ask_version=version_asker(project, None, None)
        )
        last = next_episode(plan, store) - 1
        plan.runs = ordered(plan.cells, range(1, last + 1), plan.seed)
        state = state_of(plan, store)
        state.to_score, state.reused, state.to_run = [*state.to_score, *state.reused], [], []
        engine = carry_out(
            project,
            plan,
            state,
            store,
            words,
            concurrency=given["concurrency"] or project.settings.concurrency or SCORED_AT_ONCE,
            budget=given["budget"],
            samples="all" if given["fresh"] else "unanswered",
        )
        board = of_plan(project, plan, store, 1, max(last, 1), planned=None)
        board.cells = [cell for cell in board.cells if cell.planned]
        board.warnings = plan.warnings + _of_older(plan, store) + board.warnings
    print_board(board, out)
    unrated = any(cell.rated + cell.errored < cell.planned for cell in board.cells)
    if engine.interrupted:
        return 130
    if engine.over_budget and (unrated or engine.is_unjudged):
        return 3
    return int(board.broken_metrics or unrated)


def _with_stored(project: Project, words: Words, store: Store) -> Words:
    """All agents are also those with overlays and at versions that the store has runs of, and the project still has."""
    if words.agent != "all":
        return words
    found = []
    agents = dict.fromkeys(cell.agent for cell in store.cells())
    for name in (agent for agent in agents if "+" in agent or "@" in agent):
        with suppress(OrvlError, KeyError):
            found.append(project.agent(name).name)
    return replace(words, agent=",".join(["all", *found]))


def _of_older(plan: Plan, store: Store) -> list[str]:
    """Runs that have the names of the plan's cells under another identity."""
    keys, names = {cell.key for cell in plan.cells}, {cell.names for cell in plan.cells}
    older = sum(cell.runs for cell in store.cells() if cell.key not in keys and cell.names in names)
    if not older:
        return []
    return [f"Left alone: {count(older, 'stored run')} of an older agent, version or eval (their files have changed)."]
