"""Words of a board's address that change what it shows: weights, λ, who is too dear, and against whom all are held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.project.names import did_you_mean
from orvl.rate.reweighed import ReweighedProject
from orvl.web.page import SelectionWords

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.web.page import PageRequest

WEIGHT = "w."
OWN_WORDS = ("max_cost", "max_seconds", "against", "axis", "lambda")
AXES = ("whole", "fit")


@dataclass(frozen=True)
class BoardWords:
    """What of it was asked for."""

    weights: Mapping[str, float]
    penalty: float | None = None
    max_cost: float | None = None
    max_seconds: float | None = None
    against: str | None = None
    is_fitted: bool = False

    @classmethod
    def of(cls, asked: PageRequest) -> BoardWords:
        weights = [word for word in asked.words if word.startswith(WEIGHT)]
        asked.only(*SelectionWords, *OWN_WORDS, *weights)
        metrics = [word.removeprefix(WEIGHT) for word in weights]
        for name in metrics:
            if name not in asked.project.metric_files:
                raise UserError(f"There is no metric '{name}'. {did_you_mean(name, asked.project.metric_files)}")
        axis = asked.words.get("axis", AXES[0])
        if axis not in AXES:
            raise UserError(f"There is no axis '{axis}'. {did_you_mean(axis, AXES)}")
        return cls(
            {name: _not_below_zero(asked, f"{WEIGHT}{name}") or 0.0 for name in metrics},
            _not_below_zero(asked, "lambda"),
            _not_below_zero(asked, "max_cost"),
            _not_below_zero(asked, "max_seconds"),
            asked.words.get("against"),
            axis == "fit",
        )

    @property
    def is_rerated(self) -> bool:
        return bool(self.weights) or self.penalty is not None

    def project(self, project: Project) -> Project:
        return ReweighedProject(project, self.weights, self.penalty) if self.is_rerated else project

    def version(self, version: Hashable | None) -> Hashable | None:
        """What is kept under other weights is another board."""
        by_others = version is not None and self.is_rerated
        return (version, tuple(sorted(self.weights.items())), self.penalty) if by_others else version

    @property
    def rerated_sentence(self) -> str:
        weights = [f"{name} {weight:g}" for name, weight in self.weights.items()]
        moved = [*weights, *([f"λ {self.penalty:g}"] if self.penalty is not None else [])]
        return (
            f"Re-rated with {', '.join(moved)}, as this address says. A certificate is of the project's own weights, "
            "so nobody is ranked here. To keep them: [metrics] and penalty in orvl.toml."
        )

    @property
    def has_limits(self) -> bool:
        return self.max_cost is not None or self.max_seconds is not None

    def affordable(self, rows: Iterable[Row]) -> set[tuple[str, str, str]]:
        """Contestants of which it is known that they keep to the limits."""
        return {row.contestant for row in rows if self._keeps_to(row)}

    def _keeps_to(self, row: Row) -> bool:
        limits = (self.max_cost, row.cost_per_run), (self.max_seconds, row.seconds_per_run)
        return all(most is None or (spent is not None and spent.mean <= most) for most, spent in limits)

    def contestant(self, rows: Iterable[Row]) -> tuple[str, str, str] | None:
        """Whom all are held against: the agent alone is enough where it has one model at one provider."""
        if self.against is None:
            return None
        known = {" ".join(row.contestant): row.contestant for row in rows if row.R is not None}
        fitting = [names for text, names in known.items() if self.against in (text, names[0])]
        if len(fitting) != 1:
            why = "stands for several contestants" if fitting else "is no contestant with a rating here"
            raise UserError(f"against={self.against} {why}. {did_you_mean(self.against, known)}")
        return fitting[0]


NO_WORDS = BoardWords({})


def _not_below_zero(asked: PageRequest, name: str) -> float | None:
    number = asked.number(name)
    if number is not None and number < 0:
        raise UserError(f"{name}={number:g} is below 0.")
    return number
