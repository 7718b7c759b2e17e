"""A connection between a check and the subject's port, passed through so that what is said on it can be heard."""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MOST_HEARD = 1 << 20
"""Bytes of each direction that are kept; all of them are passed on."""
CHUNK = 1 << 16
_passing: set[asyncio.Task[None]] = set()
"""So that nobody collects a task that still passes something on."""


def listened_in_to(
    dialled: socket.socket, request: Mapping[str, Any], hear: Callable[[Mapping[str, Any], Mapping[str, Any]], None]
) -> socket.socket:
    """Another end of the same connection. It is heard as one exchange, whose bytes come while they are said."""
    sent, received = bytearray(), bytearray()
    hear({**request, "sent": sent}, {"received": received})
    given, near = socket.socketpair()
    with dialled:
        far = dialled.dup()
    task = asyncio.ensure_future(_pass_on(near, far, sent, received))
    _passing.add(task)
    task.add_done_callback(_passing.discard)
    return given


async def _pass_on(near: socket.socket, far: socket.socket, sent: bytearray, received: bytearray) -> None:
    with near, far:
        near.setblocking(False)
        far.setblocking(False)
        await asyncio.gather(_one_way(near, far, sent), _one_way(far, near, received))


async def _one_way(source: socket.socket, target: socket.socket, heard: bytearray) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while chunk := await loop.sock_recv(source, CHUNK):
            heard += chunk[: max(0, MOST_HEARD - len(heard))]
            await loop.sock_sendall(target, chunk)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
