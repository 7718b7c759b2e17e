"""C14, a picture of the finished page: a screenshot looks right, and nothing can be clicked."""

from __future__ import annotations

import re
from html import escape

from orvl.errors import ControlUnavailable
from orvl.trust.controls.control import FROM_GOOD, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.png import Picture
from orvl.trust.mutate.source import ControlSource
from orvl.trust.mutate.syntax import language_of, text_of

FUNCTIONALITY_AT_MOST = 0.20
PAGE = '<!doctype html>\n<html>\n<body style="margin:0">\n<img src="{picture}" alt="">\n</body>\n</html>\n'
TAGS = re.compile(r"<(script|style|template)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
HEADING = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1", re.DOTALL | re.IGNORECASE)


def make(source: ControlSource) -> Derived:
    """A page that is nothing but a drawing of the good one's words, with boxes where one would click."""
    page = source.eval.app.get("files")
    if page is None:
        why = "is started by a command" if source.eval.app else "has no app"
        raise ControlUnavailable(
            f"the eval {why}, so no page can be put in its place: where it has one, write controls/picture."
        )
    if language_of(page) != "html":
        page = f"{page.rstrip('/')}/index.html".lstrip("./") if page not in (".", "./") else "index.html"
    name = "page.png"
    files = {page: PAGE.format(picture=escape(name)).encode()}
    folder = page.rpartition("/")[0]
    shown = text_of(source.good.files.get(page, b"")) or ""
    files[f"{folder}/{name}".lstrip("/")] = drawing(shown)
    return Derived(files, FROM_GOOD, {"page": page})


def drawing(markup: str) -> bytes:
    """The words of a page, drawn."""
    heading = HEADING.search(markup)
    words = " ".join(TAGS.sub(" | ", markup).split())
    lines = [line.strip() for line in words.split("|") if line.strip()][:14] or ["Page"]
    board = Picture(800, 600)
    board.box(0, 0, 800, 60, 225)
    board.write(24, 18, heading[2][:40] if heading else lines[0][:40], 3)
    for number, line in enumerate(lines):
        top = 84 + 36 * number
        board.box(24, top - 8, 752, 28, 245)
        board.box(34, top - 2, 16, 16, 180)
        board.write(64, top, line[:56], 2, 40)
    return board.png()


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C14", "a picture of the page is not called working", "picture", None, "at most", FUNCTIONALITY_AT_MOST),
        metric="functionality",
        fault="A picture of the page is called working",
    )


CONTROLS = (Control("C14", "picture", make, warnings=warnings),)
