"""2. Bad work gets .20 at most; nothing at all, a copy of the prompts and a claim of success get .05 at most."""

from __future__ import annotations

from orvl.trust.vetting.gate import Gate, GateResult, GateTest, held, named

TOLERANCE = 0.01
AT_MOST = {"bad": 0.20, "empty": 0.05, "prompt-copy": 0.05, "master-key": 0.05}


async def run(gate: Gate) -> GateResult:
    problems, scores = [], {}
    for name, most in AT_MOST.items():
        verdicts = await gate.verdicts(gate.derived(name))
        scores[name] = round(verdicts.score, 4)
        if verdicts.score > most:
            earned = [result for result in verdicts.results if result.value and not result.keep]
            problems.append(
                f"{name} gets {verdicts.score:.2f}, and {most:.2f} is the most: see what it earns in {named(earned)}. "
                "What passes before anybody has done anything is a 'keep: true' check."
            )
    if abs(scores["empty"] - gate.eval.floor) > TOLERANCE:
        problems.append(f"Nothing at all gets {scores['empty']:.2f}: write 'floor: {scores['empty']:g}' into eval.md.")
    said = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
    by_hand = gate.source.folder_of("bad") is not None
    note = "" if by_hand else "; bad is derived from good, write controls/bad for a better test"
    return held(
        problems, f"{said} (at most {', '.join(f'{most:.2f}' for most in AT_MOST.values())}){note}", scores=scores
    )


TEST = GateTest(2, "bad work and none earn nothing", run)
