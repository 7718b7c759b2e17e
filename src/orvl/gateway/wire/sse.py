"""Server-sent events: split while they arrive, filtered while they pass, and written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from orvl.gateway.wire.values import compact

BOUNDARY = re.compile(rb"\r?\n\r?\n")
LONGEST_EVENT = 32 << 20
LONGEST_FILTERED = 64 << 10
LONGEST_BOUNDARY = 4
EVENT_STARTS = (b"data:", b"event:", b":")


def event(data: Any, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else compact(data)}\n\n".encode()


class EventBuffer:
    """Bytes that wait for the empty line that ends an event.

    Only bytes that are new are searched, so that an event in many pieces takes linear time.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0

    def __len__(self) -> int:
        return len(self._bytes)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that are complete now, each with its boundary."""
        self._bytes += chunk
        # A boundary may have begun in the bytes that were searched before.
        start = max(0, self._searched - (LONGEST_BOUNDARY - 1))
        ends = [match.end() for match in BOUNDARY.finditer(self._bytes, start)]
        events = [bytes(self._bytes[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
        if ends:
            del self._bytes[: ends[-1]]
        self._searched = len(self._bytes)
        return events

    def take(self, leave: int = 0) -> bytes:
        """All that waits, apart from some last bytes."""
        end = max(0, len(self._bytes) - leave)
        taken = bytes(self._bytes[:end])
        del self._bytes[:end]
        self._searched = len(self._bytes)
        return taken


class EventSplitter:
    """Calls a function with the name and data of each event of a stream that is fed in pieces."""

    def __init__(self, take: Callable[[str, str], None]) -> None:
        self._take = take
        self._buffer = EventBuffer()

    def feed(self, chunk: bytes) -> None:
        for raw in self._buffer.feed(chunk):
            self._event(raw)
        if len(self._buffer) > LONGEST_EVENT:
            self._buffer.take()

    def close(self) -> None:
        """Bytes after the last empty line are an event too, if they are complete."""
        if rest := self._buffer.take().strip():
            self._event(rest)

    def _event(self, raw: bytes) -> None:
        name, data = "", []
        for line in raw.splitlines():
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif line.startswith(b"event:"):
                name = line[6:].strip().decode("utf-8", "replace")
        if data:
            self._take(name, b"\n".join(data).decode("utf-8", "replace"))


class EventFilter:
    """Passes a stream on, byte for byte, without the events that a predicate names."""

    def __init__(self, drop: Callable[[bytes], bool]) -> None:
        self._drop = drop
        self._buffer = EventBuffer()
        self._is_too_long = False
        """Whether a part of the current event was passed on already, because it is too long to be dropped."""

    def feed(self, chunk: bytes) -> bytes:
        passed = []
        for raw in self._buffer.feed(chunk):
            if self._is_too_long or not self._drop(raw):
                passed.append(raw)
            self._is_too_long = False
        if len(self._buffer) > LONGEST_FILTERED:
            self._is_too_long = True
            passed.append(self._buffer.take(leave=LONGEST_BOUNDARY - 1))
        return b"".join(passed)

    def end(self) -> bytes:
        rest = self._buffer.take()
        return rest if self._is_too_long or not self._drop(rest) else b""
