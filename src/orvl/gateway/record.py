"""What passed through the gateway, word for word: kept as it passes, put together when the run is over."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from orvl.types import ModelCall

KEPT = 16 << 20
IN_MEMORY = 1 << 20
SHORT = 16 << 10


@dataclass(frozen=True)
class Passed:
    """One call as it passed: where to, what was asked, and the answer's type and bytes."""

    path: str
    type: str | None
    asked: bytes
    answered: bytes | None


class Record:
    """The calls of a run: a few in memory, more in a folder of its own outside the sandbox."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._few: dict[int, Passed] = {}
        self._size = 0

    def tape(self, number: int, content_type: str) -> Tape:
        return Tape(self.folder / f"{number}.tape", content_type)

    def keep(self, number: int, path: str, asked: bytes, tape: Tape | None) -> None:
        """A call is over."""
        answered = tape.answer() if tape else None
        passed = Passed(path, tape.type if tape else None, asked[:KEPT], answered)
        self._few[number] = passed
        self._size += len(passed.asked) + len(answered or b"")
        if self._size > IN_MEMORY:
            self._put_down()

    def _put_down(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for number, passed in self._few.items():
            (self.folder / f"{number}.json").write_bytes(_encoded(passed))
        self._few, self._size = {}, 0

    def lines(self, calls: Sequence[ModelCall]) -> Iterator[bytes]:
        """One line of JSON for each call."""
        for call in calls:
            passed = self._few.get(call.number)
            kept = _encoded(passed) if passed else (self.folder / f"{call.number}.json").read_bytes()
            yield json.dumps({**asdict(call), **json.loads(kept)}).encode() + b"\n"


class Tape:
    """An answer as it comes, up to a bound: a short one in memory, a long one in a file."""

    def __init__(self, path: Path, content_type: str) -> None:
        self.type = content_type
        self._path = path
        self._held = bytearray()
        self._file: Any = None
        self._left = KEPT

    def add(self, chunk: bytes) -> None:
        self._held += chunk[: max(0, self._left)]
        self._left -= len(chunk)
        if len(self._held) > SHORT:
            if self._file is None:
                self._path.parent.mkdir(mode=0o700, exist_ok=True)
                self._file = self._path.open("w+b", buffering=0)
            self._file.write(self._held)
            self._held.clear()

    def answer(self) -> bytes:
        """All of it; the file is closed and gone."""
        if self._file is None:
            return bytes(self._held)
        with self._file as file:
            file.seek(0)
            self._path.unlink()
            return bytes(file.read() + self._held)


def _encoded(passed: Passed) -> bytes:
    told = {
        "path": passed.path,
        "type": passed.type,
        "asked": passed.asked.decode("utf-8", "surrogateescape"),
        "answered": None if passed.answered is None else passed.answered.decode("utf-8", "surrogateescape"),
    }
    return json.dumps(told).encode()
