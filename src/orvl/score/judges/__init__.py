"""A judge answers a checklist, or abstains and says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from orvl.errors import Abstention
from orvl.project.items import read_item

if TYPE_CHECKING:
    from orvl.types import ChecklistItem

Answer = Literal["yes", "no", "cannot-tell"]
Item = str | tuple[str, float] | Mapping[str, Any]
LEAST_TOLD = 0.5
"""The share of a checklist, by weight, below which a judge has not told enough for a score."""


@dataclass(frozen=True)
class Verdict:
    """A judge's answers to a checklist; without a score it is an abstention."""

    score: float | None
    answers: tuple[Answer, ...] = ()
    reason: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    """What is stored beside the answers: pointers, reasons, tokens, money, time."""
    good: tuple[str, ...] = ()
    """The answers of good work, where some of them are no."""
    told: float | None = None
    """The share of the checklist, by weight, that was answered yes or no."""

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


def split(items: Sequence[Item]) -> list[ChecklistItem]:
    """The items of a checklist as they are asked."""
    read = [read_item(item) for item in items]
    if wrong := next((item for item, known in zip(items, read, strict=True) if known is None), None):
        raise ValueError(f"{wrong!r} is no item of a checklist: write a sentence, or (sentence, weight).")
    return [item for item in read if item is not None]


def verdict(
    answers: Sequence[Answer],
    weights: Sequence[float] | None = None,
    good: Sequence[str] | None = None,
    least: float = LEAST_TOLD,
) -> Verdict:
    """The weighted share of good answers among the items that were answered yes or no."""
    wanted = tuple(good or ["yes"] * len(answers))
    rows = list(zip(answers, weights or [1.0] * len(answers), wanted, strict=True))
    decided = sum(weight for answer, weight, _ in rows if answer != "cannot-tell")
    total = sum(weight for _, weight, _ in rows)
    told = decided / total if total else 0.0
    given = Verdict(None, tuple(answers), good=wanted if "no" in wanted else (), told=told)
    if not decided:
        return _without_score(given, "it could not tell any item")
    if told < least - 1e-9:
        number = sum(answer != "cannot-tell" for answer in answers)
        return _without_score(
            given, f"it could tell only {number} of {len(answers)} items; a score needs {least:.0%} of their weight"
        )
    score = sum(weight for answer, weight, best in rows if answer == best) / decided
    return Verdict(score, given.answers, good=given.good, told=told)


def _without_score(given: Verdict, reason: str) -> Verdict:
    return Verdict(None, given.answers, reason, good=given.good, told=given.told)
