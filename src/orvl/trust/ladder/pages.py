"""Controls for evals with pages: an ugly one that works, and a picture of one that does not."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from orvl.errors import ControlUnavailable
from orvl.trust.ladder.png import Picture
from orvl.trust.ladder.syntax import language_of, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.trust.ladder.trees import Source

UGLY = """
* { font-family: "Comic Sans MS", fantasy !important; letter-spacing: 0.12em !important; line-height: 0.95 !important;
    border-radius: 0 !important; box-shadow: none !important; text-align: right !important; }
html, body { background: #ff00ff !important; color: #0000cc !important; font-size: 11px !important; }
body * { color: #0000cc !important; background-color: #ff7f00 !important; font-size: 11px !important; }
button, input, select, textarea, a { background: #ffff00 !important; color: #cc0000 !important;
    border: 3px dotted #00ffff !important; margin: -1px 37px 11px -1px !important; padding: 1px !important; }
h1, h2, h3 { color: #00ffff !important; text-decoration: underline overline !important;
    margin: -6px 0 -6px 90px !important; }
li, tr, p, section, div { border-left: 7px double #0000ff !important; margin-left: 13px !important; }
img, svg { transform: skewX(14deg) !important; }
"""
PAGE = '<!doctype html>\n<html>\n<body style="margin:0">\n<img src="{picture}" alt="">\n</body>\n</html>\n'
TAGS = re.compile(r"<(script|style|template)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
HEADING = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1", re.DOTALL | re.IGNORECASE)


def ugly(source: Source) -> tuple[Mapping[str, bytes], dict[str, object]]:
    """The good pages with clashing colours, tiny letters and crooked distances; nothing is hidden or covered."""
    files = dict(source.good.files)
    pages = [path for path in files if language_of(path) == "html" and text_of(files[path]) is not None]
    styles = [path for path in files if language_of(path) == "css" and text_of(files[path]) is not None]
    if not pages and not styles:
        raise ControlUnavailable(
            "controls/good has no page or style sheet to make ugly; where looks matter, write controls/ugly."
        )
    for path in pages:
        found = re.search(rb"</head\s*>", files[path], re.IGNORECASE)
        at = found.start() if found else len(files[path])
        files[path] = files[path][:at] + f"<style>{UGLY}</style>\n".encode() + files[path][at:]
    for path in styles if not pages else ():
        files[path] += UGLY.encode()
    return files, {"changed": pages or styles}


def picture(source: Source) -> tuple[Mapping[str, bytes], dict[str, object]]:
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
    return files, {"page": page}


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
