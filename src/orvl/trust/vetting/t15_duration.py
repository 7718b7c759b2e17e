"""15. The checks of a snapshot take 60 s at most on two cores, those of a smoke eval 5."""

from __future__ import annotations

from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held

MOST, MOST_SMOKE = 60.0, 5.0


async def run(gate: EvalGate) -> EvalResult:
    turns = [*gate.eval.checked_turns, 0]
    turn = max(turns, key=lambda turn: len(gate.checks_at(turn)))
    manifest = await gate.bench.tree(gate.good, turn)
    most = MOST_SMOKE if gate.eval.tier == "smoke" else MOST
    seconds = await gate.bench.in_a_row(manifest, gate.checks_at(turn))
    if seconds > most:  # Perhaps something else was going on for a moment.
        seconds = min(seconds, await gate.bench.in_a_row(manifest, gate.checks_at(turn)))
    said = f"{len(gate.checks_at(turn))} checks of a snapshot take {seconds:.1f} s (at most {most:g} s)"
    slow = [f"Let checks do less, or several things at once: {seconds:.1f} s is more than {most:g} s."]
    return held(slow if seconds > most else [], said, seconds=round(seconds, 2))


TEST = EvalTest(15, "checks are quick", run)
