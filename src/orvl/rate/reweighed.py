"""The project with other weights and another λ: whatever rates by it, re-rates what the store holds."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.project import Project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.project.settings import Settings
    from orvl.types import Eval, Judge


class ReweighedProject(Project):
    """Weights are of metrics that an eval has: what was never scored cannot be weighed."""

    def __init__(self, project: Project, weights: Mapping[str, float], penalty: float | None = None) -> None:
        super().__init__(project.root)
        self._settings, self._other, self._penalty = project.settings, dict(weights), penalty

    @cached_property
    def settings(self) -> Settings:
        return self._settings if self._penalty is None else replace(self._settings, penalty=self._penalty)

    def weights(self, eval_: Eval, judges: Sequence[Judge]) -> dict[str, float]:
        own = super().weights(eval_, judges)
        moved = {name: self._other.get(name, weight) for name, weight in own.items()}
        if any(own.values()) and not any(moved.values()):
            raise UserError(f"These weights leave nothing of the eval {eval_.name}: one must be above 0.")
        return moved
