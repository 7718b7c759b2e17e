"""14. The setup needs only the registries that are allowed; then good work passes without a network."""

from __future__ import annotations

from orvl.errors import SetupFailed
from orvl.trust.vetting.gate import Gate, GateResult, GateTest, failed, held, named, not_applicable


async def run(gate: Gate) -> GateResult:
    """The bench has made the setup anew, in a store of its own; checks and work have no network in any case."""
    if not gate.eval.setup:
        return not_applicable("there is no setup")
    try:
        verdicts = await gate.verdicts(gate.good)
    except SetupFailed as error:
        return failed(str(error), ["Let it need only what is on the allow-list ([sandbox] registries in orvl.toml)."])
    problems = [f"Good work fails {named(verdicts.failed)} without a network."] if verdicts.failed else []
    count = len(gate.eval.setup)
    return held(problems, f"{count} command{'s' * (count > 1)} of setup succeed with the allowed registries alone")


TEST = GateTest(14, "the setup is enough", run)
