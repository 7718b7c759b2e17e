"""What is around every page: its title, the way to the others, the same as data, and as a command."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING
from urllib.parse import quote

from orvl.web.html import document, join, tag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.web.html import Child, Html
    from orvl.web.page import Page

PAGES = {
    "/board": "Board",
    "/evals": "Evals",
    "/runs": "Runs",
    "/compare": "Compare",
    "/trust": "Trust",
    "/history": "History",
    "/endpoints": "Endpoints",
    "/now": "Now",
    "/label": "Label",
}
ENDINGS = {"json": "JSON", "csv": "CSV", "md": "Markdown", "svg": "SVG"}


def framed(page: Page, path: str, words: Mapping[str, str]) -> str:
    """A whole page of the server."""
    from orvl.web.page import Links

    twins = [
        (" · ", tag("a", ENDINGS[ending], href=Links().to(f"{quote(path, errors='replace')}.{ending}", words)))
        for ending in ENDINGS
        if ending in page.twins
    ]
    command = (" · the same as a command: ", tag("code", shlex.join(page.command))) if page.command else ()
    footer = tag("footer", "orvl", twins, command)
    refresh = tag("meta", http_equiv="refresh", content=str(page.refresh)) if page.refresh else None
    script = tag("script", src="/static/orvl.js", defer=True) if page.access == "live" else None
    head = refresh, script
    return whole(page.title, tag("main", page.body()), navigation=_navigation(path), footer=footer, head=head)


def whole(title: str, main: Html, *, navigation: Child = None, footer: Child = None, head: Child = None) -> str:
    return document(
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("title", f"{title} · orvl"),
            tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name_="color-scheme", content="light dark"),
            tag("link", rel="stylesheet", href="/static/orvl.css"),
            head,
        ),
        tag("body", tag("header", navigation) if navigation else None, main, footer),
    )


def _navigation(path: str) -> Html:
    part = {"/eval": "/evals", "/run": "/runs"}
    here = "/" + path.split("/")[1] if path != "/" else path
    here = part.get(here, here)
    links = [
        tag("a", name, href=address, aria_current="page" if address == here else None)
        for address, name in PAGES.items()
    ]
    return tag("nav", links, aria_label="Pages")


def sentence_of(text: str) -> Html:
    return join(tag("h1", "orvl"), tag("p", text))


def notice(title: str, sentence: str, *, go_on: str | None = None, at_once: bool = False) -> str:
    """A page of one sentence, with at most one link."""
    way = tag("p", tag("a", "Go on", href=go_on)) if go_on else None
    refresh = tag("meta", http_equiv="refresh", content=f"0; url={go_on}") if go_on and at_once else None
    return whole(title, tag("main", tag("h1", title), tag("p", sentence), way), head=refresh)
