"""A page that shows what a command prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.page import Page
from orvl.web.show import PageTerminal
from orvl.web.twins import table_twins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.report.terminal import Terminal
    from orvl.web.html import Child
    from orvl.web.page import PageRequest, Twin


def printed_page(
    asked: PageRequest,
    title: str,
    answer: str,
    show: Callable[[Terminal], None],
    *,
    words: Sequence[str],
    command: tuple[str, ...],
    as_json: Twin,
    cells: Mapping[str, str | None] | None = None,
    more: Child = None,
) -> Page:
    """First the answer; `cells` are addresses by the text of a cell."""
    terminal = PageTerminal(caption=title, cells=cells or {}, has_lead=False)
    show(terminal)
    return Page(
        title,
        lambda: [tag("h1", answer), filters(f"/{title.lower()}", asked, *words), more, terminal.parts],
        command,
        {"json": as_json, **(table_twins(*terminal.tables) if terminal.tables else {})},
    )
