"""What a call asks for, beside which runs: one object, for the command line and the library alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from orvl.plan.selection import Selection
from orvl.types import SandboxName

Samples = Literal["missing", "unanswered", "all"]
"""Which scores to make: those that are missing, also those that nobody answered, or a new sample of all."""


@dataclass(frozen=True)
class RunOptions:
    """Which runs, how many, and under which conditions; None leaves it to orvl.toml."""

    selection: Selection = field(default_factory=Selection)
    episodes: int | None = None
    judges: tuple[str, ...] = ()
    concurrency: int | None = None
    sandbox: SandboxName | None = None
    image: str | None = None
    budget: float | None = None
    race: bool = False
    fresh: bool = False
    samples: Samples = "missing"
    seed: int | None = None
    """Of the order of runs; drawn and recorded where None."""
    written: tuple[str, ...] = ()
    """The call as the user wrote it, for the record."""
