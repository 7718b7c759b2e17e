"""`when: {failed: CHECK}` above a wording: it must be about a check that is due by then, and leave no case without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.errors import FileError
from orvl.project.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from orvl.project.wordings import WrittenPrompt
    from orvl.types import Check, When, Wording


def check_conditions(
    path: Path,
    turns: Sequence[Sequence[WrittenPrompt]],
    wordings: Sequence[Sequence[Wording]],
    checks: Sequence[Check],
) -> frozenset[str]:
    """The checks that conditions ask for; a condition that cannot be meant is refused."""
    by_name = {check.name: check for check in checks}
    asked: set[str] = set()
    for turn, (written, said) in enumerate(zip(turns, wordings, strict=False), 1):
        for text, wording in zip(written, said, strict=True):
            if wording.when is None:
                continue
            if why := _wrong(wording.when, turn, len(turns), by_name):
                raise FileError(path, text.line, why)
            asked.add(wording.when.check)
        if not _covers_all(said):
            sentence = (
                f"turn {turn} has no wording for the other case: add one without 'when' below a line of '--- or'."
            )
            raise FileError(path, written[0].line, sentence)
    return frozenset(asked)


def _wrong(when: When, turn: int, turns: int, checks: dict[str, Check]) -> str:
    if turn == 1:
        return "nothing is checked before the first turn: only later ones may have a 'when'."
    if when.check not in checks:
        return f"there is no check '{when.check}'. {did_you_mean(when.check, checks)}"
    check, before = checks[when.check], turn - 1
    if (check.turn or turns) > before:
        return f"the check '{check.name}' is not due after turn {before}: give it 'turn: {before}', or an earlier one."
    if check.until and check.until <= before:
        return (
            f"the check '{check.name}' is retired from turn {check.until} on, so it says nothing after turn {before}."
        )
    return ""


def _covers_all(wordings: Sequence[Wording]) -> bool:
    """Whether there is something to say whatever the checks found."""
    conditions = {wording.when for wording in wordings}
    return None in conditions or any(
        when and type(when)(when.check, passed=not when.passed) in conditions for when in conditions
    )
