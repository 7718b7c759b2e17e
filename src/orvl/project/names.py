"""Names, and the closest one to an unknown word."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

RESERVED = frozenset(
    [
        "run",
        "init",
        "new",
        "list",
        "doctor",
        "report",
        "show",
        "score",
        "round-trip",
        "compare",
        "endpoints",
        "certify",
        "check",
        "calibrate",
        "view",
        "export",
        "gc",
        "import",
        "install",
        "label",
        "replay",
        "help",
        "version",
        "all",
    ]
)


@dataclass(frozen=True)
class Contestant:
    """`AGENT@VERSION+OVERLAY+OVERLAY`, in its parts."""

    agent: str
    version: str | None = None
    overlays: tuple[str, ...] = ()

    @classmethod
    def of(cls, word: str) -> Contestant:
        before, *overlays = word.split("+")
        agent, at, version = before.partition("@")
        return cls(agent, version if at else None, tuple(overlays))

    def __str__(self) -> str:
        before = self.agent if self.version is None else f"{self.agent}@{self.version}"
        return "+".join((before, *self.overlays))


def name_of(stem: str) -> str:
    """A file's name as the thing's name: `_` is read as `-`."""
    return stem.replace("_", "-")


def closest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably meant."""
    by_lower = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[near[0]] if near else None


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """`Did you mean 'x'?`, or the choices if none is close."""
    known = sorted(set(choices))
    if near := closest(word, known):
        return f"Did you mean '{near}'?"
    if not known:
        return "There are none."
    shown = ", ".join(known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    return f"Known: {shown}."


def unusable(name: str) -> str | None:
    """Why a name could not be given on the command line, or None."""
    if name == "all":
        return "'all' means all of them"
    if any("\ud800" <= sign <= "\udfff" for sign in name):
        return "it is not UTF-8"
    return "a comma separates names there" if "," in name else None


def is_pattern(word: str) -> bool:
    return any(sign in word for sign in "*?[")


def matching(word: str, choices: Iterable[str]) -> list[str]:
    """The names that one word (a name, a glob or `all`) stands for, in the given order."""
    known = list(choices)
    if word == "all":
        return known
    if word in known or not is_pattern(word):
        return [word] if word in known else []
    return [choice for choice in known if fnmatchcase(choice, word)]


def count(number: int, noun: str) -> str:
    """A number of things: 1 run, 2 runs."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def is_number(value: object) -> bool:
    """A finite number that a float can hold; True and False are not numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
