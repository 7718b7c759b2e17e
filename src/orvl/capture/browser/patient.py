"""A look that the machine may have spoiled is repeated, alone and with more time; it is never held against a run.

Whether the machine was at fault is told by a reference: a page of orvl's own, which is driven right after the look,
when nothing of the run is alive any more. A page that keeps the processor busy makes itself slow, not the reference.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from orvl.capture.browser.look import look, look_at
from orvl.capture.browser.result import Look
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
    from pathlib import Path

    from orvl.project.settings import Limits
    from orvl.sandbox.backends import Slot
    from orvl.sandbox.workdir import RunFolders

    Seen = tuple[Look, dict[str, bytes]]

REFERENCE = "<!doctype html><title>Reference</title><button onclick=\"this.textContent = 'Done'\">Reference</button>\n"
REFERENCE_STEPS = ("click Reference", "expect text Done")
QUICK = 6.0
"""Seconds that the reference may take; on two cores with a load of 5 it took 2.8."""
READY = 4.0
"""Seconds in which a browser is ready to open anything; on two cores it took 0.6 to 2.5, and 4 with a load of 20."""
AT_ONCE = 1.0
"""An app that failed sooner did not fail for want of time."""
PATIENCE = 3.0
HELD_UP = "the app kept the machine so busy that no browser started beside it"
BUSY = "the machine was too busy for a browser: a trivial page {}"


class Turns:
    """Looks go on side by side, except for one that needs the machine for itself."""

    def __init__(self) -> None:
        self._going, self._is_alone = 0, False
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def beside(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._is_alone)
            self._going += 1
        try:
            yield
        finally:
            async with self._changed:
                self._going -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self._is_alone)
            self._is_alone = True
        try:
            async with self._changed:
                await self._changed.wait_for(lambda: not self._going)
            yield
        finally:
            async with self._changed:
                self._is_alone = False
                self._changed.notify_all()


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()


async def patient_look(
    app: Mapping[str, str],
    steps: Sequence[str],
    lay_out: Callable[[Path], None],
    new_folders: Callable[[], RunFolders],
    slot: Slot,
    limits: Limits,
    seconds: float | None = None,
    views: bool = True,
) -> Seen:
    """As `look_at`, and again if the machine may be at fault; `unavailable` if it still is."""

    async def see(patience: float) -> Seen:
        return await look_at(app, steps, lay_out, new_folders, slot, limits, seconds, views, patience)

    async def refer(patience: float) -> float:
        return await reference_seconds(new_folders, slot, limits, patience)

    turns = _turns.setdefault(asyncio.get_running_loop(), Turns())
    return await seen_fairly(see, refer, turns, runs_code="start" in app)


async def seen_fairly(
    see: Callable[[float], Awaitable[Seen]],
    refer: Callable[[float], Awaitable[float]],
    turns: Turns,
    *,
    runs_code: bool = False,
) -> Seen:
    """What `see` found, unless the machine spoiled it; `refer` says how long the reference takes now.

    With `runs_code`, code of the run's is alive before the browser is: if it starts only without that, it is to blame.
    """
    async with turns.beside():
        page, pictures = await see(1.0)
        if not in_doubt(page) or not await _is_busy(page, refer):
            return page, pictures
    async with turns.alone():
        page, pictures = await see(PATIENCE)
        if not in_doubt(page) or (page.status == "unavailable" and not runs_code):
            return page, pictures
        took = await refer(PATIENCE)
    if took <= QUICK * PATIENCE:
        return (replace(page, status="partial", reason=HELD_UP) if page.status == "unavailable" else page), pictures
    how = f"took {took:.0f} s" if math.isfinite(took) else "did not work either"
    return Look("unavailable", BUSY.format(how), browser=page.browser, seconds=page.seconds), {}


async def _is_busy(page: Look, refer: Callable[[float], Awaitable[float]]) -> bool:
    """Whether to look again: the browser failed, or was slow before it saw the page, or the reference is slow now."""
    crashed = any(note.kind == "crash" for note in page.notes)
    if crashed or page.status == "unavailable" or (page.ready or 0.0) > READY:
        return True
    return await refer(1.0) > QUICK


def in_doubt(page: Look) -> bool:
    """Whether something is wrong with a page that a busy machine could be the cause of."""
    if page.status == "no app":
        return page.app is not None and page.app.seconds > AT_ONCE
    is_blank = any(defect.kind == "blank" for defect in page.defects or ())
    return page.status != "done" or is_blank or any(not step.passed for step in page.steps)


async def reference_seconds(
    new_folders: Callable[[], RunFolders], slot: Slot, limits: Limits, patience: float = 1.0
) -> float:
    """How long the browser takes for the reference page now; infinite if it does not get through."""
    folders = new_folders()
    pictures = folders.root / "pictures"
    try:
        (folders.workspace / "index.html").write_text(REFERENCE, encoding="utf-8")
        page = await look(
            {"files": "index.html"},
            REFERENCE_STEPS,
            folders=folders,
            sandbox=slot.browser,
            limits=limits,
            pictures=pictures,
            seconds=2 * QUICK * patience,
            views=False,
            patience=patience,
        )
    finally:
        await asyncio.to_thread(tree.remove, folders.root)
    return page.seconds if page.steps and all(step.passed for step in page.steps) else math.inf
