"""The words of an address as a form: what is filtered by stands in the address, and needs no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.web.html import tag

if TYPE_CHECKING:
    from orvl.web.html import Html
    from orvl.web.page import PageRequest


def filters(path: str, asked: PageRequest, *names: str, button: str = "Filter") -> Html:
    fields = [
        tag("label", name.replace("_", " "), tag("input", name_=name, value=asked.words.get(name, ""), size=12))
        for name in names
    ]
    everything = tag("a", "all", href=path) if asked.words else None
    return tag("form", fields, tag("button", button), everything, action=path, class_="filters", role="search")
