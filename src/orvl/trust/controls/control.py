"""What a control is: a name, how its files are made, and what sound judges must say of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from orvl.rate.stats.claims import Claim, ClaimResult, PanelScores, examine

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from orvl.rate.stats.claims import Side
    from orvl.trust.mutate.source import ControlSource

Results = Iterator[ClaimResult]
"""How what is asked of the judges came out."""
FIXED, FROM_GOOD, FROM_BAD = "fixed", "derived from controls/good", "derived from controls/bad"


class Derived(NamedTuple):
    """The files of a control as orvl makes them, where they come from, and details for the report."""

    files: Mapping[str, bytes]
    origin: str
    detail: dict[str, Any]


@dataclass(frozen=True)
class ControlFiles:
    """A control on one eval: files of known quality to put into its workspace."""

    name: str
    files: Mapping[str, bytes]
    source: str
    """`by hand: controls/NAME`, `derived from controls/NAME`, or `fixed`."""
    detail: Mapping[str, Any] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()
    """The paths that can be run by themselves."""
    deleted: frozenset[str] = frozenset()
    """What it removes from the workspace."""
    by_turn: Path | None = None
    """The folder that a user wrote, where it says what each turn leaves."""


@dataclass(frozen=True)
class LadderEvidence:
    """What the judges said of all controls."""

    scores: PanelScores
    bug_metric: str | None = None
    """The metric in which a planted bug has to show; None for the rating."""
    flips: NDArray[np.float64] | None = None
    """For each eval, how often a planted bug turned an item from yes to no; None where no judge answers items."""

    @property
    def judges(self) -> tuple[str, ...]:
        return self.scores.judges

    def without(self, judges: Sequence[str]) -> LadderEvidence | None:
        """The evidence of the remaining judges; None unless they hold more than half of the weight."""
        scores = self.scores.without(judges)
        return None if scores is None else replace(self, scores=scores)

    def test(
        self,
        name: str,
        what: str,
        control: str,
        against: str | None,
        side: Side,
        margin: float,
        *,
        judge: str | None = None,
        metric: str | None = None,
        fault: str,
    ) -> ClaimResult:
        """Whether the scores show `control` − `against`, or `control` alone, on the right side of the margin."""
        return examine(self.scores, Claim(name, what, control, against, side, margin, judge, metric, fault))


def asks_nothing(_: LadderEvidence) -> Results:
    return iter(())


@dataclass(frozen=True)
class Control:
    """One rung of the ladder. `make` raises ControlUnavailable, with what to add, where an eval cannot have it."""

    id: str
    """C0 to C15, as docs/certify.md has them; the ladder is in this order."""
    name: str
    make: Callable[[ControlSource], Derived]
    gate: Callable[[LadderEvidence], Results] = asks_nothing
    """Tests without which there is no certificate: T1 to T5."""
    warnings: Callable[[LadderEvidence], Results] = asks_nothing
    """Tests that only warn, corrected together for their number."""
    by_hand: Mapping[str, Any] = field(default_factory=dict)
    """Details of a control that a user wrote as files."""

    @property
    def is_in_gate(self) -> bool:
        return self.gate is not asks_nothing


def from_worst(source: ControlSource, files: Mapping[str, bytes], **detail: Any) -> Derived:
    """Files made from the bad control, or from the emptied good one where nobody wrote a bad one."""
    _, is_by_hand = source.worst
    return Derived(files, FROM_BAD if is_by_hand else FROM_GOOD, {"truth": 0.0, **detail})
