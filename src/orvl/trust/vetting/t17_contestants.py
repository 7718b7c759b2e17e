"""17. With five contestants: the share of runs that pass everything is within .1 to .9, and goes with other evals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from orvl.errors import OrvlError
from orvl.rate.collect import of_store
from orvl.trust.control_agents import is_control
from orvl.trust.vetting.gate import Gate, GateResult, GateTest, held, not_applicable
from orvl.types import IMPORTED

if TYPE_CHECKING:
    from orvl.rate.collect import Board

FEWEST = 5
LEAST, MOST, CORRELATION = 0.1, 0.9, 0.1
NEVER_RANKED = ("smoke", "basics")


async def run(gate: Gate) -> GateResult:
    if gate.eval.tier in NEVER_RANKED:
        return not_applicable(f"evals of the tier {gate.eval.tier} are never ranked")
    if gate.store is None:
        return not_applicable(f"yet: no contestant has run it, and {FEWEST} are needed")
    board = of_store(gate.project, gate.store, lambda names: _competes(gate, names[0]), (), None)
    here = {row.contestant: row.R for row in board.cells if row.eval == gate.eval.name and row.R is not None}
    if len(here) < FEWEST:
        return not_applicable(f"yet: {len(here)} contestants have run it, and {FEWEST} are needed")
    share = _passing(gate, board)
    correlation = _with_others(gate, board, here)
    problems = []
    if share > MOST:
        problems.append(f"{share:.0%} of runs pass everything: it tells nobody apart any more; set 'tier: basics'.")
    elif share < LEAST:
        problems.append(f"{share:.0%} of runs pass everything: look whether a check asks for what nobody could know.")
    if correlation is not None and correlation < CORRELATION:
        problems.append(f"Who is good here is not good elsewhere ({correlation:.2f}): it measures something else.")
    said = f"{len(here)} contestants, {share:.0%} of runs pass everything"
    said += f", correlation with other evals {correlation:.2f}" if correlation is not None else ", no other evals"
    return held(problems, said, passing=round(share, 4))


def _competes(gate: Gate, agent: str) -> bool:
    if is_control(agent) or agent.startswith(IMPORTED):
        return False
    try:
        return agent not in gate.project.agent_files or gate.project.agent(agent).control is None
    except OrvlError:
        return True


def _passing(gate: Gate, board: Board) -> float:
    """The share of runs of this eval in which every check passed at the end."""
    gathered = board.gathered
    cells = [ref.id for ref in gathered.refs if ref.names[3] == gate.eval.name and ref.id in gathered.stacks]
    attempts = [number for cell in cells if cell is not None for number in gathered.stacks[cell].attempts.tolist()]
    assert gate.store is not None
    results = [gate.store.attempt(number)[1] or () for number in attempts]
    passed = [all(result.passed for result in one if not result.turn) for one in results if one]
    return float(np.mean(passed)) if passed else 0.0


def _with_others(gate: Gate, board: Board, here: dict[tuple[str, str, str], float]) -> float | None:
    """Over contestants: how R on this eval goes with the mean R on the others. None where that cannot be told."""
    others: dict[tuple[str, str, str], list[float]] = {}
    for row in board.cells:
        if row.eval != gate.eval.name and row.R is not None and row.contestant in here:
            others.setdefault(row.contestant, []).append(row.R)
    if len(others) < FEWEST:
        return None
    values = np.array([(here[names], np.mean(rest)) for names, rest in others.items()])
    if not values.std(axis=0).all():
        return None
    return float(np.corrcoef(values.T)[0, 1])


TEST = GateTest(17, "contestants differ on it", run)
