"""Reads a page as somebody who looks at it: rows of tables, links by their texts."""

from __future__ import annotations

from html.parser import HTMLParser


class Rows(HTMLParser):
    """The rows of tables: of each cell its text, and the links in it by their texts."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: dict[str, str] = {}
        self.texts: list[str] = []
        self._link: str | None = None
        self._in_cell = False
        self.feed(markup)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True
        elif tag == "a":
            self._link = dict(attributes)["href"]

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._in_cell = False
        elif tag == "a":
            self._link = None

    def handle_data(self, data):
        self.texts.append(data)
        if self._in_cell:
            self.rows[-1][-1] += data
        if self._link is not None:
            self.links[data] = self._link

    @property
    def text(self) -> str:
        return "".join(self.texts)
