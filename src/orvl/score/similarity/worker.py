"""Features of untrusted files: made once for each content, in one warm process beside this one."""

from __future__ import annotations

import atexit
import hashlib
from collections import Counter
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any

from orvl.errors import ChildFailed
from orvl.score.similarity.child import FILE_SECONDS
from orvl.score.similarity.features import Features
from orvl.worker.child_process import ChildProcess

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL_SECONDS = 0.6
"""Processor time for parsing all files of a project; after it, the rest is compared by tokens and words."""
WALL_SECONDS = 20.0
START_SECONDS = 60.0
MAX_CACHED = 4 << 20
"""How many characters of source have their features kept."""


class Worker:
    """The process that parses, started when it is first needed and again when a file has ended it."""

    def __init__(self) -> None:
        self._child: ChildProcess | None = None
        self._cached: dict[tuple[bytes, bool], tuple[int, list[Features]]] = {}
        self._lock = Lock()
        atexit.register(self.close)

    def features(self, files: Iterable[tuple[str, str]]) -> list[Features]:
        """The features of each (path, text)."""
        return [unit for units in self._all(files, by_function=False) for unit in units or [Features()]]

    def functions(self, files: Iterable[tuple[str, str]]) -> list[Features]:
        """The features of every function of the files."""
        return [unit for units in self._all(files, by_function=True) for unit in units]

    def close(self) -> None:
        """Ends the process."""
        child, self._child = self._child, None
        if child:
            child.close()

    def _all(self, files: Iterable[tuple[str, str]], by_function: bool) -> list[list[Features]]:
        left = ALL_SECONDS
        answers = []
        with self._lock:
            for path, text in files:
                suffix = path[path.rfind(".") :]
                key = hashlib.sha256(f"{suffix}\0{text}".encode("utf-8", "replace")).digest(), by_function
                if key in self._cached:
                    answers.append(self._cached[key][1])
                    continue
                units, rest = self._features(path, text, left, by_function)
                answers.append(units)
                # Without time left there was no tree: another project may have the time.
                if left > 0:
                    self._cache(key, len(text), units)
                left = rest
        return answers

    def _cache(self, key: tuple[bytes, bool], size: int, units: list[Features]) -> None:
        self._cached[key] = size, units
        while len(self._cached) > 1 and sum(size for size, _ in self._cached.values()) > MAX_CACHED:
            del self._cached[next(iter(self._cached))]

    def _features(self, path: str, text: str, left: float, by_function: bool) -> tuple[list[Features], float]:
        """The features of a file and the time left; if parsing ends the process, once more without a tree."""
        for seconds in (left, 0.0):
            answer = self._ask([path, text, seconds, by_function])
            if answer:
                return [_unpacked(row) for row in answer[0]], min(left, answer[1]) if seconds else left
            left -= min(left, FILE_SECONDS)
        return [], left

    def _ask(self, question: list[object]) -> list[Any] | None:
        """The child's answer; None where the question has ended it."""
        if self._child is None or not self._child.is_alive:
            self.close()
            self._start()
        assert self._child
        try:
            answer: list[Any] = self._child.ask(question, WALL_SECONDS)
        except ChildFailed:
            self.close()
            return None
        return answer

    def _start(self) -> None:
        self._child = ChildProcess("orvl.score.similarity.child")
        try:
            self._child.ask(None, START_SECONDS)
        except ChildFailed as error:
            self.close()
            raise ChildFailed(f"Cannot start the process that parses code: it {error}.") from error


def _unpacked(row: list[Any]) -> Features:
    subtrees, api, literals, grams, purpose = (Counter(dict(zip(*pair, strict=True))) for pair in row[:5])
    return Features(subtrees, api, literals, set(row[5]), grams, purpose, row[6], row[7])


@cache
def worker() -> Worker:
    """The one of this process."""
    return Worker()
