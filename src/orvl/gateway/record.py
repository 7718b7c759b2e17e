"""Requests and answers, word for word: kept while they pass, and put together when the run is over."""

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
class RawCall:
    """One call as it passed: its path, the request, and the answer's type and bytes."""

    path: str
    type: str | None
    asked: bytes
    answered: bytes | None


class Record:
    """The calls of a run: a few in memory, more in a folder of its own outside the sandbox."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._in_memory: dict[int, RawCall] = {}
        self._size = 0

    def answer_log(self, number: int, content_type: str) -> AnswerLog:
        return AnswerLog(self.folder / f"{number}.answer", content_type)

    def keep(self, number: int, path: str, asked: bytes, log: AnswerLog | None) -> None:
        """A call is over."""
        answered = log.take() if log else None
        raw = RawCall(path, log.type if log else None, asked[:KEPT], answered)
        self._in_memory[number] = raw
        self._size += len(raw.asked) + len(answered or b"")
        if self._size > IN_MEMORY:
            self._flush()

    def _flush(self) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for number, raw in self._in_memory.items():
            (self.folder / f"{number}.json").write_bytes(_encoded(raw))
        self._in_memory, self._size = {}, 0

    def lines(self, calls: Sequence[ModelCall]) -> Iterator[bytes]:
        """One line of JSON for each call."""
        for call in calls:
            raw = self._in_memory.get(call.number)
            kept = _encoded(raw) if raw else (self.folder / f"{call.number}.json").read_bytes()
            yield json.dumps({**asdict(call), **json.loads(kept)}).encode() + b"\n"


class AnswerLog:
    """An answer while it arrives, up to a limit: a short one in memory, a long one in a file."""

    def __init__(self, path: Path, content_type: str) -> None:
        self.type = content_type
        self._path = path
        self._buffer = bytearray()
        self._file: Any = None
        self._left = KEPT

    def add(self, chunk: bytes) -> None:
        self._buffer += chunk[: max(0, self._left)]
        self._left -= len(chunk)
        if len(self._buffer) > SHORT:
            if self._file is None:
                self._path.parent.mkdir(mode=0o700, exist_ok=True)
                self._file = self._path.open("w+b", buffering=0)
            self._file.write(self._buffer)
            self._buffer.clear()

    def take(self) -> bytes:
        """All of it; the file is removed."""
        if self._file is None:
            return bytes(self._buffer)
        with self._file as file:
            file.seek(0)
            self._path.unlink()
            return bytes(file.read() + self._buffer)


def _encoded(raw: RawCall) -> bytes:
    content = {
        "path": raw.path,
        "type": raw.type,
        "asked": raw.asked.decode("utf-8", "surrogateescape"),
        "answered": None if raw.answered is None else raw.answered.decode("utf-8", "surrogateescape"),
    }
    return json.dumps(content).encode()
