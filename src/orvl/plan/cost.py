"""What the remaining runs may cost: from what the same contestants and judges cost before, else unknown; never $0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.project.providers import provider_of

if TYPE_CHECKING:
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.project import Project
    from orvl.store import Store

NEWEST = 200
"""How many earlier runs or answers tell what the next one may cost."""


@dataclass(frozen=True)
class Cost:
    """Low, likely and high, in dollars; None where nothing is known."""

    low: float | None
    likely: float | None
    high: float | None
    source: str


def is_paid(project: Project, name: str) -> bool:
    """Whether runs at a provider may cost money: all but `none`, loopback addresses and those that are free."""
    if name == "none":
        return False
    own, provider = project.settings.providers.get(name), provider_of(project.settings, name)
    if provider is None:
        return not (own and own.free)
    return not provider.free and not provider.is_local


def may_cost(project: Project, name: str, model: str) -> bool:
    """Whether runs of a model may cost money: a paid provider's, and those on this machine that have a price."""
    provider = provider_of(project.settings, name)
    price = provider.price(model) if provider else None
    return is_paid(project, name) or (price is not None and max(price.input, price.output) > 0)


def cost_of(project: Project, plan: Plan, remaining: Remaining, store: Store | None) -> Cost:
    """What is left to do may cost, from what runs of the same contestant, and answers of the same judge, have cost."""
    pasts: list[list[float]] = []
    histories: dict[tuple[str, ...], list[float]] = {}
    for run in remaining.to_run:
        if may_cost(project, run.cell.provider, run.cell.model_id):
            names = run.cell.contestant
            pasts.append(histories.get(names) or _fill(histories, names, store))
            if not pasts[-1]:
                return Cost(None, None, None, "unknown: no run of this agent, model and provider has a known cost yet")
    for run in (*remaining.to_run, *remaining.to_score):
        panel = plan.panels[run.cell.eval.name]
        judged = sum(metric.judged for metric in panel.metrics)
        for judge in panel.judges:
            if judged and not judge.is_local and may_cost(project, judge.provider, judge.model):
                past = histories.get((judge.key,)) or _fill(histories, (judge.key,), store)
                if not past:
                    return Cost(None, None, None, f"unknown: no answer of the judge {judge.name} has a known cost yet")
                pasts += [past] * judged
    source = "from the costs of earlier runs and answers" if pasts else "nothing here costs money"
    low = sum(past[len(past) // 10] for past in pasts)
    likely = sum(past[len(past) // 2] for past in pasts)
    high = sum(past[-1 - len(past) // 10] for past in pasts)
    return Cost(low, likely, high, source)


def _fill(histories: dict[tuple[str, ...], list[float]], key: tuple[str, ...], store: Store | None) -> list[float]:
    """What the newest answers of a judge, or the newest runs of a contestant, have cost."""
    if store is None:
        return []
    past = store.judge_costs(key[0], NEWEST) if len(key) == 1 else store.run_costs((key[0], key[1], key[2]), NEWEST)
    histories[key] = sorted(past)
    return histories[key]
