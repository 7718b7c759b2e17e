"""Keys that a plan needs and the environment does not have, with the runs that would be skipped for them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.project.endpoints import without_key
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining


@dataclass(frozen=True)
class MissingKey:
    """The variable that a provider's key is read from, and how many runs need it."""

    variable: str
    provider: str
    runs: int

    def __str__(self) -> str:
        return f"{self.variable} is not set: {count(self.runs, 'run')} at {self.provider} would be skipped."


def missing_keys(plan: Plan, remaining: Remaining, environment: Mapping[str, str]) -> list[MissingKey]:
    """By provider, of the runs that are left to do."""
    asked = [run.cell for run in remaining.to_run if run.cell.key in plan.endpoints]
    providers = {cell.provider: plan.endpoints[cell.key] for cell in asked}
    missing, runs = without_key(providers.values(), environment), Counter(cell.provider for cell in asked)
    return [
        MissingKey(endpoint.provider.key or "", name, runs[name])
        for name, endpoint in sorted(providers.items())
        if endpoint.provider.name in missing
    ]
