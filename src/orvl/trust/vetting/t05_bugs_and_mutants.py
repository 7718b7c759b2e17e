"""5. All bug patches are caught, and at least .80 of the generated mutants; at most 10 % of these are excused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held
from orvl.trust.vetting.mutants import EXCUSED, excused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.trust.vetting.works import Work
    from orvl.types import CheckResult

CAUGHT, MOST_EXCUSED = 0.80, 0.10


async def bug_results(gate: EvalGate) -> dict[str, CheckResult | None]:
    """What first notices each bug that a user wrote. Checks that have noticed one are asked later: every check is
    there for something, and test 4 wants to know for what."""
    return await _first_failures(gate, gate.bugs, "bugs", lambda seen: seen)


async def survivors(gate: EvalGate) -> list[str]:
    """The mutants that no check notices. Checks that have noticed others lately are asked first."""
    found = await _first_failures(gate, gate.mutants, "mutants", lambda seen: not seen)
    return [name for name, first in found.items() if first is None]


async def _first_failures(
    gate: EvalGate, works: Sequence[Work], what: str, rank: Callable[[bool], bool]
) -> dict[str, CheckResult | None]:
    """The first check that notices a work; `rank` says where the one that has just noticed something comes next."""
    order = gate.checks_at()

    async def look(work: Work) -> CheckResult | None:
        first = await gate.bench.first_failure(await gate.bench.tree(work), list(order))
        if first is not None:
            order.sort(key=lambda check: rank(check.name == first.name))
        return first

    found = await gate.each(works, look, what)
    return {work.name: first for work, first in zip(works, found, strict=True)}


async def run(gate: EvalGate) -> EvalResult:
    bugs = await gate.share("bugs", lambda: bug_results(gate))
    missed = [name for name, first in bugs.items() if first is None]
    problems = [f"No check notices {name}: let one ask for what it breaks." for name in missed]
    said = f"{len(bugs) - len(missed)} of {len(bugs)} bug patches are caught"
    if not bugs:
        problems.append("Write realistic bugs as controls/bugs/01-name.patch, diffs against the final state of good.")
    if gate.is_quick:
        return held(problems, f"{said}; --quick tries no mutants", bugs=len(bugs))
    alive = await gate.share("survivors", lambda: survivors(gate))
    return _with_mutants(gate, problems, said, alive, len(bugs))


def _with_mutants(gate: EvalGate, problems: list[str], said: str, alive: list[str], bugs: int) -> EvalResult:
    excuses = excused(gate.source)
    spared = [name for name in alive if name in excuses]
    left = [name for name in alive if name not in excuses]
    counted = len(gate.mutants) - len(spared)
    share = (counted - len(left)) / counted if counted else 1.0
    if share < CAUGHT:
        problems += [f"No check notices {name}." for name in left]
        problems.append(f"Ask for more in checks, or write '{left[0]}: why' into controls/bugs/{EXCUSED}.")
    if len(spared) > MOST_EXCUSED * len(gate.mutants):
        problems.append(f"{len(spared)} of {len(gate.mutants)} mutants are excused in {EXCUSED}; 10 % are the most.")
    said += f", {counted - len(left)} of {counted} mutants ({share:.0%}, at least {CAUGHT:.0%})"
    said += f", {len(spared)} excused" if spared else ""
    said += f"; survivors: {', '.join(left)}" if left else ""
    return held(problems, said, bugs=bugs, mutants=len(gate.mutants), caught=round(share, 4), survivors=left)


TEST = EvalTest(5, "bugs and mutants are caught", run)
