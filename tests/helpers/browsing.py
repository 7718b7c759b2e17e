"""A real Chromium, and a page of it with everything that it said and asked for."""

from __future__ import annotations

from contextlib import contextmanager

from helpers.needs import need
from orvl.capture.browser import find

SCHEMES = ("light", "dark")
PHONE, DESK = {"width": 390, "height": 800}, {"width": 1280, "height": 900}


@contextmanager
def chromium():
    need(find.trouble() is None, find.trouble() or "")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find.chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Watched:
    """A page of a browser, with everything that it said and asked for."""

    def __init__(self, browser, scheme, viewport):
        self.context = browser.new_context(color_scheme=scheme, viewport=viewport)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def violations(self):
        from axe_playwright_python.sync_playwright import Axe

        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in Axe().run(self.page).response["violations"]]

    def open_all(self):
        """Unfolds every part, without a script of the page."""
        for place in self.page.locator("details:not([open]) > summary").all():
            if place.is_visible():
                place.click()
