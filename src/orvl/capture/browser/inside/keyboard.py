"""Which controls the keyboard reaches: Chromium tells what listens to clicks, and Tab is pressed through the page."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from .world import World, source

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.async_api import Page

MOUSE = ("click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup")
MOST_LISTENERS, MOST_PRESSES = 1000, 100
MOST_IDLE = 8
"""A field for a date and a time has seven places in it."""
SECONDS = 12.0


async def unreached(page: Page, world: World, tell: Callable[[int, int], None]) -> list[dict[str, str]]:
    """The controls that Tab never gets to. `tell` hears of how many there are, and then of how many are not reached."""
    context = await world.enter((await world.frames())[0])
    script = source("keyboard")
    listening = await _listening(world, context)
    count = int(await world.ask(context, script, "findControls", listening))
    tell(count, count)
    if not count:
        return []
    is_whole = await _press_through(page, world, context, script)
    found = await world.ask(context, script, "unreachedControls", is_whole)
    tell(count, min(count, int(found["count"])))
    return list(found["rows"])


async def _press_through(page: Page, world: World, context: int, script: str) -> bool:
    """Presses Tab until it gets nowhere new: round the page, or caught in a trap. False if it has not come round."""
    await world.ask(context, script, "startTabbing")
    idle, ends = 0, time.monotonic() + SECONDS * world.patience
    for _ in range(MOST_PRESSES):
        if time.monotonic() > ends:
            return False
        await asyncio.wait_for(page.keyboard.press("Tab"), world.seconds)
        idle = 0 if await world.ask(context, script, "noteFocus") else idle + 1
        if idle >= MOST_IDLE:
            return True
    return False


async def _listening(world: World, context: int) -> list[int]:
    """The elements that listen to the mouse, as places in a list that the world keeps."""
    send = world.session.send
    asked = {"expression": "document", "contextId": context}
    document = (await asyncio.wait_for(send("Runtime.evaluate", asked), world.seconds))["result"]["objectId"]
    everything = {"objectId": document, "depth": -1, "pierce": True}
    found = await asyncio.wait_for(send("DOMDebugger.getEventListeners", everything), world.seconds)
    nodes = dict.fromkeys(row["backendNodeId"] for row in found["listeners"] if _is_used(row))
    await world.ask(context, "", "(() => { globalThis.listeners = []; })")
    return [at for at, node in enumerate(list(nodes)[:MOST_LISTENERS]) if await _kept(world, context, node)]


def _is_used(row: dict[str, Any]) -> bool:
    return row["type"] in MOUSE and "backendNodeId" in row


async def _kept(world: World, context: int, node: int) -> bool:
    """Puts a node into the world's list, at the next place; a node that is gone leaves its place empty."""
    keep = "function () { globalThis.listeners.push(this.nodeType === 1 ? this : null); }"
    try:
        at = await world.session.send("DOM.resolveNode", {"backendNodeId": node, "executionContextId": context})
        call = {"functionDeclaration": keep, "objectId": at["object"]["objectId"]}
        await asyncio.wait_for(world.session.send("Runtime.callFunctionOn", call), world.seconds)
    except Exception:  # noqa: BLE001
        await world.ask(context, "", "(() => { globalThis.listeners.push(null); })")
        return False
    return True
