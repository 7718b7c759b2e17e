"""Reads what is to be looked at, takes it away, and looks."""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import shutil
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .serve import App, NoApp
from .tell import Teller

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Browser, Playwright

PR_SET_DUMPABLE = 4
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
    """Chromium, whose pages reach nothing but the app: every other way leads to a port on which nobody listens."""
    found = (shutil.which(name) for name in NAMES)
    program = config["chromium"] or next((path for path in found if path), None)
    own = "127.0.0.1;localhost;[::1]" if config["walls"] else f"127.0.0.1:{port};localhost:{port};[::1]:{port}"
    flags = [*FLAGS, f"--proxy-bypass-list=<-loopback>;{own}"]
    safe = not config["walls"] and os.geteuid() != 0
    for chromium_sandbox in (True, False) if safe else (False,):
        try:
            return await playwright.chromium.launch(
                executable_path=program, args=flags, chromium_sandbox=chromium_sandbox, timeout=30_000
            )
        except Exception:
            if not chromium_sandbox:
                raise
    raise AssertionError


async def look(config: dict[str, Any], teller: Teller) -> None:
    try:
        from playwright.async_api import async_playwright
    except ImportError as error:
        teller.tell("unavailable", reason=f"The browser cannot be driven in the sandbox ({error}).")
        return
    app = App(config["app"])
    async with async_playwright() as playwright:
        try:
            browser = await launch(playwright, config, 0)
        except Exception as error:  # noqa: BLE001
            said = [line for line in str(error).splitlines() if line.strip()]
            teller.tell("unavailable", reason=f"Chromium does not start here: {' '.join(said)[:600]}")
            return
        teller.tell("browser", name=f"Chromium {browser.version}")
        try:
            if await started(app, teller, teller.left() * SHARE_FOR_START):
                if not config["walls"]:
                    await browser.close()
                    browser = await launch(playwright, config, app.port)
                await stages(browser, app, teller, config)
        finally:
            await app.end()
            with suppress(Exception):
                await asyncio.wait_for(browser.close(), 2)


async def started(app: App, teller: Teller, seconds: float) -> bool:
    teller.stage = "the app was starting"
    began, reason = time.monotonic(), None
    try:
        await app.start(seconds)
    except NoApp as none:
        reason = str(none)
    took = round(time.monotonic() - began, 3)
    teller.tell("app", app={"started": reason is None, "seconds": took, "output": app.output, "reason": reason})
    return reason is None


async def stages(browser: Browser, app: App, teller: Teller, config: dict[str, Any]) -> None:
    """The first view, the steps, and the other views, each with its share of the time."""
    from .steps import walk
    from .views import DESKTOP, OTHERS, Viewer

    viewer, whole = Viewer(browser, app, teller, config), teller.left()
    work: list[tuple[str, Callable[[], Awaitable[None]]]] = [("view", partial(viewer.look, DESKTOP))]
    if config["steps"]:
        work.append(("steps", partial(walk, browser, app, teller, config)))
    work += [("view", partial(viewer.look, size)) for size in OTHERS]
    for kind, begin in work:
        try:
            await asyncio.wait_for(begin(), teller.begin(whole * SHARES[kind]))
        except TimeoutError:
            teller.tell("late", stage=teller.stage)
        except Exception as error:  # noqa: BLE001
            teller.tell("broken", stage=teller.stage, reason=str(error).split("\n")[0][:300])
    teller.tell("app output", output=app.output)


async def main() -> None:
    config = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    os.unlink(sys.argv[1])
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    teller = Teller(config["seconds"], config["key"])
    try:
        await asyncio.wait_for(look(config, teller), config["seconds"])
    except TimeoutError:
        teller.tell("late", stage=teller.stage)
    teller.tell("end")
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main())
