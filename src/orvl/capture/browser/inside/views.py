"""The page at one size, light or dark: loaded, photographed and measured."""

from __future__ import annotations

import asyncio
import importlib.util
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .keyboard import unreached
from .pictures import Camera
from .watch import Watcher, shortened
from .world import World, source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable

    from playwright.async_api import Browser, Page, Response

    from .reporter import Reporter
    from .serve import App

LOAD_SECONDS, SETTLE_SECONDS, AXE_SECONDS = 15.0, 2.0, 12.0
SHARE_FOR_LOADING = 0.7
MOST_TEXT = 20_000
NEVER = "the page never finished loading"
BLANK = "nothing can be seen: no text, no control and no picture"
SHADOWS = """{const attach = Element.prototype.attachShadow;
Element.prototype.attachShadow = function (options) { return attach.call(this, {...options, mode: "open"}); };}"""


@dataclass(frozen=True)
class Size:
    """How large a screen is, and whether it is dark."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"]
    phone: bool = False


DESKTOP = Size("desktop-light", 1280, 800, "light")
PHONE = Size("phone-light", 390, 844, "light", phone=True)
OTHERS = (
    PHONE,
    Size("desktop-dark", 1280, 800, "dark"),
    Size("phone-dark", 390, 844, "dark", phone=True),
)


@asynccontextmanager
async def new_page(browser: Browser, size: Size) -> AsyncIterator[Page]:
    """A page in a profile of its own."""
    context = await browser.new_context(
        viewport={"width": size.width, "height": size.height},
        color_scheme=size.scheme,
        is_mobile=size.phone,
        has_touch=size.phone,
        accept_downloads=False,
        reduced_motion="reduce",
        locale="en-US",
    )
    try:
        await context.add_init_script(SHADOWS)
        yield await context.new_page()
    finally:
        with suppress(Exception):
            await asyncio.wait_for(context.close(), 3)


async def load(page: Page, url: str, seconds: float, patience: float) -> tuple[Response | None, str | None]:
    """Opens an address and waits until it is quiet; the reason is None if it loaded."""
    ends = time.monotonic() + seconds
    while True:
        try:
            left = max(0.1, ends - time.monotonic())
            response = await asyncio.wait_for(page.goto(url, wait_until="load", timeout=left * 1000), left + 1)
            break
        except TimeoutError:
            return None, NEVER
        except Exception as error:  # noqa: BLE001
            said = str(error).split("\n")[0].removeprefix("Page.goto: ")
            if "Timeout" in said:
                return None, NEVER
            if not any(word in said for word in ("CONNECTION_REFUSED", "EMPTY_RESPONSE", "CONNECTION_RESET")):
                return None, f"the page did not load: {said[:300]}"
            if time.monotonic() + 1 > ends:
                return None, f"the page did not load: {said[:300]}"
            await asyncio.sleep(0.5)
    with suppress(Exception):
        await page.wait_for_load_state("networkidle", timeout=SETTLE_SECONDS * patience * 1000)
    await asyncio.sleep(0.2 * patience)
    return response, None


class Viewer:
    """Looks at an app's first page."""

    def __init__(self, browser: Browser, app: App, reporter: Reporter, config: dict[str, Any]) -> None:
        self.browser, self.app, self.reporter, self.config = browser, app, reporter, config

    async def look(self, size: Size) -> None:
        reporter, origin, began = self.reporter, self.app.origin, time.monotonic()
        reporter.stage = f"{size.name} was looked at"
        async with new_page(self.browser, size) as page:
            watcher = Watcher(page.context, page, size.name, origin, reporter)
            to_load = reporter.left(LOAD_SECONDS) * SHARE_FOR_LOADING
            response, reason = await load(page, origin + self.app.path, to_load, reporter.patience)
            if reason and watcher.crashed:
                reason = "the page crashed while it was loading"
            title = "" if reason else await _quietly(page.title(), "")
            view = {"name": size.name, "loaded": reason is None, "reason": reason, "title": title[:200]}
            view |= {"status": response.status if response else None, "url": shortened(page.url, origin)}
            reporter.emit("view", view=view | {"seconds": round(time.monotonic() - began, 3)})
            if watcher.crashed:
                return
            world = await World.of(page, reporter.patience)
            camera = Camera(page, world, reporter, self.config)
            if await camera.take(size.name) and reason is None:
                await self._examine(size, page, world, camera)

    async def _examine(self, size: Size, page: Page, world: World, camera: Camera) -> None:
        """Measures a page that has loaded; what is not available is reported with the reason."""
        if size is DESKTOP:
            await self._try("text", size, self._text(world))
            await self._try("tree", size, self._tree(page))
            if await _quietly(camera.is_taller(), False):
                await camera.take(f"{size.name}-full", full=True)
        await self._try("defects", size, self._measure(size, world, camera))
        await self._try("axe", size, self._axe(size, world))
        if size is DESKTOP:  # last, because to press keys may change the page
            await self._try("keyboard", size, self._keyboard(size, page, world))

    async def _try(self, what: str, size: Size, work: Awaitable[None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001
            said = str(error).split("\n")[0][:300] or type(error).__name__
            self.reporter.emit("missing", what=f"{what} of {size.name}", reason=said)

    async def _text(self, world: World) -> None:
        found = await world.ask_main(source("text"), "texts", MOST_TEXT)
        self.reporter.emit("text", visible=found["visible"], hidden=found["hidden"])

    async def _tree(self, page: Page) -> None:
        tree = await page.locator("body").aria_snapshot(timeout=5000)
        self.reporter.emit("tree", tree=tree[:MOST_TEXT])

    async def _measure(self, size: Size, world: World, camera: Camera) -> None:
        found = await world.ask_main(source("text", "measure", "blank"), "measure", size.width)
        is_blank = await world.ask_main(source("text", "measure", "blank"), "isBlank")
        if is_blank or await camera.shows_one_colour():
            found.append({"kind": "blank", "target": "html", "detail": BLANK})
        self.reporter.emit("defects", defects=[{**one, "view": size.name} for one in found])

    async def _axe(self, size: Size, world: World) -> None:
        context = await world.enter((await world.frames())[0])
        await world.ask(context, f"{_axe_core()}\nglobalThis.axe = axe;", "Boolean", 1)
        script = source("text", "contrast", "rules")
        found = await world.ask(context, script, "broken", seconds=self.reporter.left(AXE_SECONDS))
        rows = found["rules"]
        self.reporter.emit("share", view=size.name, what="contrast", **found["contrast"])
        for row in rows:
            details = row.pop("details")
            if row["rule"] == "color-contrast":
                defects = [_contrast(size.name, *pair) for pair in zip(row["targets"], details, strict=True)]
                self.reporter.emit("defects", defects=defects)
        self.reporter.emit("axe", view=size.name, violations=rows)

    async def _keyboard(self, size: Size, page: Page, world: World) -> None:
        """Presses Tab through the page. A page that does not answer while that is done is reached nowhere."""
        found = await unreached(page, world, partial(self._reach, size))
        rows = [{"kind": "keyboard", "view": size.name, **row} for row in found]
        self.reporter.emit("defects", defects=rows)

    def _reach(self, size: Size, controls: int, bad: int) -> None:
        self.reporter.emit("share", view=size.name, what="keyboard", whole=controls, bad=bad)


def _axe_core() -> str:
    """axe-core's program, which a package brings along."""
    spec = importlib.util.find_spec("axe_playwright_python")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("axe-core is not installed")
    return Path(spec.origin).with_name("axe.min.js").read_text(encoding="utf-8")


def _contrast(view: str, target: str, data: dict[str, Any]) -> dict[str, str]:
    ratio, wanted = data.get("contrastRatio"), data.get("expectedContrastRatio")
    detail = f"{data.get('fgColor')} on {data.get('bgColor')} has a contrast of {ratio}, below {wanted} (WCAG AA)"
    return {"kind": "contrast", "view": view, "target": target, "detail": detail}


async def _quietly(work: Awaitable[Any], otherwise: Any) -> Any:
    try:
        return await asyncio.wait_for(work, 5)
    except Exception:  # noqa: BLE001
        return otherwise
