"""Reads its configuration, deletes the file, and looks at the app."""

from __future__ import annotations

import asyncio
import ctypes
import importlib.util
import json
import os
import shutil
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .reporter import Reporter
from .serve import App, NoApp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Browser, Playwright

PR_SET_DUMPABLE = 4
LAUNCH_SECONDS = 30
SHARE_FOR_START = 0.6
SHARES = {"view": 0.35, "steps": 0.6}
NAMES = ("/usr/lib/chromium/chromium", "chromium", "chromium-browser", "google-chrome")
FLAGS = (
    *("--proxy-server=http://127.0.0.1:9", "--disable-gpu", "--disable-site-isolation-trials"),
    *("--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--js-flags=--max-old-space-size=1024"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-features=SitePerProcess",
    ),
)


async def launch(playwright: Playwright, config: dict[str, Any], port: int) -> Browser:
    """Chromium, whose pages reach only the app: everything else goes to a port on which nobody listens."""
    found = (shutil.which(name) for name in NAMES)
    program = config["chromium"] or next((path for path in found if path), None)
    own = "127.0.0.1;localhost;[::1]" if config["walls"] else f"127.0.0.1:{port};localhost:{port};[::1]:{port}"
    flags = [*FLAGS, f"--proxy-bypass-list=<-loopback>;{own}"]
    safe = not config["walls"] and os.geteuid() != 0
    for chromium_sandbox in (True, False) if safe else (False,):
        try:
            return await playwright.chromium.launch(
                executable_path=program,
                args=flags,
                chromium_sandbox=chromium_sandbox,
                timeout=LAUNCH_SECONDS * config["patience"] * 1000,
            )
        except Exception:
            if not chromium_sandbox:
                raise
    raise AssertionError


async def look(config: dict[str, Any], reporter: Reporter) -> None:
    try:
        from playwright.async_api import async_playwright
    except ImportError as error:
        reporter.emit("unavailable", reason=f"The sandbox has no package to drive the browser with ({error}).")
        return
    if importlib.util.find_spec("axe_playwright_python") is None:
        reporter.emit("unavailable", reason="The sandbox has no package with axe-core (axe-playwright-python).")
        return
    app = App(config["app"])
    async with async_playwright() as playwright:
        try:
            browser = await launch(playwright, config, 0)
        except Exception as error:  # noqa: BLE001
            said = [line for line in str(error).splitlines() if line.strip()]
            reporter.emit("unavailable", reason=f"Chromium does not start here: {' '.join(said)[:600]}")
            return
        took = round(time.monotonic() - reporter.began, 3)
        reporter.emit("browser", name=f"Chromium {browser.version}", seconds=took)
        try:
            if await started(app, reporter, reporter.left() * SHARE_FOR_START):
                if not config["walls"]:
                    await browser.close()
                    browser = await launch(playwright, config, app.port)
                await stages(browser, app, reporter, config)
        finally:
            await app.end()
            with suppress(Exception):
                await asyncio.wait_for(browser.close(), 2)


async def started(app: App, reporter: Reporter, seconds: float) -> bool:
    reporter.stage = "the app was starting"
    began, reason = time.monotonic(), None
    try:
        await app.start(seconds)
    except NoApp as none:
        reason = str(none)
    took = round(time.monotonic() - began, 3)
    reporter.emit("app", app={"started": reason is None, "seconds": took, "output": app.output, "reason": reason})
    return reason is None


async def stages(browser: Browser, app: App, reporter: Reporter, config: dict[str, Any]) -> None:
    """The first view, the steps, and the other views, each with its share of the time."""
    from .steps import walk
    from .views import DESKTOP, OTHERS, Viewer

    viewer, whole = Viewer(browser, app, reporter, config), reporter.left()
    work: list[tuple[str, Callable[[], Awaitable[None]]]] = []
    views = (DESKTOP, *OTHERS) if config["views"] else ()
    work += [("view", partial(viewer.look, size)) for size in views]
    if config["steps"]:
        work.insert(min(1, len(views)), ("steps", partial(walk, browser, app, reporter, config)))
    for kind, begin in work:
        try:
            await asyncio.wait_for(begin(), reporter.begin(whole * (SHARES[kind] if views else 1.0)))
        except TimeoutError:
            reporter.emit("late", stage=reporter.stage)
        except Exception as error:  # noqa: BLE001
            reporter.emit("broken", stage=reporter.stage, reason=str(error).split("\n")[0][:300])
    reporter.emit("app output", output=app.output)


async def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    os.unlink(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    reporter = Reporter(config["seconds"], config["key"], config["patience"])
    try:
        await asyncio.wait_for(look(config, reporter), config["seconds"])
    except TimeoutError:
        reporter.emit("late", stage=reporter.stage)
    reporter.emit("end")
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
