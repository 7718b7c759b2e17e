"""6. The same verdicts in 10 quiet, 10 loaded and 5 shuffled repeats of each control."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.trust.vetting.gate import EvalGate, EvalResult, EvalTest, held
from orvl.trust.vetting.load import loaded

if TYPE_CHECKING:
    from orvl.trust.vetting.works import Work
    from orvl.types import CheckResult

ROUNDS = {"quiet": 10, "shuffled": 5, "loaded": 10}
FEWEST = {"quiet": 2, "shuffled": 1, "loaded": 2}
SHARE = {"quiet": 0.08, "shuffled": 0.04, "loaded": 0.18}
"""Of all the time that the gate has: where checks take long, so many rounds are made as fit."""


@dataclass
class Repeats:
    """What was said in each round: by its kind, the work and the check."""

    rounds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ROUNDS, 0))
    results: dict[tuple[str, str, str], list[CheckResult]] = field(default_factory=lambda: defaultdict(list))

    def of(self, work: str, check: str) -> list[tuple[str, CheckResult]]:
        return [(kind, result) for kind in ROUNDS for result in self.results.get((kind, work, check), [])]


async def repeats(gate: EvalGate) -> Repeats:
    """As many rounds as there are, or as fit into the time."""
    made = Repeats()
    works = [*gate.goods, gate.bad, gate.empty]
    for kind in ("quiet", "shuffled"):
        await _rounds(gate, kind, works, made)
    with loaded():
        await _rounds(gate, "loaded", works, made)
    return made


async def _rounds(gate: EvalGate, kind: str, works: list[Work], made: Repeats) -> None:
    until = time.monotonic() + SHARE[kind] * gate.minutes * 60
    order = random.Random(kind)
    while made.rounds[kind] < ROUNDS[kind]:
        if made.rounds[kind] >= FEWEST[kind] and time.monotonic() > until:
            return
        for work in works:
            checks = gate.checks_at()
            if kind == "shuffled":
                order.shuffle(checks)
            # What other tests have seen on a quiet machine is the first round.
            is_first = kind == "quiet" and not made.rounds[kind]
            look = gate.bench.results if is_first else gate.bench.again
            for name, result in (await look(await gate.bench.tree(work), checks)).items():
                made.results[kind, work.name, name].append(result)
        made.rounds[kind] += 1
        gate.say(f"repeats: {made.rounds[kind]} of {ROUNDS[kind]} {kind}")


async def run(gate: EvalGate) -> EvalResult:
    made = await gate.share("repeats", lambda: repeats(gate))
    problems, count = [], 0
    for work, check in dict.fromkeys((work, check) for _, work, check in made.results):
        results = made.of(work, check)
        count += len(results)
        passes = sum(result.passed for _, result in results)
        if 0 < passes < len(results):
            by_kind = ", ".join(
                f"{sum(one.passed for one in made.results[kind, work, check])} of {number} {kind}"
                for kind, number in made.rounds.items()
            )
            problems.append(
                f"{check} flips on {work}: passed {by_kind}. Take chance, the clock and other processes out of it."
            )
    rounds = ", ".join(f"{number} {kind}" for kind, number in made.rounds.items())
    fewer = "" if made.rounds == ROUNDS else f" (as many as fit into {gate.minutes:g} minutes; --minutes N makes more)"
    said = f"{count} verdicts in {rounds} repeats of each control{fewer}, {len(problems) or 'none'} flipped"
    return held(problems, said, rounds=dict(made.rounds), verdicts=count, flipped=len(problems))


TEST = EvalTest(6, "verdicts repeat", run, is_quick=False)
