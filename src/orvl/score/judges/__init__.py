"""A judge answers a checklist, or abstains and says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from orvl.errors import Abstention

Answer = Literal["yes", "no", "cannot-tell"]
Item = str | tuple[str, float]


@dataclass(frozen=True)
class Verdict:
    """A judge's answers to a checklist; without a score it is an abstention."""

    score: float | None
    answers: tuple[Answer, ...] = ()
    reason: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What is stored beside the answers: pointers, reasons, tokens, money, time."""

    def __float__(self) -> float:
        if self.score is None:
            raise Abstention(self.reason or "no reason given")
        return self.score


class ChecklistJudge(Protocol):
    """What a score function gets as `judge`."""

    name: str
    verdicts: list[Verdict]
    """All verdicts that it gave, in order."""

    async def checklist(self, items: Sequence[Item], evidence: Any = None) -> Verdict: ...


def split(items: Sequence[Item]) -> tuple[list[str], list[float]]:
    """The sentences of a checklist and the weight of each (default: 1)."""
    pairs = [(item, 1.0) if isinstance(item, str) else (item[0], float(item[1])) for item in items]
    return [text for text, _ in pairs], [weight for _, weight in pairs]


def verdict(answers: Sequence[Answer], weights: Sequence[float] | None = None) -> Verdict:
    """The weighted share of yes among the items that were answered yes or no."""
    weighted = list(zip(answers, weights or [1.0] * len(answers), strict=True))
    decided = sum(weight for answer, weight in weighted if answer != "cannot-tell")
    if not decided:
        return Verdict(None, tuple(answers), "it could not tell any item")
    return Verdict(sum(weight for answer, weight in weighted if answer == "yes") / decided, tuple(answers))
