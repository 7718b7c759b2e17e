"""A plan for people and for programs, before anything runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from orvl.report.json_form import SCHEMA
from orvl.report.text import count, dollars, plain

if TYPE_CHECKING:
    from rich.console import Console

    from orvl.plan import Plan
    from orvl.state import Cost, State

MOST_ROWS = 60


def print_plan(console: Console, plan: Plan, state: State, cost: Cost) -> None:
    """The cells, sorted into what is reused, what is scored again and what runs."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("agent", "model", "provider", "eval"):
        table.add_column(name, overflow="fold")
    for name in ("reused", "scored again", "to run"):
        table.add_column(name, justify="right")
    tallies = [Counter(run.cell.key for run in runs) for runs in (state.reused, state.to_score, state.to_run)]
    for cell in plan.cells[:MOST_ROWS]:
        table.add_row(*(Text(plain(name)) for name in cell.names), *(str(tally[cell.key]) for tally in tallies))
    console.print(table)
    if len(plan.cells) > MOST_ROWS:
        console.print(f"… and {len(plan.cells) - MOST_ROWS} more cells (--json lists all)")
    console.print(
        f"{count(len(plan.cells), 'cell')}, {count(len(plan.runs), 'run')}: {len(state.reused)} reused, "
        f"{len(state.to_score)} only scored again, {len(state.to_run)} to run."
    )
    console.print(_cost_sentence(cost))
    for warning in plan.warnings:
        console.print(f"! {plain(warning)}", style="yellow", markup=False)


def _cost_sentence(cost: Cost) -> str:
    if cost.likely is None:
        return f"Cost: {cost.source}."
    if cost.high == 0:
        return f"Cost: $0 ({cost.source})."
    return f"Cost: {dollars(cost.low)} low, {dollars(cost.likely)} likely, {dollars(cost.high)} high ({cost.source})."


def as_json(plan: Plan, state: State, cost: Cost) -> dict[str, Any]:
    what = {run.key: word for runs, word in _sorted(state) for run in runs}
    return {
        "schema": SCHEMA,
        "plan": {
            "cells": len(plan.cells),
            "reused": len(state.reused),
            "scored_again": len(state.to_score),
            "to_run": len(state.to_run),
            "cost_usd": {"low": cost.low, "likely": cost.likely, "high": cost.high, "source": cost.source},
            "runs": [
                {
                    "run": run.key,
                    "agent": run.cell.agent.name,
                    "model": run.cell.model,
                    "provider": run.cell.provider,
                    "eval": run.cell.eval.name,
                    "episode": run.episode,
                    "what": what[run.key],
                }
                for run in plan.runs
            ],
        },
        "warnings": plan.warnings,
    }


def _sorted(state: State) -> tuple[tuple[Any, str], ...]:
    return (state.reused, "reused"), (state.to_score, "scored again"), (state.to_run, "runs")
