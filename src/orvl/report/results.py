"""Ratings as Python objects and data frames: what the library gives back."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from orvl.errors import UserError
from orvl.report.ratings_csv import flat
from orvl.report.ratings_json import row_objects, warnings_of
from orvl.report.table import print_ratings
from orvl.report.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.engine import Execution
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.compare import Comparison
    from orvl.rate.rated_run import Run

FRAMES = ("pandas", "polars")
By = Literal["agent", "eval", "run"]


@dataclass(frozen=True)
class Results:
    """Ratings of what was run, and the runs themselves."""

    ratings: tuple[Row, ...]
    """One for each agent × model × provider × eval."""
    leaderboard: tuple[Row, ...]
    """One for each agent × model × provider, over its evals."""
    runs: tuple[Run, ...]
    warnings: tuple[str, ...]
    execution: Execution | None = None
    """How the execution ended, where something was run."""
    _board: Board = field(repr=False, kw_only=True)
    _compare: Callable[[str, str], Comparison] = field(repr=False, kw_only=True)

    @classmethod
    def of(
        cls,
        board: Board,
        runs: tuple[Run, ...],
        compare: Callable[[str, str], Comparison],
        execution: Execution | None = None,
    ) -> Results:
        return cls(
            tuple(board.cells),
            tuple(board.contestants),
            runs,
            tuple(warnings_of(board)),
            execution,
            _board=board,
            _compare=compare,
        )

    def __str__(self) -> str:
        """The table that `orvl report` prints."""
        out = io.StringIO()
        print_ratings(Terminal(out), self.leaderboard, self._board)
        return out.getvalue()

    def compare(self, a: str, b: str) -> Comparison:
        """Which of two agents, models or providers is better, paired by eval; see `orvl compare`."""
        return self._compare(a, b)

    def frame(self, by: By = "run", library: str | None = None) -> Any:
        """A data frame with a row for each run, eval (cell) or agent (contestant), by pandas or else polars."""
        place = {run.key: at for at, run in enumerate(self.runs)}
        runs = sorted(self._board.runs, key=lambda row: place[row.run or ""])
        rows = {"run": runs, "eval": self.ratings, "agent": self.leaderboard}[by]
        records = [flat(row) for row in row_objects(rows, self._board)]
        names = (library,) if library else FRAMES
        module = next((name for name in names if name in FRAMES and find_spec(name)), None)
        if module is None:
            raise UserError(f"A data frame needs {' or '.join(names)}. Install one: pip install {names[0]}")
        whole = {"infer_schema_length": None} if module == "polars" else {}
        return import_module(module).DataFrame(records, **whole)
