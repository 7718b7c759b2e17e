"""What happens on a page while it is looked at: errors, failed requests, dialogs, windows, downloads, ways out."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from playwright.async_api import (
        BrowserContext,
        ConsoleMessage,
        Dialog,
        Download,
        Error,
        Frame,
        Page,
        Request,
        Response,
    )

    from .reporter import Reporter

OWN_NOISE = ("Failed to load resource", "Blocked alert", "Blocked confirm")
NOT_FAILED = ("net::ERR_ABORTED",)
BAD_STATUS = 400


def shortened(url: str, origin: str) -> str:
    """An address inside the app without the app's own address."""
    return (url.removeprefix(origin) or "/") if url.startswith(origin) else url[:300]


class Watcher:
    """Notes the events of one page under the name of its view."""

    def __init__(self, context: BrowserContext, page: Page, view: str, origin: str, reporter: Reporter) -> None:
        self.view, self.origin, self.reporter, self.page = view, origin, reporter, page
        self.crashed = False
        self._doing: set[asyncio.Task[None]] = set()
        page.on("console", self._console)
        page.on("pageerror", self._page_error)
        page.on("requestfailed", self._request_failed)
        page.on("response", self._response)
        page.on("dialog", self._dialog)
        page.on("download", self._download)
        page.on("crash", self._crash)
        page.on("framenavigated", self._navigated)
        context.on("page", self._window)

    def note(self, kind: str, text: str, at: str = "") -> None:
        self.reporter.note(self.view, kind, text, at)

    def _short(self, url: str) -> str:
        return shortened(url, self.origin)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(OWN_NOISE):
            place = message.location
            self.note("console error", message.text, f"{self._short(place['url'])}:{place['lineNumber'] + 1}")

    def _page_error(self, error: Error) -> None:
        first = [line.strip() for line in (error.stack or "").splitlines() if "http" in line][:1]
        self.note("page error", str(error), "".join(first).replace(self.origin, ""))

    def _request_failed(self, request: Request) -> None:
        why = request.failure or "failed"
        if why not in NOT_FAILED:
            self.note("failed request", f"{self._short(request.url)}: {why}")

    def _response(self, response: Response) -> None:
        if response.status >= BAD_STATUS and not urlsplit(response.url).path.endswith("/favicon.ico"):
            self.note("failed request", f"{self._short(response.url)}: status {response.status}")

    def _dialog(self, dialog: Dialog) -> None:
        self.note("dialog", f"{dialog.type}: {dialog.message}")
        self._do(dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())

    def _download(self, download: Download) -> None:
        self.note("download", self._short(download.url)[:200])

    def _crash(self, _: Page) -> None:
        self.crashed = True
        self.note("crash", "the page crashed, probably out of memory")

    def _navigated(self, frame: Frame) -> None:
        if frame.parent_frame is None and not frame.url.startswith((self.origin, "about:blank")):
            self.note("left", frame.url)

    def _window(self, page: Page) -> None:
        if page is not self.page:
            self.note("window", self._short(page.url))
            self._do(page.close())

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        async def quietly() -> None:
            with suppress(Exception):
                await asyncio.wait_for(work, 5)

        task = asyncio.ensure_future(quietly())
        self._doing.add(task)
        task.add_done_callback(self._doing.discard)
