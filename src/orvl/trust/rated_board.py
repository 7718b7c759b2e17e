"""The board as every report shows it: rated, with its certificate's standing, and with what stands beside the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.store import Store
    from orvl.store.rows import Names
    from orvl.trust.people import People
    from orvl.trust.section import Trust


def rated_board(
    project: Project,
    store: Store,
    keep: Callable[[Names], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
    by: str,
    *,
    by_run: bool = False,
) -> tuple[Board, Sequence[Row], Trust | None]:
    """The board, its rows by agent, eval or run, and what stands beside the rows of agents."""
    words = keep, judges, metrics
    board = standing_board(project, store, *words, by_run=by_run or by == "run")
    if by != "agent" or not board.cells:
        return board, board.runs if by == "run" else board.cells, None
    return with_trust(project, store, board, *words)


def standing_board(
    project: Project,
    store: Store,
    keep: Callable[[Names], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
    *,
    by_run: bool = False,
) -> Board:
    """The board alone, and how its judges stand to a certificate."""
    from orvl.rate.collect import of_store
    from orvl.trust.standing import with_standing

    return with_standing(project, store, of_store(project, store, keep, judges, metrics, by_run=by_run))


def with_trust(
    project: Project,
    store: Store,
    board: Board,
    keep: Callable[[Names], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
) -> tuple[Board, Sequence[Row], Trust | None]:
    """The board with the warnings of what stands beside it, its rows by agent, and that."""
    from orvl.trust.section import trust

    rows, beside = trust(project, store, board)
    board = replace(board, warnings=(*board.warnings, *beside.warnings))
    return board, rows, replace(beside, people=_people(project, store, keep, judges, metrics))


def _people(project: Project, store: Store, *words: Any) -> People | None:
    if not store.labels():
        return None
    from orvl.trust.people import people

    return people(project, store, *words)
