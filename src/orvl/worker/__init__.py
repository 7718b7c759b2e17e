"""Work on bytes that an agent wrote: in a process with a deadline, so that none of them can hold up orvl itself."""

from __future__ import annotations

import asyncio
import atexit
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any

from orvl.errors import ChildFailed
from orvl.worker.child_process import ChildProcess

START_SECONDS = 60.0
LONGEST_ANSWER = 2 << 20
"""What a child answers is read in orvl's own process, so it is short."""


class DeadlineWorker:
    """One process, started when it is first needed and again after a question has ended it.

    Whoever's bytes they are has a worker of his own: what takes long holds up only his other questions. The thread
    does nothing but wait for the child, as bytes in a pipe take time, too.
    """

    def __init__(self) -> None:
        self._child: ChildProcess | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="worker")
        self._is_closed = False

    async def call(
        self, function: str, payload: bytes, *arguments: Any, seconds: float, longest: int = LONGEST_ANSWER
    ) -> Any:
        """What `module:function` returns for a payload and arguments; a ChildFailed if it does not in time."""
        if self._is_closed:
            raise ChildFailed("the worker is closed")
        work = asyncio.get_running_loop().run_in_executor(
            self._thread, self._ask, function, payload, arguments, seconds, longest
        )
        return await asyncio.shield(work)

    def call_now(self, function: str, payload: bytes, *arguments: Any, seconds: float) -> Any:
        """The same for a thread that may wait."""
        return self._thread.submit(self._ask, function, payload, arguments, seconds).result()

    def close(self) -> None:
        """Ends the process, in the middle of a question too."""
        self._is_closed = True
        if self._child is not None:
            self._child.kill()
        with suppress(RuntimeError):
            self._thread.submit(self._end)
        self._thread.shutdown(wait=False)

    def _ask(
        self, function: str, payload: bytes, arguments: tuple[Any, ...], seconds: float, longest: int = LONGEST_ANSWER
    ) -> Any:
        child = self._running()
        try:
            answer = child.ask([function, list(arguments), len(payload)], seconds, payload, longest)
        except ChildFailed:
            self._end()
            raise
        if "raised" in answer:
            raise ChildFailed(str(answer["raised"]))
        return answer["returned"]

    def _running(self) -> ChildProcess:
        if self._is_closed:
            raise ChildFailed("the worker is closed")
        if self._child is None or not self._child.is_alive:
            self._end()
            self._child = ChildProcess("orvl.worker.child")
            self._child.ask(None, START_SECONDS)
        return self._child

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


async def call_once(
    function: str, payload: bytes, *arguments: Any, seconds: float, longest: int = LONGEST_ANSWER
) -> Any:
    """The same in a process for this one question."""
    worker = DeadlineWorker()
    try:
        return await worker.call(function, payload, *arguments, seconds=seconds, longest=longest)
    finally:
        worker.close()


@cache
def shared_worker() -> DeadlineWorker:
    """The one of this process, for work that is not a single run's."""
    worker = DeadlineWorker()
    atexit.register(worker.close)
    return worker
