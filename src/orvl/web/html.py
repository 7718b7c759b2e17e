"""The only place where text becomes HTML: whatever is not `Html` already is text, and is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Union

from orvl.report.text import plain

Child = Union["Html", str, int, None, Iterable["Child"]]

VOID = frozenset(("br", "col", "img", "input", "link", "meta"))
NAME = re.compile(r"[a-z][a-zA-Z0-9-]*")
OWN_ADDRESS = re.compile(r"#|\?|/(?![/\\])")
"""What an address may begin with: links and pictures are the viewer's own, whatever an agent wrote."""
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*\Z")
ADDRESSES = ("href", "src", "action")


class Html:
    """Finished markup; only this file makes it."""

    __slots__ = ("markup",)

    def __init__(self, markup: str) -> None:
        self.markup = markup

    def __str__(self) -> str:
        return self.markup


def tag(name: str, /, *children: Child, **attributes: str | int | bool | None) -> Html:
    """An element. A `_` in a name is `-`, and one at its end is dropped (`class_`); None and False leave one out."""
    inside = "".join(_attributes(attributes))
    if name in VOID:
        return Html(f"<{name}{inside}>")
    return Html(f"<{name}{inside}>{''.join(_markup(children))}</{name}>")


def join(*children: Child) -> Html:
    """Several without an element around them."""
    return Html("".join(_markup(children)))


def document(*children: Child) -> str:
    return f"<!doctype html>\n{tag('html', *children, lang='en')}\n"


def style_sheet(css: str) -> Html:
    """orvl's own style, for a file that stands alone."""
    if "<" in css:
        raise ValueError("A style sheet cannot hold markup.")
    return Html(f"<style>{css}</style>")


def _markup(children: Iterable[Child]) -> Iterator[str]:
    for child in children:
        if isinstance(child, Html):
            yield child.markup
        elif isinstance(child, str):
            yield escape(plain(child, lines=True))
        elif isinstance(child, int):
            yield str(child)
        elif child is not None:
            yield from _markup(child)


def _attributes(attributes: dict[str, str | int | bool | None]) -> Iterator[str]:
    for given, value in attributes.items():
        name = given.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if not NAME.fullmatch(name) or name.startswith("on") or name == "style":
            raise ValueError(f"No element may have the attribute {name!r}.")
        if name in ADDRESSES and not (OWN_ADDRESS.match(str(value)) or (name == "src" and PICTURE.match(str(value)))):
            raise ValueError(f"{value!r} is not an address of the viewer.")
        yield f" {name}" if value is True else f' {name}="{escape(plain(str(value)))}"'
