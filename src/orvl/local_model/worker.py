"""orvl's side of the process that runs the weights: started when first asked, ended at a deadline, started again."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orvl.errors import LocalModelError

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from pathlib import Path

LONGEST_LINE = 1 << 26
READ_OF_ERRORS = 2000
HANDED_DOWN = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "TMPDIR")


class Worker:
    """One process at a time that answers one question at a time."""

    def __init__(self, path: Path, threads: int, context: int, deadline: float) -> None:
        self._settings: dict[str, Any] = {"path": str(path), "threads": threads, "context": context}
        self._deadline = deadline
        self._turn = asyncio.Lock()
        self._process: Process | None = None
        self._errors = -1
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return self._process.pid if self._process else None

    async def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer of the process; a LocalModelError where it has none, is late or dies."""
        async with self._turn:
            try:
                async with asyncio.timeout(self._deadline):
                    await self._begin(question)
                    answer = await self._next_line()
            except TimeoutError:
                await self.end()
                raise LocalModelError(
                    504, f"the local model did not answer within {self._deadline:g} seconds"
                ) from None
            except BaseException:
                await self.end()
                raise
        return _unless_refused(answer)

    def close(self) -> None:
        """Ends the answer that is under way, and begins no other."""
        self._closed = True
        if self._process:
            with suppress(ProcessLookupError):
                self._process.kill()

    async def end(self) -> None:
        """Kills the process, if there is one, and waits until it is gone."""
        process, self._process = self._process, None
        if process is None:
            return
        os.close(self._errors)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()

    async def _begin(self, question: dict[str, Any]) -> None:
        """Waits until the process has begun with a question; one that had died before is no fault of the question."""
        await self._start()
        try:
            await self._exchange(question)
        except LocalModelError:
            await self._start()
            await self._exchange(question)

    async def _start(self) -> None:
        if self._closed:
            raise LocalModelError(503, "the local model has been stopped")
        if self._process and self._process.returncode is None:
            return
        await self.end()
        self._errors = os.memfd_create("errors of the local model")
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "orvl.local_model.child", str(os.getpid())),
            stdin=PIPE,
            stdout=PIPE,
            stderr=self._errors,
            env=_environment(self._settings["threads"]),
            limit=LONGEST_LINE,
        )
        _unless_refused(await self._exchange(self._settings))

    async def _exchange(self, line: dict[str, Any]) -> dict[str, Any]:
        assert self._process and self._process.stdin
        with suppress(ConnectionError):
            self._process.stdin.write(json.dumps(line).encode() + b"\n")
            await self._process.stdin.drain()
        return await self._next_line()

    async def _next_line(self) -> dict[str, Any]:
        assert self._process and self._process.stdout
        line = await self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise await self._death()
        told: dict[str, Any] = json.loads(line)
        return told

    async def _death(self) -> LocalModelError:
        """Says how the process died; the next question starts another."""
        assert self._process
        pid, status = self._process.pid, await self._process.wait()
        last = _end_of(self._errors).split("\n")[-1]
        await self.end()
        manner = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        said = f"; its last words: {last}" if last else ""
        return LocalModelError(
            502, f"the process of the local model ({pid}) {manner}; the next question starts another{said}"
        )


def _end_of(file: int) -> str:
    start = max(0, os.fstat(file).st_size - READ_OF_ERRORS)
    return os.pread(file, READ_OF_ERRORS, start).decode(errors="replace").strip()


def _unless_refused(told: dict[str, Any]) -> dict[str, Any]:
    if "status" in told:
        raise LocalModelError(told["status"], told["sentence"])
    return told


def _environment(threads: int) -> dict[str, str]:
    """Nothing of the user's keys."""
    kept = {name: os.environ[name] for name in HANDED_DOWN if name in os.environ}
    return {**kept, "OMP_NUM_THREADS": str(threads)}
