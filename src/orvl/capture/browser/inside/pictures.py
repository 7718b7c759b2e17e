"""Pictures of a page, as it is and plain, each bounded."""

from __future__ import annotations

import asyncio
import base64
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .world import Gone, World, source

if TYPE_CHECKING:
    from playwright.async_api import FloatRect, Page

    from .reporter import Reporter

MOST_BYTES = 2 << 20
MOST_HEIGHT = 4000
SECONDS = 6.0
SMALLER = (1.0, 0.5, 0.25)


class Camera:
    """Takes pictures of one page."""

    def __init__(self, page: Page, world: World, reporter: Reporter, config: dict[str, Any]) -> None:
        self.page, self.world, self.reporter = page, world, reporter
        self.secret, self.pattern = config["secret"], config["blank"]

    async def take(self, name: str, *, full: bool = False) -> bool:
        """Takes a picture, and a plain one if that differs; returns whether there is one."""
        png = await self._png(full=full)
        if png is None:
            return False
        self.reporter.shot(name, png)
        await self._take_plain(name, full=full)
        return True

    async def is_taller(self) -> bool:
        """Whether there is more of the page than the screen shows."""
        tall = await self.world.ask_main("", "(() => [document.documentElement.scrollHeight, innerHeight])")
        return bool(tall[0] > tall[1] + 1)

    async def _png(self, *, full: bool) -> bytes | None:
        size = self.page.viewport_size or {"width": 1280, "height": 800}
        clip: FloatRect | None = {"x": 0, "y": 0, "width": size["width"], "height": MOST_HEIGHT} if full else None
        png = None
        with suppress(Exception):
            png = await self.page.screenshot(
                full_page=full,
                clip=clip,
                timeout=self.reporter.left(SECONDS) * 1000,
                animations="disabled",
                scale="css",
            )
        if png is not None and len(png) <= MOST_BYTES:
            return png
        return await self._smaller(MOST_HEIGHT if full and png else size["height"], size["width"])

    async def _smaller(self, height: int, width: int) -> bytes | None:
        """The same by the browser alone, scaled down until it is small enough."""
        for scale in SMALLER:
            clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
            asked = {"format": "png", "clip": clip, "captureBeyondViewport": height > MOST_HEIGHT / 2}
            try:
                answer = await asyncio.wait_for(self.world.session.send("Page.captureScreenshot", asked), SECONDS / 2)
            except Exception:  # noqa: BLE001
                return None
            if len(png := base64.b64decode(answer["data"])) <= MOST_BYTES:
                return png
        return None

    async def _take_plain(self, name: str, *, full: bool) -> None:
        script, changed, contexts = source("plain"), False, []
        try:
            for frame in await self.world.frames():
                context = await self.world.enter(frame)
                contexts.append(context)
                changed |= bool(await self.world.ask(context, script, "makePlain", self.secret, self.pattern))
            if changed and (png := await self._png(full=full)):
                self.reporter.shot(f"{name}-plain", png, plain=True)
        except Gone as gone:
            self.reporter.emit("missing", what=f"{name}-plain", reason=str(gone)[:300])
        finally:
            for context in contexts:
                with suppress(Exception):
                    await self.world.ask(context, "", "undoPlain")
