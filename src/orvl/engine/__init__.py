"""Who carries runs out. The store is the only truth; an engine only does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from orvl.types import Attempt, PlannedRun


class Watcher(Protocol):
    """Is told what happens, when it is durable."""

    def started(self, planned: PlannedRun) -> None: ...

    def ended(self, planned: PlannedRun, attempt: Attempt) -> None: ...

    def gave_up(self, planned: PlannedRun) -> None: ...

    def scored(self, planned: PlannedRun) -> None: ...

    def say(self, sentence: str) -> None: ...


class RunPolicy(Protocol):
    """Decides while runs go on which others are still worth starting; a race is one."""

    def may_start(self, planned: PlannedRun, at_once: int) -> bool:
        """Whether a run is needed now, where `at_once` runs may go on together."""
        ...

    def ended(self, planned: PlannedRun) -> list[str]:
        """Takes note that a run was scored or given up; returns what to tell the user."""
        ...
