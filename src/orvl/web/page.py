"""What a page is asked for, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from math import isfinite, nan
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from orvl.errors import UserError
from orvl.plan.selection import ORDER, Selection
from orvl.project.names import did_you_mean
from orvl.web.boards import Boards
from orvl.web.label_queue import LabelQueues

if TYPE_CHECKING:
    from orvl.project import Project
    from orvl.store import Store
    from orvl.web.guard import Access
    from orvl.web.html import Child


class Links:
    """Addresses of the viewer's pages; None where there is no such page."""

    def to(self, path: str, words: Mapping[str, str] | None = None) -> str | None:
        kept = {name: word for name, word in (words or {}).items() if word}
        return f"{path}?{urlencode(kept, errors='replace')}" if kept else path

    def runs(self, **words: str) -> str | None:
        return self.to("/runs", {name: as_word(word) for name, word in words.items()})

    def eval(self, name: str) -> str | None:
        """A name that ends as a form of a page does gets the ending of a page."""
        ending = ".html" if name.endswith((".json", ".csv", ".md", ".svg", ".html")) else ""
        return self.to(f"/eval/{quote(name, safe='', errors='replace')}{ending}")

    def run(self, key: str, part: str = "", words: Mapping[str, str] | None = None) -> str | None:
        return self.to(f"/run/{key}" + (f"/{part}" if part else ""), words)

    def raw(self, key: str, what: str, number: int | str = "", words: Mapping[str, str] | None = None) -> str | None:
        """The bytes of something, as a text to save or a picture to show."""
        return self.to(f"/run/{key}/raw/{what}" + (f"/{number}" if number != "" else ""), words)


def as_word(word: str) -> str:
    """A word that stands for this name alone: signs of globs and commas in it would mean others too."""
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in word).replace(",", "?")


@dataclass(frozen=True)
class PageRequest:
    """A request: what there is to read, the words of the address, and the part of the path that names something."""

    project: Project
    store: Store
    words: Mapping[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    links: Links = field(default_factory=Links)
    boards: Boards = field(default_factory=Boards)
    version: Hashable | None = None
    """Of what the store holds; None where nobody watches it, and nothing may be kept."""
    store_url: str = ""
    label_queues: LabelQueues = field(default_factory=LabelQueues)
    for_others: bool = False
    """Whether what is shown may leave this machine: then private evals are named, and no more."""

    def only(self, *known: str) -> None:
        """A word that means nothing would look as if it had been heeded."""
        for name in self.words:
            if name not in known:
                raise UserError(f"This page has no word '{name}'. {did_you_mean(name, known)}")

    @property
    def selection(self) -> Selection:
        return Selection(**{place: self.words.get(place) or "all" for place in ORDER})

    @property
    def judges(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.words.get("judge", "").split(",") if part.strip())

    def number(self, name: str) -> float | None:
        """A word that is a number; None where it was left out."""
        if not (word := self.words.get(name)):
            return None
        try:
            number = float(word)
        except ValueError:
            number = nan
        if not isfinite(number):
            raise UserError(f"{name}={word} is not a number.")
        return number

    def place(self, name: str) -> int | None:
        """A word that counts from 1; None where it was left out."""
        number = self.number(name)
        if number is not None and (number < 1 or number != int(number)):
            raise UserError(f"There is no {name} {number:g}. The first is 1.")
        return None if number is None else int(number)

    @property
    def attempt(self) -> int | None:
        """The attempt of a run that is asked for; None for all."""
        return self.place("attempt")


Twin = Callable[[], str]


@dataclass(frozen=True)
class Page:
    """A page, and the same as data: by the ending of the address, such as json."""

    title: str
    body: Callable[[], Child]
    command: tuple[str, ...] = ()
    """The command that prints the same."""
    twins: Mapping[str, Twin] = field(default_factory=dict)
    refresh: int | None = None
    """Seconds after which a browser asks again."""
    access: Access = "reading"
    """What a browser may do on it beside reading."""


@dataclass(frozen=True)
class Raw:
    """Bytes that an agent made: a picture, or text."""

    data: bytes
    file_name: str = "orvl.txt"


SelectionWords = (*ORDER, "judge")


def flags(words: Mapping[str, str], *names: str) -> list[str]:
    """Words of an address as flags of a command."""
    return [f"--{name}={word}" for name in names if (word := words.get(name))]
