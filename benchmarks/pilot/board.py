"""What the pilot shows, from orvl's own report: the order of skills, the spread on each eval, and how many evals a
difference takes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.pilot.running import orvl
from orvl.stats import detectable, icc, quick_detectable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

DIFFERENCES = (0.2, 0.1, 0.05)
MOST_EVALS = 4096
MIDDLE = (0.2, 0.8)


@dataclass(frozen=True)
class PilotBoard:
    """R of skills (rows, the least first) on evals (columns)."""

    skills: tuple[str, ...]
    evals: tuple[str, ...]
    R: NDArray[np.float64]
    runs: int

    @property
    def means(self) -> NDArray[np.float64]:
        return np.asarray(self.R.mean(axis=1))

    @property
    def order(self) -> float:
        """The share of pairs of skills in which the higher one has the higher rating."""
        rows, columns = np.triu_indices(len(self.skills), 1)
        return float((self.means[columns] > self.means[rows]).mean())

    @property
    def reliability(self) -> float | None:
        """Of the mean over these evals: ICC(3,k), which is Cronbach's alpha with evals as items."""
        return icc(self.R).icc3_k if len(self.evals) > 1 else None

    @property
    def reliability_of_one(self) -> float | None:
        return icc(self.R).icc3_1 if len(self.evals) > 1 else None

    def discrimination(self, place: int) -> float | None:
        """How R on an eval goes with the mean R on the others."""
        rest = np.delete(self.R, place, axis=1)
        if not rest.size or not self.R[:, place].std() or not rest.mean(axis=1).std():
            return None
        return float(np.corrcoef(self.R[:, place], rest.mean(axis=1))[0, 1])


def board_of(project: Path) -> PilotBoard:
    """From the stored runs; each skill must have been rated on each eval."""
    rows = json.loads(orvl(project, "report", "--by", "eval", "--json"))["ratings"]
    skills, evals = (tuple(sorted({row[key] for row in rows})) for key in ("model", "eval"))
    R = np.full((len(skills), len(evals)), np.nan)
    for row in rows:
        R[skills.index(row["model"]), evals.index(row["eval"])] = np.nan if row["R"] is None else row["R"]
    if np.isnan(R).any():
        missing = [f"{skills[row]} on {evals[column]}" for row, column in np.argwhere(np.isnan(R))]
        raise RuntimeError(f"not rated: {', '.join(missing)}")
    return PilotBoard(skills, evals, R, sum(row["runs"]["rated"] for row in rows))


def evals_for(difference: float, sees: Callable[[int], float | None]) -> int | None:
    """The fewest evals over which a plan sees such a difference; more always see more."""
    low, high = 6, MOST_EVALS
    if not _enough(sees(high), difference):
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _enough(sees(middle), difference) else (middle + 1, high)
    return high


def _enough(seen: float | None, difference: float) -> bool:
    return seen is not None and seen <= difference


def as_markdown(board: PilotBoard, plan: dict[str, Any], episodes: int) -> str:
    return "\n".join([*_head(board, episodes), *_by_eval(board), *_power(plan), ""])


def _head(board: PilotBoard, episodes: int) -> Iterator[str]:
    yield f"{len(board.skills)} skills × {len(board.evals)} evals × {episodes} episodes: {board.runs} runs."
    yield ""
    yield "| skill | mean R | lowest | highest |"
    yield "|---|---|---|---|"
    for name, row in zip(reversed(board.skills), board.R[::-1], strict=True):
        yield f"| {name} | {row.mean():.2f} | {row.min():.2f} | {row.max():.2f} |"
    yield ""
    yield f"Pairs of skills in order: {board.order:.0%}."
    if board.reliability is not None and board.reliability_of_one is not None:
        yield (
            f"Reliability of the mean over these evals, ICC(3,k): {board.reliability:.2f}; "
            f"of one eval, ICC(3,1): {board.reliability_of_one:.2f}."
        )
    yield ""


def _by_eval(board: PilotBoard) -> Iterator[str]:
    yield f"| eval | {' | '.join(name.removeprefix('skill-') for name in board.skills)} | sd | discrimination |"
    yield f"|---|{'---|' * (len(board.skills) + 2)}"
    for place, name in enumerate(board.evals):
        cells = " | ".join(f"{value:.2f}" for value in board.R[:, place])
        found = board.discrimination(place)
        yield f"| {name} | {cells} | {board.R[:, place].std():.2f} | {'–' if found is None else f'{found:.2f}'} |"
    yield ""


def _power(plan: dict[str, Any]) -> Iterator[str]:
    sd = min(plan["sd"], 1.0)
    yield f"The sd of paired differences on one eval is {plan['sd']:.2f} ({plan['source']})."
    yield ""
    yield "| difference | evals, by the e-value | evals, by a quick test |"
    yield "|---|---|---|"
    for difference in DIFFERENCES:
        slow = evals_for(difference, lambda evals: detectable(sd, evals))
        quick = evals_for(difference, lambda evals: quick_detectable(sd, evals))
        yield f"| {difference:.2f} | {slow or f'above {MOST_EVALS}'} | {quick or f'above {MOST_EVALS}'} |"


def middle(board: PilotBoard) -> Sequence[str]:
    """The skills whose mean lies in the middle."""
    pairs = zip(board.skills, board.means, strict=True)
    return [name for name, mean in pairs if MIDDLE[0] <= mean <= MIDDLE[1]]
