"""What passed through the gateway, word for word: written as it passes, put together when the run is over."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from orvl.types import ModelCall

KEPT = 16 << 20


class Record:
    """The files of a run's calls, in a folder of its own outside the sandbox."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(mode=0o700, exist_ok=True)

    def asked(self, number: int, path: str, body: bytes) -> None:
        (self.folder / f"{number}.path").write_text(path)
        (self.folder / f"{number}.asked").write_bytes(body[:KEPT])

    def tape(self, number: int, content_type: str) -> Tape:
        (self.folder / f"{number}.type").write_text(content_type)
        (self.folder / f"{number}.answered").unlink(missing_ok=True)
        return Tape(self.folder / f"{number}.answered")

    def lines(self, calls: Sequence[ModelCall]) -> Iterator[bytes]:
        """One line of JSON for each call."""
        for call in calls:
            told: dict[str, Any] = asdict(call)
            for part in ("path", "type", "asked", "answered"):
                file = self.folder / f"{call.number}.{part}"
                told[part] = file.read_bytes().decode("utf-8", "surrogateescape") if file.is_file() else None
            yield json.dumps(told).encode() + b"\n"


class Tape:
    """An answer as it comes, up to a bound; the file is opened when the first byte is there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None
        self._left = KEPT

    def add(self, chunk: bytes) -> None:
        if self._left > 0 and chunk:
            if self._file is None:
                self._file = self._path.open("wb", buffering=0)
            self._file.write(chunk[: self._left])
            self._left -= len(chunk)

    def __enter__(self) -> Tape:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
