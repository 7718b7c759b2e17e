"""7. Under load, 95 of 100 runs of a check take half its limit at most; good work takes a third of the memory."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from orvl.trust.vetting.gate import Gate, GateResult, GateTest, held
from orvl.trust.vetting.t06_same_verdicts import repeats
from orvl.types import MEBI

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_LIMIT, OF_MEMORY = 1 / 2, 1 / 3


async def run(gate: Gate) -> GateResult:
    made = await gate.share("repeats", lambda: repeats(gate))
    problems, slowest, share = [], "", 0.0
    for check in gate.checks_at():
        goods = [work.name for work in gate.goods]
        seconds = [one.seconds for work in goods for one in made.results["loaded", work, check.name]]
        late = percentile(seconds)
        if late / check.limit > share:
            share, slowest = late / check.limit, f"{check.name} {late:.1f} s of {check.limit:g} s"
        if late > OF_LIMIT * check.limit:
            problems.append(
                f"{check.name} takes {late:.1f} s on good work under load, and its limit is {check.limit:g} s: "
                f"set 'limit: {ceil(2 * late)}', or let it do less."
            )
    memory = await _memory(gate) / MEBI
    most = gate.bench.limits.memory
    if memory > OF_MEMORY * most:
        problems.append(f"Good work takes {memory:.0f} MiB, more than a third of limits.memory ({most:g} MiB).")
    said = f"slowest under load: {slowest or 'none'}; good work takes {memory:.0f} of {most:g} MiB"
    return held(problems, said, slowest_share=round(share, 3), memory_mib=round(memory))


async def _memory(gate: Gate) -> int:
    """The most that a command of the good work has had."""
    manifest = await gate.bench.tree(gate.good)
    await gate.bench.results(manifest, gate.checks_at())
    heard = [one for check in gate.checks_at() for one in gate.bench.exchanges(manifest, check)]
    return max((int(one.answer.get("memory") or 0) for one in heard), default=0)


def percentile(values: Sequence[float], share: float = 0.95) -> float:
    """The value that so many of them do not exceed."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)] if values else 0.0


TEST = GateTest(7, "time and memory have room", run, is_quick=False)
