"""Features of files that nobody trusts: made once for each content, in one warm process beside this one."""

from __future__ import annotations

import atexit
import hashlib
import json
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from functools import cache
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

from orvl.errors import OrvlError
from orvl.score.similarity.child import FILE_SECONDS
from orvl.score.similarity.features import Features

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL_SECONDS = 0.6
"""Processor time for parsing all files of a project; after it, the rest is compared by tokens and words."""
WALL_SECONDS = 20.0
MOST_KEPT = 4 << 20
"""How many characters of source have their features kept."""


class Worker:
    """The process that parses, started when it is first needed and again when a file has ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._kept: dict[tuple[bytes, bool], tuple[int, list[Features]]] = {}
        self._lock = Lock()
        atexit.register(self.close)

    def features(self, files: Iterable[tuple[str, str]]) -> list[Features]:
        """The features of each (path, text)."""
        return [one for found in self._all(files, by_function=False) for one in found or [Features()]]

    def functions(self, files: Iterable[tuple[str, str]]) -> list[Features]:
        """The features of every function of the files."""
        return [one for found in self._all(files, by_function=True) for one in found]

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()

    def _all(self, files: Iterable[tuple[str, str]], by_function: bool) -> list[list[Features]]:
        left = ALL_SECONDS
        answers = []
        with self._lock:
            for path, text in files:
                suffix = path[path.rfind(".") :]
                key = hashlib.sha256(f"{suffix}\0{text}".encode("utf-8", "replace")).digest(), by_function
                if key in self._kept:
                    answers.append(self._kept[key][1])
                    continue
                found, rest = self._made(path, text, left, by_function)
                answers.append(found)
                if left > 0:
                    self._keep(key, len(text), found)
                left = rest
        return answers

    def _keep(self, key: tuple[bytes, bool], size: int, found: list[Features]) -> None:
        self._kept[key] = size, found
        while len(self._kept) > 1 and sum(size for size, _ in self._kept.values()) > MOST_KEPT:
            del self._kept[next(iter(self._kept))]

    def _made(self, path: str, text: str, left: float, by_function: bool) -> tuple[list[Features], float]:
        """The features of a file and the time left; where parsing ends the process, once more without a tree."""
        for seconds in (left, 0.0):
            answer = self._asked([path, text, seconds, by_function])
            if answer:
                return [_unpacked(row) for row in answer[0]], min(left, answer[1]) if seconds else left
            left -= min(left, FILE_SECONDS)
        return [], left

    def _asked(self, question: list[object]) -> list[Any] | None:
        if self._process and self._process.poll() is not None:
            self.close()
        process = self._process or self._started()
        assert process.stdin and process.stdout
        timer = Timer(WALL_SECONDS, process.kill)
        timer.start()
        line = ""
        with suppress(OSError):
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        timer.cancel()
        if line.endswith("\n"):
            answer: list[Any] = json.loads(line)
            return answer
        self.close()
        return None

    def _started(self) -> subprocess.Popen[str]:
        argv = [sys.executable, "-P", "-m", "orvl.score.similarity.child"]
        pipe = subprocess.PIPE
        process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8")
        assert process.stdout
        if process.stdout.readline() != '"ready"\n':
            process.kill()
            said = process.communicate()[1].strip().splitlines() or ["it said nothing"]
            raise OrvlError(f"The process that parses code could not be started: {said[-1]}.")
        self._process = process
        return process


def _unpacked(row: list[Any]) -> Features:
    subtrees, api, literals, grams, purpose = (Counter(dict(zip(*pair, strict=True))) for pair in row[:5])
    return Features(subtrees, api, literals, set(row[5]), grams, purpose, row[6], row[7])


@cache
def worker() -> Worker:
    """The one of this process."""
    return Worker()
