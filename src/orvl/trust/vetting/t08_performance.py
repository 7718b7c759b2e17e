"""8. Speed is measured only as a ratio, over seven alternating pairs; good and bad work are each 1.5 times away."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.trust.vetting.check_code import CheckCode
from orvl.trust.vetting.gate import Gate, GateResult, GateTest, held, not_applicable

if TYPE_CHECKING:
    from orvl.trust.vetting.works import Work

AWAY = 1.5
CLOCKS = ("perf_counter", "monotonic", "time", "process_time")


async def run(gate: Gate) -> GateResult:
    code = CheckCode(gate.source.hidden)
    by_clock = list(_measured_by_clock(code))
    if not by_clock and not any("ratio(" in text for text in code.texts.values()):
        return not_applicable("no check measures speed")
    problems = [
        f"checks/{path}:{line} compares seconds, which say more of the machine than of the work: use checks.ratio()."
        for path, line in by_clock
    ]
    ratios = {work.name: await _ratios(gate, work) for work in (gate.good, gate.bad)}
    for name, (ratio, bar) in ratios["good"].items():
        if ratio * AWAY > bar:
            problems.append(f"{name}: good work takes {ratio:.2f} of the reference, too close to the bar of {bar:g}.")
        slow = ratios["bad"].get(name)
        if slow is not None and slow[0] < bar * AWAY:
            problems.append(f"{name}: bad work takes {slow[0]:.2f} of the reference, too close to the bar of {bar:g}.")
    said = [f"{check} {ratio:.2f} (bar {bar:g})" for check, (ratio, bar) in ratios["good"].items()]
    return held(problems, f"ratios of good work: {', '.join(said) or 'none'}", ratios=ratios)


def _measured_by_clock(code: CheckCode) -> list[tuple[str, int]]:
    """Where a check compares how long something took, in files that never take a ratio."""
    found = []
    for path, tree in code.trees.items():
        if "ratio(" in code.texts[path]:
            continue
        found += [(path, node.lineno) for node in ast.walk(tree) if isinstance(node, ast.Compare) and _is_timed(node)]
    return found


def _is_timed(node: ast.Compare) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr == "seconds":
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
            called = [one.func for one in ast.walk(part) if isinstance(one, ast.Call)]
            if any(isinstance(one, ast.Attribute) and one.attr in CLOCKS for one in called):
                return True
    return False


async def _ratios(gate: Gate, work: Work) -> dict[str, tuple[float, float]]:
    """By check, the ratio that it measured, and its bar."""
    work = replace(work, is_heard=True)
    manifest = await gate.bench.tree(work)
    await gate.bench.again(manifest, gate.checks_at())
    found = {}
    for check in gate.checks_at():
        for one in gate.bench.exchanges(manifest, check):
            if one.request.get("do") == "ratio":
                found[check.name] = (float(one.request["ratio"]), float(one.request["bar"]))
    return found


TEST = GateTest(8, "speed is a ratio", run)
