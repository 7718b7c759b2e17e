"""How much of orvl's own processor time one run may take, so that none can hold up the others by what it sends.

All runs share one event loop. What an agent sends may be cheap to write and dear to read: a body in chunks of one byte,
thousands of requests in one packet. So bytes are read piece by piece, the time that they take is added up for each run,
and a run that has used up its share waits, while the others go on.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE = 16 << 10
"""Bytes that are read at once."""


class TimeShare:
    """A part of the processor's time. What was not used may be used later, up to some seconds of it."""

    def __init__(self, part: float, saved: float) -> None:
        self._part, self._saved = part, saved
        self._free_at = 0.0

    @property
    def wait(self) -> float:
        """Seconds until more may be done; 0 if it may now."""
        return max(0.0, self._free_at - time.monotonic())

    def spend(self, seconds: float) -> None:
        self._free_at = max(self._free_at, time.monotonic() - self._saved / self._part) + seconds / self._part

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Measures what is done without a pause."""
        began = time.thread_time()
        try:
            yield
        finally:
            self.spend(time.thread_time() - began)

    async def rest(self) -> None:
        """Returns when more may be done."""
        if wait := self.wait:
            await asyncio.sleep(wait)


class Pace:
    """Reads what has come over the connections of one run: a piece of each in turn, and no faster than its share."""

    def __init__(self, share: TimeShare) -> None:
        self.share = share
        self._line: deque[PacedConnection] = deque()
        self._is_waiting = False

    def add(self, connection: PacedConnection) -> None:
        self._line.append(connection)
        self._go_on()

    def _go_on(self) -> None:
        if self._line and not self._is_waiting:
            self._is_waiting = True
            asyncio.get_running_loop().call_later(self.share.wait, self._read)

    def _read(self) -> None:
        self._is_waiting = False
        connection = self._line.popleft()
        connection.read_piece()
        if connection.may_be_read:
            self._line.append(connection)
        self._go_on()


class PacedConnection(asyncio.Protocol):
    """A connection whose bytes come to their reader at a run's pace."""

    def __init__(self, reader: asyncio.Protocol, pace: Pace) -> None:
        self._reader, self._pace = reader, pace
        self._unread = bytearray()
        self._is_closed = False
        self.is_held = False
        """Whether the reader wants no more for now."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._reader.connection_made(PacedTransport(transport, self))

    def data_received(self, data: bytes) -> None:
        if not self._unread and len(data) <= PIECE and not self.is_held and not self._pace.share.wait:
            self._take(data)
            return
        is_new = not self._unread
        self._unread += data
        self._transport.pause_reading()
        if is_new and self.may_be_read:
            self._pace.add(self)

    @property
    def may_be_read(self) -> bool:
        return bool(self._unread) and not self.is_held and not self._is_closed

    def read_piece(self) -> None:
        """Reads some of what has come; when all of it is read, more may come."""
        if not self.may_be_read:
            return
        piece = bytes(self._unread[:PIECE])
        del self._unread[:PIECE]
        self._take(piece)
        if not self._unread and not self.is_held and not self._is_closed:
            self._transport.resume_reading()

    def hold(self) -> None:
        self.is_held = True
        self._transport.pause_reading()

    def go_on(self) -> None:
        if not self.is_held:
            return
        self.is_held = False
        if self._unread:
            self._pace.add(self)
        elif not self._is_closed:
            self._transport.resume_reading()

    def _take(self, data: bytes) -> None:
        with self._pace.share.spending():
            self._reader.data_received(data)

    def eof_received(self) -> bool | None:
        return self._reader.eof_received()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_closed = True
        self._unread.clear()
        self._reader.connection_lost(error)

    def pause_writing(self) -> None:
        self._reader.pause_writing()

    def resume_writing(self) -> None:
        self._reader.resume_writing()


class PacedTransport(asyncio.Transport):
    """What a reader sees of its connection: all of it, apart from when it is read."""

    def __init__(self, transport: asyncio.Transport, connection: PacedConnection) -> None:
        super().__init__()
        self._transport, self._connection = transport, connection

    def pause_reading(self) -> None:
        self._connection.hold()

    def resume_reading(self) -> None:
        self._connection.go_on()

    def is_reading(self) -> bool:
        return not self._connection.is_held

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._transport.write(data)

    def writelines(self, list_of_data: Any) -> None:
        self._transport.writelines(list_of_data)

    def write_eof(self) -> None:
        self._transport.write_eof()

    def can_write_eof(self) -> bool:
        return self._transport.can_write_eof()

    def get_write_buffer_size(self) -> int:
        return self._transport.get_write_buffer_size()

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._transport.get_write_buffer_limits()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high, low)
