"""Connections to ports in a sandbox: many at once, and each to whom asked for it."""

from __future__ import annotations

import asyncio
import os
import socket
from contextlib import closing

import pytest

from helpers.needs import need_program
from orvl.project.settings import Limits
from orvl.sandbox.backends import Slot
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.job import shell_job
from orvl.sandbox.workdir import WorkDir

ECHO = """
import socket, threading
listening = socket.create_server(("127.0.0.1", 8000), backlog=200)
def echo(one):
    with one:
        one.sendall(one.recv(100).upper())
while True:
    threading.Thread(target=echo, args=listening.accept()[:1]).start()
"""


def test_connections_that_are_asked_for_at_once_all_come():
    need_program("bwrap")
    assert asyncio.run(_asked_at_once()) == [f"HELLO {number}".encode() for number in range(40)]


async def _asked_at_once() -> list[bytes]:
    loop = asyncio.get_running_loop()
    with closing(WorkDir()) as work:
        slot = Slot("bubblewrap", sandbox_config(work.root, [], []), work.lock_fd)
        folders = work.new()
        (folders.workspace / "echo.py").write_text(ECHO)
        env = slot.subject.view(folders).environment()
        job = shell_job("exec python3 echo.py", env, folders.logs / "server", 60.0, Limits(), folders)
        running = asyncio.ensure_future(slot.subject.run(job))

        async def said(number: int) -> bytes:
            with await slot.subject.connect(8000) as connection:
                connection.setblocking(False)
                await loop.sock_sendall(connection, f"hello {number}".encode())
                return await loop.sock_recv(connection, 100)

        async def refused() -> None:
            with pytest.raises(ConnectionRefusedError):
                await slot.subject.connect(9)

        try:
            await _opened(slot)
            answers, _ = await asyncio.gather(
                asyncio.gather(*map(said, range(40))), asyncio.gather(*(refused() for _ in range(40)))
            )
            return list(answers)
        finally:
            slot.subject.end_job()
            await running
            await slot.close()


async def _opened(slot: Slot) -> socket.socket | None:
    """Waits until the port is open."""
    while True:
        try:
            (await slot.subject.connect(8000)).close()
            return None
        except OSError:
            await asyncio.sleep(0.05)


def test_who_waits_for_a_connection_when_the_sandbox_is_closed_leaves_no_number_watched():
    """A closed number that the event loop watches hides the next socket that gets it."""
    need_program("bwrap")

    async def left() -> list[int]:
        with closing(WorkDir()) as work:
            slot = Slot("bubblewrap", sandbox_config(work.root, [], []), work.lock_fd)
            await slot.subject.warm_up()
            waiting = asyncio.ensure_future(slot.subject.connect(8000))
            await asyncio.sleep(0)
            await slot.close()
            watched = list(asyncio.get_running_loop()._selector.get_map())
            waiting.cancel()
            await asyncio.wait([waiting])
            return [number for number in watched if not os.path.exists(f"/proc/self/fd/{number}")]

    assert asyncio.run(left()) == []
