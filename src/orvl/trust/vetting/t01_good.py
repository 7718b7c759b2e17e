"""1. Good work gets .95 or more with every check passed, and so does the second good work, of another design."""

from __future__ import annotations

from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held, named

AT_LEAST = 0.95
NO_SECOND = (
    "Write another design of the same work into controls/good-2: other files, other data structures. Checks that "
    "only the first one passes ask for more than the prompts do."
)


async def run(gate: EvalGate) -> EvalResult:
    problems, scores = [], {}
    for work in gate.goods:
        verdicts = await gate.verdicts(work)
        scores[work.name] = round(verdicts.score, 4)
        for result in verdicts.failed:
            when = f"after turn {result.turn}" if result.turn else "at the end"
            said = " ".join(result.output.split())[-300:] or result.cut or f"status {result.status}"
            problems.append(f"{work.name} fails {result.name} {when}: {said}")
        if verdicts.score < AT_LEAST and not verdicts.failed:
            problems.append(f"{work.name} gets {verdicts.score:.2f} ({named(verdicts.results)}).")
    said = ", ".join(f"{name} {score:.2f}" for name, score in scores.items())
    if gate.good_2 is None:
        said += "; there is no good-2"
        # Nobody has written a second solution of another tool's task: that its verifier accepts others is unknown.
        problems += [] if gate.eval.imported else [NO_SECOND]
    return held(problems, f"{said} (at least {AT_LEAST}, every check passed)", scores=scores)


TEST = EvalTest(1, "good work passes", run)
