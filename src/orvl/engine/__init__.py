"""Who carries runs out. The store is the only truth; an engine only does the work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.types import Attempt, PlannedRun, Score


class Watcher(Protocol):
    """Is told what happens, when it is durable."""

    def started(self, planned: PlannedRun) -> None: ...

    def ended(self, planned: PlannedRun, attempt: Attempt, scores: Sequence[Score]) -> None: ...

    def scored(self, planned: PlannedRun, scores: Sequence[Score]) -> None: ...

    def say(self, sentence: str) -> None: ...
