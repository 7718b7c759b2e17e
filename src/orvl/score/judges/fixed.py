"""A judge whose answers are written in orvl.toml: for tests, and for trying out a checklist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from orvl.errors import UserError
from orvl.score.judges import Answer, Item, Verdict, split, verdict

if TYPE_CHECKING:
    from orvl.types import Judge

ANSWERS = {"yes": "yes", "no": "no", "cannot-tell": "cannot-tell", True: "yes", False: "no"}

OPPOSITE: Mapping[Answer, Answer] = {"yes": "no", "no": "yes", "cannot-tell": "cannot-tell"}


class FixedJudge:
    """Gives the answers of orvl.toml, whatever it is asked."""

    def __init__(self, judge: Judge, metric: str) -> None:
        self.name = judge.name
        self.verdicts: list[Verdict] = []
        answers: Any = judge.answers
        self._answers = answers.get(metric, "yes") if isinstance(answers, Mapping) else answers
        self._told = judge.told
        self._place = f"judges.{judge.name}.answers" + (f".{metric}" if isinstance(answers, Mapping) else "")

    async def checklist(self, items: Sequence[Item], evidence: Any = None) -> Verdict:  # noqa: ARG002
        given = self._verdict(items)
        self.verdicts.append(given)
        return given

    def _verdict(self, items: Sequence[Item]) -> Verdict:
        answers = self._answers
        if answers == "abstain":
            return Verdict(None, (), "it was told to abstain")
        if isinstance(answers, int | float) and not isinstance(answers, bool):
            if not 0 <= answers <= 1:
                raise UserError(f"orvl.toml: {self._place} is {answers}; a score is a number from 0 to 1.")
            return Verdict(float(answers))
        checklist = split(items)
        good = [item.good for item in checklist]
        if not isinstance(answers, list):
            # One answer for all: as good work gets it, or as bad work does.
            one = self._answer(answers)
            given = [one if best == "yes" else OPPOSITE[one] for best in good]
        elif len(answers) != len(items):
            raise UserError(
                f"orvl.toml: {self._place} has {len(answers)} answers; the checklist has {len(items)} items."
            )
        else:
            given = [self._answer(answer) for answer in answers]
        return verdict(given, [weight for _, weight in checklist], good, self._told)

    def _answer(self, answer: Any) -> Answer:
        if answer not in ANSWERS:
            raise UserError(f"orvl.toml: {self._place} is {answer!r}; write yes, no, cannot-tell or abstain.")
        return cast("Answer", ANSWERS[answer])
