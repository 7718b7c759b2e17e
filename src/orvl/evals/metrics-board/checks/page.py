"""The page and the download as they were made: read as data, in whatever markup they are."""

import csv
import io
import re
from html.parser import HTMLParser

from cases import Wrong

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
ENDS = {
    "tr": {"tr", "td", "th"},
    "td": {"td", "th"},
    "th": {"td", "th"},
    "tbody": {"tr", "td", "th", "thead", "tbody", "caption"},
    "thead": {"caption"},
    "tfoot": {"tr", "td", "th", "tbody", "thead"},
    "li": {"li"},
    "p": {"p"},
}
WALLS = {"table", "ul", "ol", "nav", "svg", "div", "section", "main"}
NUMBER = re.compile(r"[-+\u2212]?\d+(?:\.\d+)?")
MOST = 2_000_000
COLUMNS_OF_AMOUNTS = ("sales", "refunds", "net")


class Node:
    def __init__(self, tag, attributes=(), parent=None):
        self.tag, self.parent, self.children = tag, parent, []
        self.attributes = {name: value or "" for name, value in reversed(list(attributes))}

    def all(self, tag):
        for child in self.children:
            if isinstance(child, Node):
                if child.tag == tag:
                    yield child
                yield from child.all(tag)

    @property
    def text(self):
        """What it says; texts that are never shown are left out."""
        parts = [one if isinstance(one, str) else "" if one.tag in ("style", "script", "title") else one.text for one in self.children]
        return " ".join(" ".join(parts).split())

    @property
    def classes(self):
        return self.attributes.get("class", "").split()

    def up(self):
        node = self
        while node is not None:
            yield node
            node = node.parent


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.top = self.at = Node("top")
        self.depth = 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        for node in self.at.up():
            if node.tag in WALLS:
                break
            if node.tag in ENDS.get(tag, ()):
                self._leave(node)
        child = Node(tag, attributes, self.at)
        self.at.children.append(child)
        if tag not in VOID and self.depth < 200:
            self.at, self.depth = child, self.depth + 1

    def handle_startendtag(self, tag, attributes):
        self.at.children.append(Node(tag, attributes, self.at))

    def handle_endtag(self, tag):
        found = next((node for node in self.at.up() if node.tag == tag), None)
        if found is not None:
            self._leave(found)

    def _leave(self, node):
        self.at = node.parent or self.top
        self.depth = sum(1 for _ in self.at.up()) - 1

    def handle_data(self, data):
        self.at.children.append(data)

    # -- the table

    def rows(self):
        """The table's rows by the names of its columns, in lower case: those of days by their dates, and `total`."""
        for table in self.top.all("table"):
            rows = [[cell for cell in row.children if isinstance(cell, Node) and cell.tag in ("td", "th")] for row in table.all("tr")]
            rows = [row for row in rows if row]
            names = [name_of(cell.text) for cell in rows[0]] if rows else []
            if {"day", "orders", "net"} <= set(names):
                return self._named(names, rows[1:])
        raise Wrong("there is no table whose first row names the columns")

    def _named(self, names, rows):
        found = {}
        for row in rows:
            texts = dict(zip(names, (cell.text for cell in row)))
            day = re.search(r"\d{4}-\d\d-\d\d", texts.get("day", ""))
            name = texts.get("day", "").strip().lower()
            key = day[0] if day else "total" if name.startswith("total") else name
            if key in found:
                raise Wrong(f"the table has two rows {key!r}")
            found[key] = texts
        return found

    # -- the charts

    def chart(self, name):
        """The <svg> whose label has this word."""
        found = [svg for svg in self.top.all("svg") if svg.attributes.get("role") == "img" and says(self.label(svg), name)]
        others = {"net": "visits", "visits": "net"}
        sole = [svg for svg in found if not says(self.label(svg), others[name])]
        if not found:
            raise Wrong(f"there is no <svg role=img> with a label that has {name}")
        return (sole or found)[0]

    def label(self, svg):
        named = svg.attributes.get("aria-labelledby", "").split()
        texts = [all_text(node) for node in everything(self.top) if node.attributes.get("id") in named] if named else []
        titles = [all_text(one) for one in svg.children if isinstance(one, Node) and one.tag == "title"]
        return " ".join([svg.attributes.get("aria-label", ""), *texts, *titles])

    def bars(self, name):
        """Of each bar x, y, width and height."""
        svg = self.chart(name)
        rects = [rect for rect in svg.all("rect") if "bar" in rect.classes]
        if len(rects) != 7:
            raise Wrong(f"the chart of {name} has {len(rects)} bars, not 7")
        for rect in rects:
            for node in rect.up():
                if "transform" in node.attributes:
                    raise Wrong(f"a bar of {name} has a transform, or is in an element that has one")
                if node is svg:
                    break
        return [plain_numbers(rect, "x", "y", "width", "height") for rect in rects]

    def goal(self):
        lines = [line for line in self.chart("net").all("line") if "goal" in line.classes]
        if len(lines) != 1:
            raise Wrong(f"the chart of Net has {len(lines)} lines of the class goal")
        return plain_numbers(lines[0], "y1", "y2")

    def links(self):
        return [link.attributes["href"] for link in self.top.all("a") if "href" in link.attributes]


def everything(node):
    for child in node.children:
        if isinstance(child, Node):
            yield child
            yield from everything(child)


def all_text(node):
    return " ".join(one if isinstance(one, str) else all_text(one) for one in node.children)


def says(label, word):
    return re.search(rf"\b{word}\b", label, re.IGNORECASE) is not None


def name_of(text):
    """The first word of the head of a column: `Sales (EUR)` is sales."""
    found = re.match(r"\w+", text.strip())
    return found[0].lower() if found else ""


def plain_numbers(node, *names):
    found = []
    for name in names:
        text = node.attributes.get(name, "0" if name in ("x", "y", "y1", "y2") else "")
        if not re.fullmatch(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*", text):
            raise Wrong(f"{name} of a <{node.tag}> is {text!r}, not a plain number")
        found.append(float(text))
    return found


def number(what, text):
    """The number in a cell of the table; None for a dash."""
    bare = re.sub(r"[\s\u00a0\u202f\u2009%\u20ac]|EUR", "", text).replace("\u2212", "-")
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", bare):
        bare = bare.replace(",", "")
    if NUMBER.fullmatch(bare):
        return float(bare)
    if bare and not re.search(r"\d", bare):
        return None
    raise Wrong(f"{what}: {text!r} is no number")


def table_of(text):
    """A CSV text as its header and its rows."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise Wrong(f"the download is no CSV: {error}") from error
    if not rows:
        raise Wrong("the download is empty")
    return rows[0], rows[1:]
