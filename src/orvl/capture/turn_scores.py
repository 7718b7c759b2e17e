"""What an agent achieved in each turn, what of it held, and what it broke later: from the results of its checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.types import CheckResult

OF_TURNS, OF_THE_END = 0.4, 0.6
FALL = 0.2
"""By so much a check's result falls at least when something is broken."""


@dataclass(frozen=True)
class TurnScore:
    """The checks after one turn."""

    turn: int
    """0: the end of the run."""
    new: float | None
    """The weighted mean of what was first due in this turn; None where nothing was."""
    held: float | None
    """The weighted mean of all that is wanted by now, times the share of what had to stay; None without any of it."""
    counts: Mapping[str, tuple[int, int]]
    """How many of the `new` and of the earlier checks (`kept`) passed, and how many there are."""
    broke: tuple[str, ...]
    """Checks that were better after the turn before."""


def turn_scores(results: Sequence[CheckResult]) -> list[TurnScore]:
    """Of each turn after which something was checked, and of the end of the run (0), which is its last turn."""
    by_turn: dict[int, dict[str, CheckResult]] = {}
    for result in results:
        by_turn.setdefault(result.turn, {})[result.name] = result
    scores = []
    before: dict[str, CheckResult] = {}
    for turn in sorted(by_turn, key=lambda turn: (turn == 0, turn)):
        scores.append(_score(turn, by_turn[turn], before))
        before = by_turn[turn]
    return scores


def checks_score(results: Sequence[CheckResult]) -> float | None:
    """All of it as one number: what was achieved in its turn, and, above all, what is there at the end."""
    scores = turn_scores(results)
    new = [one.new for one in scores if one.new is not None]
    at_end = next((one.held for one in scores if not one.turn), None)
    if at_end is None or not new or not any(result.due and not result.keep for result in results):
        return at_end
    return OF_TURNS * sum(new) / len(new) + OF_THE_END * at_end


def _score(turn: int, here: dict[str, CheckResult], before: dict[str, CheckResult]) -> TurnScore:
    wanted = [one for one in here.values() if not one.keep]
    new = [one for one in wanted if one.due == turn]
    earlier = [one for one in here.values() if one not in new]
    held, stayed = _mean(wanted), _mean(one for one in here.values() if one.keep)
    return TurnScore(
        turn,
        _mean(new),
        None if held is None else held * (1.0 if stayed is None else stayed),
        {name: (sum(one.passed for one in some), len(some)) for name, some in (("new", new), ("kept", earlier))},
        tuple(name for name, one in here.items() if name in before and before[name].value - one.value >= FALL - 1e-9),
    )


def _mean(results: Iterable[CheckResult]) -> float | None:
    some = list(results)
    total = sum(one.weight for one in some)
    return sum(one.weight * one.value for one in some) / total if total else None
