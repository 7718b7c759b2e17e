"""A plan before it runs, as text and as JSON: the cells, the cost, and what it can show."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from orvl.plan.weights import weight_lines
from orvl.project.names import count
from orvl.rate.detectable import POWER
from orvl.report.ratings_json import SCHEMA
from orvl.report.terminal import TextColumn, TextTable
from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orvl.plan.cost import Cost
    from orvl.plan.keys import MissingKey
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.rate.detectable import Detectable
    from orvl.report.terminal import Terminal
    from orvl.types import PlannedRun

MOST_ROWS = 60
FEW = 4


def print_plan(
    terminal: Terminal,
    plan: Plan,
    remaining: Remaining,
    cost: Cost,
    detectable: Detectable,
    changed: Mapping[str, Sequence[str]],
) -> None:
    """The cells, how many of their runs are reused, scored again and run and why, the cost, and what they can show."""
    headings = ("agent", "model", "provider", "eval", "reused", "scored again", "to run")
    columns = [TextColumn(name, words=place < 4, key=place < 4) for place, name in enumerate(headings)]
    tallies = [
        Counter(run.cell.key for run in runs) for runs in (remaining.reused, remaining.to_score, remaining.to_run)
    ]
    cells = plan.cells[:MOST_ROWS]
    rows = [[*map(plain, cell.names), *(str(tally[cell.key]) for tally in tallies)] for cell in cells]
    terminal.print(TextTable(columns, rows))
    if len(plan.cells) > MOST_ROWS:
        terminal.print(f"… and {len(plan.cells) - MOST_ROWS} more cells (--json lists all)")
    left_out = len(plan.runs) - len(remaining.reused) - len(remaining.to_score) - len(remaining.to_run)
    terminal.print(
        f"{count(len(plan.cells), 'cell')}, {count(len(plan.runs), 'run')}: {len(remaining.reused)} reused, "
        f"{len(remaining.to_score)} only scored again, {len(remaining.to_run)} to run"
        + (f", {left_out} not needed by the race." if left_out else ".")
    )
    for sentence in (*_changes(plan, changed), *weight_lines(plan.panels.values())):
        terminal.print(plain(sentence))
    terminal.print(_cost_sentence(cost))
    terminal.print(_power_sentence(detectable))
    for warning in plan.warnings:
        terminal.print(f"! {plain(warning)}", "yellow")


def _changes(plan: Plan, changed: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Why cells that have stored runs are run again, those of one agent with the same reasons together."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for cell in plan.cells:
        if cell.key in changed:
            evals = groups.setdefault((cell.agent.name, tuple(changed[cell.key])), [])
            evals += [cell.eval.name] if cell.eval.name not in evals else []
    for (agent, what), evals in groups.items():
        more = f" and {len(evals) - FEW} more" if len(evals) > FEW else ""
        yield f"{agent} runs again on {', '.join(evals[:FEW])}{more}; changed since its stored runs: {', '.join(what)}."


def _power_sentence(detectable: Detectable) -> str:
    from orvl.rate.stats.race import FEWEST

    size = f"{count(detectable.evals, 'eval')} × {count(detectable.episodes, 'episode')}"
    if detectable.families < detectable.evals:
        size += f" ({detectable.families} families)"
    if detectable.families < FEWEST:
        what = "evals" if detectable.families == detectable.evals else "families of evals"
        return f"{size} cannot tell two contestants apart, however they differ: that takes at least {FEWEST} {what}."
    what = "no difference" if detectable.difference is None else f"a difference of {detectable.difference:.2f}"
    quick = detectable.quick_difference
    sooner = "" if quick is None else f"; quick tests, which assume no rare collapses, see {quick:.2f}"
    return (
        f"{size} can show {what} between two contestants with {100 * POWER:g} % power "
        f"(sd of paired differences {detectable.sd:.2f}, {detectable.source}){sooner}."
    )


def _cost_sentence(cost: Cost) -> str:
    if cost.likely is None:
        return f"Cost: {cost.source}."
    if cost.high == 0:
        return f"Cost: $0 ({cost.source})."
    return f"Cost: {dollars(cost.low)} low, {dollars(cost.likely)} likely, {dollars(cost.high)} high ({cost.source})."


def as_json(
    plan: Plan,
    remaining: Remaining,
    cost: Cost,
    detectable: Detectable,
    keys: Sequence[MissingKey],
    changed: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    what = {run.key: word for runs, word in _sorted(remaining) for run in runs}
    return {
        "schema": SCHEMA,
        "plan": {
            "cells": len(plan.cells),
            "reused": len(remaining.reused),
            "scored_again": len(remaining.to_score),
            "to_run": len(remaining.to_run),
            "cost_usd": cost.as_json(),
            "weights": {
                name: {"from": panel.weights_from, "metrics": panel.shares} for name, panel in plan.panels.items()
            },
            "missing_keys": [asdict(key) for key in keys],
            "changed": [
                {**dict(zip(("agent", "model", "provider", "eval"), cell.names, strict=True)), "changed": [*reasons]}
                for cell in plan.cells
                if (reasons := changed.get(cell.key))
            ],
            "runs": [
                {
                    "run": run.key,
                    "agent": run.cell.agent.name,
                    "model": run.cell.model,
                    "provider": run.cell.provider,
                    "eval": run.cell.eval.name,
                    "episode": run.episode,
                    "what": what.get(run.key, "not needed"),
                }
                for run in plan.runs
            ],
        },
        "detectable": {**asdict(detectable), "power": POWER},
        "warnings": plan.warnings,
    }


def _sorted(remaining: Remaining) -> tuple[tuple[Sequence[PlannedRun], str], ...]:
    return (remaining.reused, "reused"), (remaining.to_score, "scored again"), (remaining.to_run, "runs")
