"""16. With a panel: items of the eval that judges answer alike on good and bad work are dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.rate.collect import of_store
from orvl.rate.item_shares import item_shares
from orvl.trust.control_agents import BUILT_IN
from orvl.trust.vetting.gate import Gate, GateResult, GateTest, held, not_applicable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.rate.item_shares import ItemShares

ALIKE = 0.10


async def run(gate: Gate) -> GateResult:
    own = {item[0] for items in gate.eval.items.values() for item in items.items}
    if not own:
        return not_applicable("the eval brings no items for judges")
    if not gate.project.panel():
        return not_applicable("yet: there is no judge on the panel ([judges.NAME] in orvl.toml)")
    shares = _shares(gate)
    if shares is None or not shares.verdicts:
        return not_applicable(f"yet: no judge has seen its controls (orvl certify --eval {gate.eval.name})")
    alike = list(_alike(shares, own))
    problems = [
        f"Drop '{text}' from items: judges say yes to it on good work {g:.0%}, on bad {b:.0%}." for text, g, b in alike
    ]
    return held(problems, f"{len(own) - len(alike)} of {len(own)} items tell good work from bad")


def _shares(gate: Gate) -> ItemShares | None:
    if gate.store is None:
        return None
    name, controls = gate.eval.name, (BUILT_IN["good"], BUILT_IN["bad"])
    board = of_store(gate.project, gate.store, lambda names: names[3] == name and names[0] in controls, (), None)
    return item_shares(gate.store, board, name)


def _alike(shares: ItemShares, own: set[str]) -> Iterator[tuple[str, float, float]]:
    """Items that say no more of good work than of bad, with the shares of yes."""
    by_agent = {names[0]: names for names in shares.contestants}
    for item, text in shares.items.items():
        said = [shares.share(item, by_agent[BUILT_IN[one]]) for one in ("good", "bad") if BUILT_IN[one] in by_agent]
        if text in own and len(said) == 2 and None not in said:
            good, bad = (share or 0.0 for share in said)
            if good - bad < ALIKE:
                yield text, good, bad


TEST = GateTest(16, "items tell good from bad", run)
