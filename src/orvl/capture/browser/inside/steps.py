"""The eval's steps through the app, one after the other, in a fresh page."""

from __future__ import annotations

import asyncio
import re
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .pictures import Camera
from .views import DESKTOP, load, new_page
from .watch import Watcher
from .world import World

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page

    from .reporter import Reporter
    from .serve import App

STEP_SECONDS, LOAD_SECONDS, QUIET_SECONDS = 4.0, 10.0, 0.4
SELECTOR = re.compile(r"[#.\[]|css=")
ERRORS = ("console error", "page error", "failed request", "crash")
CLICKED = ("button", "link", "menuitem", "tab", "checkbox", "radio", "switch", "option")


class Failed(Exception):
    """Why a step failed, in one sentence."""


class Walker:
    """Carries out steps."""

    def __init__(self, page: Page, watcher: Watcher, app: App, reporter: Reporter) -> None:
        self.page, self.watcher, self.app, self.reporter = page, watcher, app, reporter

    async def do(self, step: dict[str, str]) -> None:
        await getattr(self, "_" + step["verb"].replace(" ", "_"))(step["text"], step["field"])
        await asyncio.sleep(0 if step["verb"].startswith("expect") else QUIET_SECONDS)

    async def _open(self, path: str, _: str) -> None:
        response, reason = await load(self.page, self.app.origin + path, self.reporter.left(LOAD_SECONDS))
        if reason:
            raise Failed(reason)
        if response is not None and response.status >= 400:
            raise Failed(f"{path} answered with status {response.status}")

    async def _click(self, target: str, _: str) -> None:
        await (await self._found(self._clickable(target), target)).click(timeout=STEP_SECONDS * 1000)

    async def _type(self, text: str, field: str) -> None:
        await (await self._found(self._fields(field), field)).fill(text, timeout=STEP_SECONDS * 1000)

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
        by_name = page.locator(f'input[name="{quoted}"], textarea[name="{quoted}"]')
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
                if await asyncio.wait_for(seen.count(), STEP_SECONDS):
                    return seen.first
            if time.monotonic() > ends:
                raise Failed(f"there is no {target!r} on the page")
            await asyncio.sleep(0.15)

    async def _shows(self, text: str) -> bool:
        seen = self.page.get_by_text(text).filter(visible=True)
        return bool(await asyncio.wait_for(seen.count(), STEP_SECONDS))

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
    async with new_page(browser, DESKTOP) as page:
        watcher = Watcher(page.context, page, "steps", app.origin, reporter)
        await load(page, app.origin + app.path, reporter.left(LOAD_SECONDS))
        walker = Walker(page, watcher, app, reporter)
        camera = Camera(page, await World.of(page), reporter, config)
        for number, step in enumerate(config["steps"], 1):
            reason = await _tried(walker, step)
            name = f"step-{number}" + (f"-{step['text']}" if step["verb"] == "screenshot" else "")
            pictured = False if watcher.crashed else await camera.take(name)
            result = {"number": number, "step": step["line"], "passed": reason is None, "reason": reason}
            reporter.emit("step", step=result | {"shot": name if pictured else None})


async def _tried(walker: Walker, step: dict[str, str]) -> str | None:
    """Why a step failed; None if it did not."""
    if walker.watcher.crashed and step["verb"] != "open":
        return "the page had crashed"
    try:
        await asyncio.wait_for(walker.do(step), LOAD_SECONDS + STEP_SECONDS)
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
