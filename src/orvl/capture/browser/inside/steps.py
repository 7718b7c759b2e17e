"""The eval's steps through the app, one after the other, in a fresh page."""

from __future__ import annotations

import asyncio
import re
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .pictures import Camera
from .views import DESKTOP, PHONE, Size, load, new_page
from .watch import Watcher
from .world import World

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page, Response

    from .reporter import Reporter
    from .serve import App

STEP_SECONDS, LOAD_SECONDS, QUIET_SECONDS = 4.0, 10.0, 0.4
DARK, LIGHT = 0.35, 0.65
SELECTOR = re.compile(r"[#.\[]|css=")
WIDTH = "(() => Reflect.get(Document.prototype, 'documentElement', document).scrollWidth)"
"""Not `document.documentElement`: an element of that name would be in its place."""
ERRORS = ("console error", "page error", "failed request", "crash")
UNHURRIED = ("type", "choose", "expect text", "expect value", "expect url")
"""Steps that need no rest before them: fields may be filled in as quickly as by a browser that fills in a form, and
these expectations wait by themselves."""
CLICKED = ("button", "link", "menuitem", "tab", "checkbox", "radio", "switch", "option")


class Failed(Exception):
    """Why a step failed, in one sentence."""


class Walker:
    """Carries out steps, in one page after the other: a phone's page is another one than a desktop's."""

    page: Page
    watcher: Watcher
    camera: Camera

    def __init__(self, browser: Browser, app: App, reporter: Reporter, config: dict[str, Any]) -> None:
        self.browser, self.app, self.reporter, self.config = browser, app, reporter, config
        self.size = DESKTOP
        self.step_seconds = STEP_SECONDS * reporter.patience
        self._is_at_rest = True
        self._open_page = AsyncExitStack()

    async def start(self, size: Size) -> str | None:
        """Opens the app's first page anew at this size; why it did not load."""
        await self.end()
        self.size, self.page = size, await self._open_page.enter_async_context(new_page(self.browser, size))
        self.watcher = Watcher(self.page.context, self.page, "steps", self.app.origin, self.reporter)
        _, reason = await self._load(self.app.path)
        world = await World.of(self.page, self.reporter.patience)
        self.camera = Camera(self.page, world, self.reporter, self.config)
        return reason

    async def _load(self, path: str) -> tuple[Response | None, str | None]:
        patience, seconds = self.reporter.patience, self.reporter.left(LOAD_SECONDS)
        return await load(self.page, self.app.origin + path, seconds, patience)

    async def end(self) -> None:
        await self._open_page.aclose()

    async def do(self, step: dict[str, str]) -> None:
        if not self.config["views"] and step["verb"] not in UNHURRIED:
            await self._rest(QUIET_SECONDS / 4)
        await getattr(self, "_" + step["verb"].replace(" ", "_"))(step["text"], step["field"])
        self._is_at_rest = step["verb"].startswith("expect")
        if self.config["views"]:
            await self._rest(QUIET_SECONDS)

    async def _rest(self, seconds: float) -> None:
        """Lets the page finish what a step began: for a picture, for the next step, and for what must not appear."""
        if not self._is_at_rest:
            await asyncio.sleep(self.reporter.patience * seconds)
        self._is_at_rest = True

    async def _open(self, path: str, _: str) -> None:
        response, reason = await self._load(path)
        if reason:
            raise Failed(reason)
        if response is not None and response.status >= 400:
            raise Failed(f"{path} answered with status {response.status}")

    async def _click(self, target: str, _: str) -> None:
        await (await self._found(self._clickable(target), target)).click(timeout=self.step_seconds * 1000)

    async def _type(self, text: str, field: str) -> None:
        await (await self._found(self._fields(field), field)).fill(text, timeout=self.step_seconds * 1000)

    async def _choose(self, option: str, field: str) -> None:
        select = await self._found(self._fields(field), field)
        try:
            await select.select_option(option, timeout=self.step_seconds * 1000)
        except Exception as error:
            if "Timeout" not in str(error):
                raise
            raise Failed(f"there is no option {option!r} in {field!r}") from error

    async def _view(self, name: str, _: str) -> None:
        now = self.size
        sizes = {
            "phone": replace(PHONE, scheme=now.scheme),
            "desktop": replace(DESKTOP, scheme=now.scheme),
            "dark": replace(now, scheme="dark"),
            "light": replace(now, scheme="light"),
        }
        if reason := await self.start(sizes[name]):
            raise Failed(reason)

    async def _press(self, key: str, _: str) -> None:
        await self.page.keyboard.press(key)

    async def _screenshot(self, *_: str) -> None:
        """Every step gets a screenshot anyway."""

    async def _expect_text(self, text: str, _: str) -> None:
        if not await self._comes_true(lambda: self._shows(text)):
            raise Failed(f"{text!r} is not visible on the page")

    async def _expect_no_text(self, text: str, _: str) -> None:
        async def is_gone() -> bool:
            return not await self._shows(text)

        if not await self._comes_true(is_gone):
            raise Failed(f"{text!r} is visible on the page")

    async def _expect_value(self, text: str, field: str) -> None:
        seen: list[str] = []

        async def is_there() -> bool:
            seen[:] = await self._values(field)
            return text in seen

        if not await self._comes_true(is_there):
            raise Failed(f"{field!r} has {seen[0][:300]!r}" if seen else f"there is no {field!r} on the page")

    async def _expect_no_value(self, _: str, field: str) -> None:
        seen: list[str] = []

        async def is_empty() -> bool:
            seen[:] = await self._values(field)
            return not any(seen)

        if not await self._comes_true(is_empty):
            raise Failed(f"{field!r} has {seen[0][:300]!r}")

    async def _expect_no_sideways_scrolling(self, *_: str) -> None:
        async def fits() -> bool:
            width = await self.camera.world.ask_main("", WIDTH)
            return bool(width <= self.size.width + 1)

        if not await self._comes_true(fits):
            raise Failed(f"the page is wider than the screen, which has {self.size.width} pixels")

    async def _expect_dark_background(self, *_: str) -> None:
        async def is_dark() -> bool:
            return await self.camera.brightness() < DARK

        if not await self._comes_true(is_dark):
            raise Failed("most of the screen is not dark")

    async def _expect_light_background(self, *_: str) -> None:
        async def is_light() -> bool:
            return await self.camera.brightness() > LIGHT

        if not await self._comes_true(is_light):
            raise Failed("most of the screen is not light")

    async def _expect_url(self, path: str, _: str) -> None:
        async def is_there() -> bool:
            parts = urlsplit(self.page.url)
            whole = parts.path + (f"?{parts.query}" if parts.query else "")
            full = whole + (f"#{parts.fragment}" if parts.fragment else "")
            return self.page.url.startswith(self.app.origin) and path in (parts.path, whole, full)

        if not await self._comes_true(is_there):
            raise Failed(f"the page is at {self.page.url.removeprefix(self.app.origin)[:300]}")

    async def _expect_no_error(self, *_: str) -> None:
        found = [kind for view, kind in self.reporter.notes if view == "steps" and kind in ERRORS]
        if found:
            raise Failed(f"there were {len(found)} errors, the first a {found[0]}")

    def _clickable(self, target: str) -> list[Locator]:
        if SELECTOR.match(target):
            return [self.page.locator(target)]
        page, whole = self.page, re.compile(rf"^\s*{re.escape(target)}\s*$", re.IGNORECASE)
        roles: list[Any] = list(CLICKED)
        exact = [page.get_by_role(role, name=whole) for role in roles]
        part = [page.get_by_role(role, name=target) for role in roles]
        return [*exact, page.get_by_label(whole), page.get_by_text(whole), *part, page.get_by_text(target)]

    def _fields(self, field: str) -> list[Locator]:
        if SELECTOR.match(field):
            return [self.page.locator(field)]
        page, quoted = self.page, field.replace("\\", "\\\\").replace('"', '\\"')
        by_name = page.locator(", ".join(f'{tag}[name="{quoted}"]' for tag in ("input", "textarea", "select")))
        exact = [page.get_by_label(field, exact=True), page.get_by_placeholder(field, exact=True), by_name]
        return [
            *exact,
            page.get_by_role("textbox", name=field),
            page.get_by_label(field),
            page.get_by_placeholder(field),
        ]

    async def _found(self, locators: list[Locator], target: str) -> Locator:
        """Waits for the first visible match, the best match first."""
        ends = time.monotonic() + self.reporter.left(STEP_SECONDS)
        while True:
            for locator in locators:
                seen = locator.filter(visible=True)
                if await asyncio.wait_for(seen.count(), self.step_seconds):
                    return seen.first
            if time.monotonic() > ends:
                raise Failed(f"there is no {target!r} on the page")
            await asyncio.sleep(0.15)

    async def _values(self, field: str) -> list[str]:
        """What the best visible match says: a field's value (for a select also the chosen text), or the text in it."""
        for locator in self._fields(field):
            seen = locator.filter(visible=True)
            if await asyncio.wait_for(seen.count(), self.step_seconds):
                found = await asyncio.wait_for(self._says(seen.first), self.step_seconds)
                return [" ".join(text.split()) for text in found]
        return []

    async def _says(self, element: Locator) -> list[str]:
        """Asked in the driver's own script world: what the page's scripts replaced is not replaced there."""
        if await element.and_(self.page.locator("select")).count():
            chosen = element.locator("option:checked").first
            return [await element.input_value(), (await chosen.inner_text()) if await chosen.count() else ""]
        is_field = await element.and_(self.page.locator("input, textarea")).count()
        return [await (element.input_value() if is_field else element.inner_text())]

    async def _shows(self, text: str) -> bool:
        seen = self.page.get_by_text(text).filter(visible=True)
        return bool(await asyncio.wait_for(seen.count(), self.step_seconds))

    async def _comes_true(self, ask: Any) -> bool:
        ends = time.monotonic() + self.reporter.left(STEP_SECONDS)
        while not await ask():
            if time.monotonic() > ends:
                return False
            await asyncio.sleep(0.15)
        return True


async def walk(browser: Browser, app: App, reporter: Reporter, config: dict[str, Any]) -> None:
    """All steps, starting at the app's first page."""
    reporter.stage = "the steps ran"
    walker = Walker(browser, app, reporter, config)
    try:
        await walker.start(DESKTOP)
        for number, step in enumerate(config["steps"], 1):
            reason = await _tried(walker, step)
            name = f"step-{number}" + (f"-{step['text']}" if step["verb"] == "screenshot" else "")
            wanted = config["views"] and not walker.watcher.crashed
            pictured = wanted and await walker.camera.take(name)
            result = {"number": number, "step": step["line"], "passed": reason is None, "reason": reason}
            reporter.emit("step", step=result | {"shot": name if pictured else None})
            if reason and not config["views"]:
                break  # a check has failed, and each further step may wait for what will never be there
    finally:
        await walker.end()


async def _tried(walker: Walker, step: dict[str, str]) -> str | None:
    """Why a step failed; None if it did not."""
    if walker.watcher.crashed and step["verb"] not in ("open", "view"):
        return "the page had crashed"
    try:
        await asyncio.wait_for(walker.do(step), (LOAD_SECONDS + STEP_SECONDS) * walker.reporter.patience)
    except Failed as failed:
        return str(failed)
    except TimeoutError:
        return "the page did not answer"
    except Exception as error:  # noqa: BLE001
        message = str(error).split("\n")[0]
        return (
            "it could not be reached: something covers it, or it is disabled" if "Timeout" in message else message[:300]
        )
    return None
