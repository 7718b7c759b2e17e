"""The panel: a judge answers a checklist, or abstains and says why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from orvl.types import Judge

Answer = Literal["yes", "no", "cannot-tell"]


@dataclass(frozen=True)
class Verdict:
    """A judge's answers to a checklist; without a score it is an abstention."""

    score: float | None
    answers: tuple[Answer, ...] = ()
    reason: str | None = None

    def __float__(self) -> float:
        if self.score is None:
            raise ValueError(f"the judge abstained: {self.reason}")
        return self.score


class Panelist(Protocol):
    """What a score function gets as `judge`."""

    name: str

    async def checklist(self, items: Sequence[str], evidence: Any = None) -> Verdict: ...


def panelist(judge: Judge, metric: str) -> Panelist:
    """The judge, ready to be asked about one metric."""
    from orvl.judges.fixed import FixedJudge

    return FixedJudge(judge, metric)


def verdict(answers: Sequence[Answer]) -> Verdict:
    """The share of yes among the items that could be told."""
    told = [answer for answer in answers if answer != "cannot-tell"]
    if not told:
        return Verdict(None, tuple(answers), "it could not tell any item")
    return Verdict(told.count("yes") / len(told), tuple(answers))
