"""The command that makes the page, on exports that nobody has seen before."""

from orvl import checks

from cases import Wrong
from page import MOST, Page, table_of

_token = "".join(checks.random().choices("bcdfghklmnprstvz", k=7))
_made = []
SECONDS = 30


class Built:
    """One call of the command."""

    def __init__(self, files, week, options=()):
        _made.append(self)
        self.data, self.out = f"{_token}/{len(_made)}/data", f"{_token}/{len(_made)}/out"
        self.week = week
        for name, content in files.items():
            checks.write(f"{self.data}/{name}", content)
        self.run("--data", self.data, "--out", self.out, "--week", week, *options)

    def run(self, *words):
        self.ended = checks.run("node", "build.js", *words, seconds=SECONDS)

    @property
    def page(self):
        self.expect_made()
        return Page(self.text("index.html"))

    def expect_made(self):
        if self.ended.status != 0:
            said = " ".join(self.ended.stderr.split())[-200:]
            raise Wrong(f"build.js ended with {self.ended.cut or self.ended.status}: {said}")

    def text(self, name):
        content = checks.read(f"{self.out}/{name}")
        if content is None or len(content) > MOST:
            raise Wrong(f"{name} was not made")
        return content.decode("utf-8-sig", "replace")

    def download(self):
        """Header and rows of the file that the page links to."""
        name = str(checks.drawn()["download"])
        links = [link.split("?")[0].removeprefix("./") for link in self.page.links()]
        if name not in links:
            raise Wrong(f"no link leads to {name}, only {links[:5]}")
        return table_of(self.text(name))


def built(story, *options):
    return Built(story.shop.files(), story.shop.week, options)
