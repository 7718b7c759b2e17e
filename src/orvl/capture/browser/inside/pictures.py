"""Pictures of a page, as it is and plain, each bounded."""

from __future__ import annotations

import asyncio
import base64
import statistics
import struct
import zlib
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
TINY = 0.05


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

    async def shows_one_colour(self) -> bool:
        """Whether there is nothing but one colour, on the screen and below it, whatever the page says of itself."""
        png = await self._png(full=False)
        if png is None or not is_one_colour(png):
            return False
        below = await self._png(full=True) if await self.is_taller() else png
        return below is not None and is_one_colour(below)

    async def brightness(self) -> float:
        """How bright most of the screen is, from 0 to 1, by what is drawn and not by what the page says of itself."""
        size = self.page.viewport_size or {"width": 1280, "height": 800}
        clip = {"x": 0, "y": 0, **size, "scale": TINY}
        work = self.world.session.send("Page.captureScreenshot", {"format": "png", "clip": clip})
        png = base64.b64decode((await asyncio.wait_for(work, self.world.seconds))["data"])
        return statistics.median((2 * red + 5 * green + blue) / 8 / 255 for red, green, blue in pixels(png))

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
                answer = await asyncio.wait_for(
                    self.world.session.send("Page.captureScreenshot", asked), self.world.seconds / 2
                )
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


def pixels(png: bytes) -> list[tuple[int, int, int]]:
    """The colours of a small picture."""
    step, lines = _lines(png)
    above, found = bytes(len(lines[0][1])), []
    for kind, line in lines:
        above = _unfiltered(kind, line, above, step)
        found += [(above[at], above[at + 1], above[at + 2]) for at in range(0, len(above), step)]
    return found


def is_one_colour(png: bytes) -> bool:
    """Whether all pixels of a picture are alike; a large picture takes no longer than it takes to unpack it."""
    step, lines = _lines(png)
    first = _unfiltered(*lines[0], bytes(len(lines[0][1])), step)
    count, colour = len(first) // step, first[:step]
    nothing = bytes(step) * count
    # What each of PNG's filters leaves of a line of that colour below another one.
    left = (
        colour * count,
        colour + nothing[step:],
        nothing,
        bytes(value - value // 2 for value in colour) + nothing[step:],
        nothing,
    )
    return first == left[0] and all(line == left[kind] for kind, line in lines[1:])


def _lines(png: bytes) -> tuple[int, list[tuple[int, bytes]]]:
    """Bytes per pixel, and each line with its filter, of a picture as Chromium makes it: eight bits, not interlaced."""
    width, height, _, colours = struct.unpack(">IIBB", png[16:26])
    step, at, packed = {2: 3, 6: 4}[colours], 8, b""
    while at < len(png):
        (length,) = struct.unpack(">I", png[at : at + 4])
        packed += png[at + 8 : at + 8 + length] if png[at + 4 : at + 8] == b"IDAT" else b""
        at += length + 12
    raw, size = zlib.decompress(packed), width * step + 1
    return step, [(raw[start], raw[start + 1 : start + size]) for start in range(0, height * size, size)]


def _unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """A line of a PNG as it was before one of PNG's five filters."""
    made = bytearray(line)
    for at in range(len(made)):
        left = made[at - step] if at >= step else 0
        corner = above[at - step] if at >= step else 0
        up = above[at]
        near = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))
        made[at] = (made[at] + (0, left, up, (left + up) // 2, near[2])[kind]) % 256
    return bytes(made)
