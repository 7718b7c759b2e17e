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
PIECE = 1 << 18


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
            with (self.folder / f"{number}.call").open("wb") as file:
                file.writelines(_packed(raw))
        self._in_memory, self._size = {}, 0

    def lines(self, calls: Sequence[ModelCall]) -> Iterator[bytes]:
        """One line of JSON for each call, in pieces: a large one at once would hold up all other threads."""
        for call in calls:
            raw = self._in_memory.get(call.number) or _unpacked(self.folder / f"{call.number}.call")
            figures = json.dumps({**asdict(call), "path": raw.path, "type": raw.type}).encode()
            yield figures.removesuffix(b"}") + b', "asked": '
            yield from _text(raw.asked)
            yield b', "answered": '
            yield from _text(raw.answered)
            yield b"}\n"


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


def _packed(raw: RawCall) -> Iterator[bytes]:
    """A call as a file: a line that says what follows, and the bytes as they came."""
    sizes = len(raw.asked), None if raw.answered is None else len(raw.answered)
    yield json.dumps([raw.path, raw.type, *sizes]).encode() + b"\n"
    yield raw.asked
    yield raw.answered or b""


def _unpacked(path: Path) -> RawCall:
    with path.open("rb") as file:
        suffix, kind, asked, answered = json.loads(file.readline())
        return RawCall(suffix, kind, file.read(asked), None if answered is None else file.read(answered))


def _text(data: bytes | None) -> Iterator[bytes]:
    """Bytes as a JSON string, or null."""
    if data is None:
        yield b"null"
        return
    text = data.decode("utf-8", "surrogateescape")
    yield b'"'
    for start in range(0, len(text), PIECE):
        yield json.dumps(text[start : start + PIECE]).encode()[1:-1]
    yield b'"'
