"""15. The checks of a snapshot take 60 s at most on two cores, those of a smoke eval 5, or 15 in a browser."""

from __future__ import annotations

from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held

MOST, MOST_SMOKE = 60.0, 5.0
MOST_SMOKE_BROWSER = 15.0
"""Each check in a browser starts one, which alone takes some two seconds."""
BUSY = 1.5
"""With so many times as long by the clock, a machine has other things to do."""


async def run(gate: EvalGate) -> EvalResult:
    turns = [*gate.eval.checked_turns, 0]
    turn = max(turns, key=lambda turn: len(gate.checks_at(turn)))
    manifest = await gate.bench.tree(gate.good, turn)
    most = _most(gate)
    took = await gate.bench.in_a_row(manifest, gate.checks_at(turn))
    if took.seconds > most:  # Perhaps something else was going on for a moment.
        again = await gate.bench.in_a_row(manifest, gate.checks_at(turn))
        took = min(took, again, key=lambda one: one.seconds)
    said = f"{len(gate.checks_at(turn))} checks of a snapshot take {took.seconds:.1f} s (at most {most:g} s)"
    if took.wall > BUSY * took.seconds:
        said += f", on this busy machine {took.wall:.1f} s"
    slow = [f"Let checks do less, or several things at once: {took.seconds:.1f} s is more than {most:g} s."]
    return held(slow if took.seconds > most else [], said, seconds=round(took.seconds, 2), wall=round(took.wall, 2))


def _most(gate: EvalGate) -> float:
    if gate.eval.tier != "smoke":
        return MOST
    return MOST_SMOKE_BROWSER if gate.eval.app else MOST_SMOKE


TEST = EvalTest(15, "checks are quick", run)
