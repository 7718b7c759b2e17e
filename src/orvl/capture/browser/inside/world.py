"""Questions to a page, asked in a world of its own: what the page's scripts replaced is not replaced there."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

HERE = Path(__file__).parent
MOST_FRAMES = 10
SECONDS = 6.0


class Gone(Exception):
    """The page did not answer."""


def source(*names: str) -> str:
    return "\n".join((HERE / f"{name}.js").read_text(encoding="utf-8") for name in ("common", *names))


class World:
    """One world for each frame of a page."""

    def __init__(self, page: Page, session: CDPSession, patience: float) -> None:
        self.page, self.session = page, session
        self.patience, self.seconds = patience, SECONDS * patience

    @classmethod
    async def of(cls, page: Page, patience: float) -> World:
        return cls(page, await page.context.new_cdp_session(page), patience)

    async def frames(self) -> list[str]:
        tree = await asyncio.wait_for(self.session.send("Page.getFrameTree"), self.seconds)
        found: list[str] = []
        todo = [tree["frameTree"]]
        while todo and len(found) < MOST_FRAMES:
            one = todo.pop(0)
            found.append(one["frame"]["id"])
            todo += one.get("childFrames", [])
        return found

    async def enter(self, frame: str) -> int:
        made = await asyncio.wait_for(
            self.session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "look"}), self.seconds
        )
        return int(made["executionContextId"])

    async def ask(self, context: int, script: str, call: str, *arguments: Any, seconds: float | None = None) -> Any:
        """The answer of a function of a script; an endless one is ended."""
        seconds = seconds or self.seconds
        words = ", ".join(json.dumps(argument) for argument in arguments)
        asked = {
            "expression": f"(() => {{ {script}\nreturn {call}({words}); }})()" if script else f"{call}({words})",
            "contextId": context,
            "returnByValue": True,
            "awaitPromise": True,
            "timeout": seconds * 1000,
        }
        answer = await asyncio.wait_for(self.session.send("Runtime.evaluate", asked), seconds + 1)
        if wrong := answer.get("exceptionDetails"):
            raise Gone(wrong.get("exception", {}).get("description") or wrong.get("text", "the page did not answer"))
        return answer["result"].get("value")

    async def ask_main(self, script: str, call: str, *arguments: Any, seconds: float | None = None) -> Any:
        frame = (await self.frames())[0]
        return await self.ask(await self.enter(frame), script, call, *arguments, seconds=seconds)
