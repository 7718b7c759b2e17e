"""A bare process: no walls, but its limits hold and nothing of it survives."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import socket
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.sandbox import Ended, NotStarted, Stream

if TYPE_CHECKING:
    from orvl.sandbox import Job

KEEPER = Path(__file__).with_name("keeper.py")
LONGEST_ANSWER = 1 << 20
DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
MISSING = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC)


class BareProcess:
    """One keeper process, which runs jobs for as long as orvl lives."""

    name = "none"

    def __init__(self, lock_fd: int | None = None) -> None:
        self._lock_fd = lock_fd
        self._keeper: subprocess.Popen[bytes] | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def run(self, job: Job) -> Ended:
        message = json.dumps(_message(job)).encode() + b"\n"
        reader, writer = await self._connection()
        try:
            writer.write(message)
            await writer.drain()
            answer = await reader.readline()
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            await self.close()
            raise NotStarted("orvl's helper process died", missing=False)
        return _ended(json.loads(answer), job)

    def stop(self) -> None:
        if self._writer is not None:
            self._writer.write(b"stop\n")

    async def close(self) -> None:
        """Lets the keeper go; it kills what is left below it."""
        if self._writer is not None:
            self._writer.close()
        if self._keeper is not None:
            await asyncio.to_thread(self._keeper.wait)
        self._keeper = self._reader = self._writer = None

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._reader is None or self._writer is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._keeper = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(KEEPER)],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    start_new_session=True,
                    pass_fds=() if self._lock_fd is None else (self._lock_fd,),
                )
            self._reader, self._writer = await asyncio.open_connection(sock=ours, limit=LONGEST_ANSWER)
        return self._reader, self._writer


def _message(job: Job) -> dict[str, Any]:
    return {
        "program": _program(job),
        "argv": list(job.argv),
        "env": dict(job.env),
        "cwd": str(job.cwd),
        "stdin": str(job.stdin) if job.stdin else None,
        "stdout": f"{job.output}.out",
        "stderr": f"{job.output}.err",
        "seconds": job.seconds,
        "grace": job.grace,
        "output": job.output_bytes,
        "keep": job.kept_bytes,
    }


def _program(job: Job) -> str:
    name = job.argv[0]
    if "/" in name:
        return os.path.join(job.cwd, name)
    return _installed(name, job.env.get("PATH"))


@lru_cache(maxsize=256)
def _installed(name: str, path: str | None) -> str:
    found = shutil.which(name, path=path)
    if found is None:
        raise NotStarted(f"'{name}' is not installed, or not in PATH", missing=True)
    return found


def _ended(answer: dict[str, Any], job: Job) -> Ended:
    if "error" in answer:
        if answer["error"] in DISK:
            raise OSError(answer["error"], answer["message"], answer["file"] or None)
        missing = answer["error"] in MISSING
        raise NotStarted(f"'{job.argv[0]}' could not be started: {answer['message'].lower()}", missing=missing)
    return Ended(
        status=answer["status"],
        cut=answer["cut"],
        seconds=answer["seconds"],
        cpu_seconds=answer["cpu_seconds"],
        stdout=_stream(answer["stdout"]),
        stderr=_stream(answer["stderr"]),
        alive=answer["alive"],
    )


def _stream(answer: dict[str, Any]) -> Stream:
    path = answer["path"]
    return Stream(Path(path) if path else None, answer["bytes"], answer["left_out"])
