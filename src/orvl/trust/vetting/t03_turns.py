"""3. Good work of turn k passes all that is due by then, and fails each check that is first due at k + 1."""

from __future__ import annotations

from orvl.trust.vetting.gate import Gate, GateResult, GateTest, failed, held, named


async def run(gate: Gate) -> GateResult:
    eval_, turns = gate.eval, len(gate.eval.prompts)
    if turns > 1 and len(gate.good.turns) == 1 and gate.good.turns[0] == 1:
        return failed(
            f"controls/good is laid down in one piece, and the conversation has {turns} turns",
            ["Put what good work leaves after each turn into controls/good/turn-1, turn-2 and so on."],
        )
    problems, looked = [], 0
    for turn in range(turns):
        manifest = await gate.bench.tree_at(gate.good, gate.good.stage(turn))
        due = [check for check in gate.checks_at(turn) if turn] or [check for check in eval_.checks if check.keep]
        wanted = (await gate.bench.results(manifest, due)).values()
        if broken := [result for result in wanted if not result.passed]:
            where = f"good of turn {turn}" if turn else "the untouched workspace"
            problems.append(f"{where} fails {named(broken)}, due by then.")
        later = [check for check in eval_.checks if eval_.due(check) == turn + 1 and not check.keep]
        early = [one for one in (await gate.bench.results(manifest, later)).values() if one.passed]
        if early:
            where = f"good of turn {turn}" if turn else "the untouched workspace"
            problems.append(
                f"{where} passes {named(early)}, which is first due at turn {turn + 1}: it needs nothing of that turn. "
                f"Let it ask for what turn {turn + 1} adds, or make it due earlier ('turn: {turn or 1}')."
            )
        looked += len(due) + len(later)
    return held(problems, f"{looked} checks of {turns} turn{'s' * (turns > 1)} fail before their turn and pass in it")


TEST = GateTest(3, "each check waits for its turn", run)
