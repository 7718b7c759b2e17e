"""Prices that a budget needs: models without one are refused before anything is spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.endpoints import check_prices, without_price
from orvl.project.user import as_judge, asks_users

if TYPE_CHECKING:
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.project.settings import Settings


def check_budget(
    settings: Settings, plan: Plan, remaining: Remaining, budget: float | None, *, allow_unpriced: bool
) -> None:
    """Refuses a budget that cannot count what is left to do, unless that is allowed."""
    if budget is None or allow_unpriced:
        return
    cells = {run.cell.key: run.cell for run in remaining.to_run}.values()
    evals = {run.cell.eval.name for run in remaining.todo}
    judges = [judge for name in evals for judge in plan.panels[name].judges]
    if settings.user and asks_users(remaining.to_run):
        judges.append(as_judge(settings))
    check_prices(without_price(settings, cells, plan.endpoints, judges))
