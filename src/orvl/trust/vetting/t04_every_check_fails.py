"""4. Every check is failed by bad work, a bug or a mutant: one that always passes measures nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held
from orvl.trust.vetting.t05_bugs_and_mutants import bug_results
from orvl.trust.vetting.works import Work

if TYPE_CHECKING:
    from orvl.types import Check


async def run(gate: EvalGate) -> EvalResult:
    failed_by = {result.name: "bad" for result in (await gate.verdicts(gate.bad)).failed}
    for work, first in (await gate.share("bugs", lambda: bug_results(gate))).items():
        if first is not None:
            failed_by.setdefault(first.name, work)
    never = [check for check in gate.eval.checks if check.name not in failed_by]
    for check in list(never):
        if await _fails_something(gate, check):
            never.remove(check)
    problems = [
        f"{check.name} is failed by nothing: bad work, {len(gate.bugs)} bugs and {len(gate.mutants)} mutants pass it. "
        "Make it look at what the prompts ask for, or write the bug that it is there for into controls/bugs."
        for check in never
    ]
    count = len(gate.eval.checks)
    said = f"{count - len(never)} of {count} checks are failed by bad work, a bug or a mutant"
    return held(problems, said, never_failed=[check.name for check in never])


async def _fails_something(gate: EvalGate, check: Check) -> bool:
    """Looks for a bug or a mutant; what has to stay is failed by a workspace in which nothing stayed."""
    vandals = _vandals(gate) if check.keep or check.until else []
    works = [*vandals, *gate.bugs, *gate.mutants]
    for work in works:
        results = await gate.bench.results(await gate.bench.tree(work), [check])
        if not results[check.name].passed:
            return True
    return False


def _vandals(gate: EvalGate) -> list[Work]:
    """Nothing of the workspace is left; or all of it, each file with a line too many."""
    workspace = gate.source.workspace
    if not workspace:
        return []
    return [
        Work("all files deleted", deleted=frozenset(workspace)),
        Work("a line added to each file", files={path: content + b"\n#\n" for path, content in workspace.items()}),
    ]


TEST = EvalTest(4, "every check can fail", run)
