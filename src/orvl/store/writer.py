"""Writes from many runs: those that arrive together share one durable transaction."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.store import Store

T = TypeVar("T")


class Writer:
    """`await write(work)` returns when the work is on the disk."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pending: list[tuple[Callable[[Store], Any], asyncio.Future[Any]]] = []
        self._flushing: asyncio.Task[None] | None = None

    async def write(self, work: Callable[[Store], T]) -> T:
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._pending.append((work, done))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        return await done

    async def drained(self) -> None:
        """Returns when all that anybody asked to write is on the disk, or has failed; also what nobody waits for."""
        while self._flushing is not None:
            await asyncio.wait([self._flushing])

    async def _flush(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            try:
                results = await asyncio.to_thread(self._store.transaction, [work for work, _ in batch])
            except Exception as error:  # noqa: BLE001 - handed to everyone who waits for this batch
                for _, done in batch:
                    if not done.done():
                        done.set_exception(error)
            else:
                for (_, done), result in zip(batch, results, strict=True):
                    if not done.done():
                        done.set_result(result)
        self._flushing = None
