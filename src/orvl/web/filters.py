"""The words of an address as a form: what is filtered by stands in the address, and needs no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.web.html import tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.web.html import Html
    from orvl.web.page import PageRequest


def filters(
    path: str,
    asked: PageRequest,
    *names: str,
    button: str = "Filter",
    kept: str = "",
    folded: str = "",
    more: Sequence[str] = (),
) -> Html:
    """A field for each name; `more` of them are folded away until they are needed. The word `kept` stays in the
    address, without a field of its own."""

    def fields(some: Sequence[str]) -> list[Html]:
        return [
            tag("label", name.replace("_", " "), tag("input", name_=name, value=asked.words.get(name, ""), size=12))
            for name in some
        ]

    hidden = tag("input", type_="hidden", name_=kept, value=asked.words[kept]) if asked.words.get(kept) else None
    rest = tag("details", tag("summary", folded), tag("div", fields(more)), open=any(map(asked.words.get, more)))
    everything = tag("a", "all", href=path) if asked.words else None
    inside = hidden, fields(names), rest if more else None, tag("button", button), everything
    return tag("form", inside, action=path, class_="filters", role="search")
