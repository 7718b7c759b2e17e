"""Every page of a viewer that links lead to, and what in it could act."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from helpers.viewing import Viewer

MOST_BYTES = 1_000_000
"""Of any page."""
OWN_SCRIPT = '<script src="/static/orvl.js" defer></script>'


class Markup(HTMLParser):
    """The elements of a page, and what could act in them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.acting: list[str] = []
        self.data: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        for name, value in attributes:
            if name in ("href", "src", "action"):
                self.links.append(value or "")
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.acting.append(f"{tag} {name}={value}")

    def handle_data(self, data):
        self.data.append(data)


def crawled(viewer: Viewer, *starts: str, most: int) -> dict[str, str]:
    """Every page that can be reached by links, but raw texts; each link works, to the place in the page that it names."""
    found: dict[str, str] = {}
    places: set[tuple[str, str]] = set()
    left = list(starts)
    while left and len(found) < most:
        path = left.pop(0)
        if path in found:
            continue
        reply = viewer.get(path)
        assert reply.status == 200, f"{path}: {reply.text}"
        if not reply.headers["Content-Type"].startswith("text/html"):
            continue
        assert len(reply.body) <= MOST_BYTES, f"{path}: {len(reply.body):,} bytes"
        found[path] = reply.text
        links = [urljoin(path, one) for one in Markup(reply.text).links]
        assert not [one for one in links if urlsplit(one).netloc], path
        left += [one.partition("#")[0] for one in links]
        places |= {(one.partition("#")[0], one.partition("#")[2]) for one in links if "#" in one}
    lost = [(path, name) for path, name in places if path in found and f' id="{name}"' not in found[path]]
    assert not lost
    return found


def acts_nowhere(path: str, text: str) -> None:
    """Whatever stands in a page is text, and leads nowhere else; /now alone has the viewer's own script."""
    page = Markup(text.replace(OWN_SCRIPT, "") if path == "/now" else text)
    assert not page.tags & {"script", "style", "iframe", "object", "embed", "base", "b", "template"}, path
    assert not page.acting, path
    assert all(re.match(r"/(?!/)|#|\?", one) for one in page.links), path
    shown = "".join(page.data)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown), path
