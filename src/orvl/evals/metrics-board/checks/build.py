"""The command that makes the page, on exports that nobody has seen before."""

from orvl import checks

from cases import Wrong
from page import MOST, Page, table_of
from runs import run_all

TOKEN = "".join(checks.random().choices("bcdfghklmnprstvz", k=7))
_made = []
_waiting = []


class Built:
    """One call of the command. It is made together with those that wait for theirs when the first of them is looked at."""

    def __init__(self, files, week, options=()):
        _made.append(self)
        _waiting.append(self)
        self.folder = f"{TOKEN}/{len(_made)}"
        self.data, self.out = f"{self.folder}/data", f"{self.folder}/out"
        self.words = ("node", "build.js", "--data", self.data, "--out", self.out, "--week", week, *options)
        self._ended = self._page = None
        write_all(self.data, files)

    @property
    def ended(self):
        if self._ended is None:
            for one, ended in zip(_waiting, run_all(f"{self.folder}/said", [one.words for one in _waiting])):
                one._ended = ended
            _waiting.clear()
        return self._ended

    @property
    def page(self):
        if self.ended.status != 0:
            raise Wrong(f"build.js ended with {self.ended.status}: {' '.join(self.ended.said.split())[-200:]}")
        if self._page is None:
            self._page = Page(self.text("index.html"))
        return self._page

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


def write_all(folder, files):
    for name, content in files.items():
        checks.write(f"{folder}/{name}", content)


def built(story, *options):
    return Built(story.shop.files(), story.shop.week, options)
