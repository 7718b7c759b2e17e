"""What a call asks for: one object for the command line and the library, whose fields are the flags of `orvl run`."""

from __future__ import annotations

from dataclasses import Field, dataclass, field, fields
from math import isfinite
from typing import Any, Literal

from orvl.errors import UserError
from orvl.plan.selection import Selection
from orvl.types import SandboxName

Samples = Literal["missing", "unanswered", "all"]
"""Which scores to make: those that are missing, also those that nobody answered, or a new sample of all."""


def _flag(default: Any, help: str, value: str = "", flag: str = "") -> Any:
    """A field that is also a flag: `value` names what it takes, `flag` is its name where it is not the field's."""
    return field(default=default, metadata={"help": help, "value": value, "flag": flag})


@dataclass(frozen=True)
class RunOptions:
    """Which runs, how many, and under which conditions; None leaves it to orvl.toml."""

    selection: Selection = field(default_factory=Selection)
    episodes: int | None = _flag(None, "Independent runs of each cell.", "N")
    judges: tuple[str, ...] = _flag((), "A judge for the panel, instead of all in orvl.toml.", "NAME", "judge")
    concurrency: int | None = _flag(None, "Runs at the same time.", "N")
    sandbox: SandboxName | None = _flag(None, "Sandbox (default: bubblewrap).", "SANDBOX")  # noqa: RUF009
    image: str | None = _flag(None, "Image or root folder for podman and docker.", "NAME")
    budget: float | None = _flag(None, "Stop when this much is spent.", "USD")
    allow_unpriced: bool = _flag(
        False, "With --budget: call models without a price, too, which it cannot count.", flag="allow-unpriced"
    )
    race: bool = _flag(False, "Stop contestants early once they are clearly worse.")
    fresh: bool = _flag(False, "Run new episodes beside the existing ones.")
    samples: Samples = "missing"
    seed: int | None = None
    """Of the order of runs; drawn and recorded where None."""
    written: tuple[str, ...] = ()
    """The call as the user wrote it, for the record."""

    def __post_init__(self) -> None:
        if self.budget is not None and not (isfinite(self.budget) and self.budget >= 0):
            raise UserError(f"--budget {self.budget} is not an amount of money.")
        if any(number is not None and number < 1 for number in (self.episodes, self.concurrency)):
            raise UserError("episodes and concurrency must be 1 or more.")
        if self.race and self.fresh:
            raise UserError(
                "--race and --fresh do not go together: restarting a race whose results are known makes it unfair. "
                "Drop --fresh to continue it, or keep another race in --store DIR."
            )


def flags() -> list[Field[Any]]:
    """The fields of RunOptions that are flags of the command line."""
    return [option for option in fields(RunOptions) if "help" in option.metadata]
