"""Boards that are kept between requests. What each rests on is compared every time, so none is shown that is old."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import TYPE_CHECKING, Any

from orvl.errors import StoreError
from orvl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.run_index import RunIndex
    from orvl.store import Store
    from orvl.store.rows import AttemptFilter, Names
    from orvl.trust.section import Trust
    from orvl.web.page import PageRequest

MOST = 3
"""Boards; one over 300,000 runs takes 36 MB."""
MOST_PARTS = 8
"""What was made of boards."""
PROJECT_PARTS = ("agents", "evals", "overlays", "scores")
RatedParts = tuple["Board", "Sequence[Row]", "Trust | None"]


class Boards:
    """One for all threads: who asks for what another one is making waits for it."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._boards, self._parts = Kept(MOST), Kept(MOST_PARTS)

    def rated(self, asked: PageRequest, by: str, only: Collection[tuple[str, ...]] | None = None) -> RatedParts:
        """By agent with what stands beside the rows, else by eval; by run, all of them at once. `only` keeps some
        contestants."""
        from orvl.trust.rated_board import rated_board, with_trust

        if by == "run":
            return rated_board(asked.project, asked.store, *_words(asked, only), by)
        with self._lock:
            key, board = self._board(asked, only)
            if by != "agent" or not board.cells:
                return board, board.cells, None
            made: RatedParts = self._parts.get(
                key and (by, key), lambda: with_trust(asked.project, asked.store, board, *_words(asked, only))
            )
            return made

    def runs(self, asked: PageRequest) -> RunIndex:
        """Every run."""
        from orvl.rate.run_index import run_index

        with self._lock:
            key, board = self._board(asked)
            made: RunIndex = self._parts.get(key and ("runs", key), lambda: run_index(asked.store, board))
            return made

    def attempts(self, asked: PageRequest, wanted: AttemptFilter) -> NDArray[np.int64]:
        """What `Store.find_attempts` finds."""
        import numpy as np

        key = (wanted, asked.version) if asked.version else None
        with self._lock:
            made: NDArray[np.int64] = self._parts.get(
                key, lambda: np.array(asked.store.find_attempts(wanted), dtype=np.int64)
            )
            return made

    def _board(self, asked: PageRequest, only: Collection[tuple[str, ...]] | None = None) -> tuple[Hashable, Board]:
        from orvl.trust.rated_board import standing_board

        words = asked.selection, asked.judges, None if only is None else frozenset(only)
        key = (asked.version, *words, _state(asked)) if asked.version else None
        return key, self._boards.get(key, lambda: standing_board(asked.project, asked.store, *_words(asked, only)))


class Kept:
    """What was made last, by what it rests on."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Under no key nothing is kept."""
        if key is None:
            return make()
        if key not in self._made:
            self._made[key] = make()
        self._made.move_to_end(key)
        while len(self._made) > self._most:
            self._made.popitem(last=False)
        return self._made[key]


def _words(
    asked: PageRequest, only: Collection[tuple[str, ...]] | None = None
) -> tuple[Callable[[Names], bool], Sequence[str], Mapping[str, bool] | None]:
    """What is asked for, as those who rate take it."""
    from orvl.plan.selection import chosen_metrics, stored_matcher

    cells = asked.store.cells()
    fits = stored_matcher(asked.project, asked.selection, [cell.names for cell in cells])

    def keep(names: Names) -> bool:
        return fits(names) and (only is None or names[:3] in only)

    return keep, asked.judges, chosen_metrics(asked.project, asked.selection, cells)


def _state(asked: PageRequest) -> Hashable:
    """Of the project: its files by their stamps, and which cells they make count, which also rests on other files."""
    from orvl.plan.identities import identities

    return tuple(_stamps(asked.project)), identities(asked.project, asked.store.cells()).ids


def _stamps(project: Project) -> Iterator[tuple[str, int, int]]:
    yield _stamp(str(project.settings_file))
    for part in PROJECT_PARTS:
        for folder, names, files in os.walk(project.root / part):
            names.sort()
            yield from (_stamp(os.path.join(folder, name)) for name in sorted(files))


def _stamp(path: str) -> tuple[str, int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return path, 0, 0
    return path, found.st_mtime_ns, found.st_size


class StoreWatch:
    """Sees whether a store has changed, by a connection of its own: another one's own changes would not show."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._opened, self._url = 0, ""
        self._store: Store | None = None

    def version(self, url: str) -> Hashable:
        """Another one after each change, and when the store is another one."""
        with self._lock:
            if self._store is None or url != self._url or not self._is_there(self._store):
                self.close()
                self._store, self._url = open_store(url, write=False), url
                self._opened += 1
            return self._opened, self._store.changes()

    @staticmethod
    def _is_there(store: Store) -> bool:
        try:
            store.check_place()
        except StoreError:
            return False
        return True

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
