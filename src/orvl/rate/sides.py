"""Who is compared: two words, each for one or more contestants, paired where all else is the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.project.names import did_you_mean, matching

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from orvl.store import StoredCell

PLACES = ("agent", "model", "provider")
Contestant = tuple[str, str, str]


@dataclass(frozen=True)
class Side:
    """One word of a comparison: which names it fixes (None: any), and the agent's version where it names one."""

    word: str
    names: tuple[frozenset[str] | None, frozenset[str] | None, frozenset[str] | None]
    version: str | None = None

    @property
    def free(self) -> tuple[int, ...]:
        """The places that the word leaves open."""
        return tuple(i for i, names in enumerate(self.names) if names is None)

    def has(self, cell: StoredCell) -> bool:
        fits = all(names is None or name in names for name, names in zip(cell.contestant, self.names, strict=True))
        return fits and (self.version is None or is_version(self.version, cell.version))

    def chosen(self, cells: Sequence[StoredCell], current: Collection[int]) -> dict[tuple[Contestant, str], StoredCell]:
        """Of each contestant and eval the identity that counts; where the word names a version, the last of that."""
        fitting = [cell for cell in cells if self.has(cell) and (self.version is not None or cell.id in current)]
        ordered = sorted(fitting, key=lambda cell: (cell.planned, cell.id))
        return {(cell.contestant, cell.eval): cell for cell in ordered}


def side_of(word: str, cells: Sequence[StoredCell]) -> Side:
    """What a word stands for: "AGENT", "AGENT MODEL", "AGENT MODEL PROVIDER", or a model or a provider alone."""
    words = word.split()
    if not words or len(words) > 3:
        raise UserError(
            f"'{word}' is no contestant; write AGENT, or 'AGENT MODEL' or 'AGENT MODEL PROVIDER' in quotes."
        )
    known = [sorted({cell.contestant[i] for cell in cells}) for i in range(3)]
    agent, version = _older(words[0], cells) if not matching(words[0], known[0]) else (None, None)
    if len(words) > 1 or agent:
        rest = [_fitting(part, known[i], PLACES[i]) for i, part in enumerate(words[1:], 1)]
        first = frozenset([agent]) if agent else _fitting(words[0], known[0], PLACES[0])
        return Side(word, _three([first, *rest]), version)
    for i, names in enumerate(known):
        if found := matching(words[0], names):
            return Side(word, _three([frozenset(found) if j == i else None for j in range(3)]))
    every = [name for names in known for name in names]
    raise UserError(f"The store has no agent, model or provider '{word}'. {did_you_mean(words[0], every)}")


def _older(word: str, cells: Sequence[StoredCell]) -> tuple[str | None, str | None]:
    """An agent and its version, where runs of that version are kept under the agent's plain name."""
    agent, at, version = word.rpartition("@")
    told = at and any(agent == cell.contestant[0] and is_version(version, cell.version) for cell in cells)
    return (agent, version) if told and version else (None, None)


def is_version(version: str, told: str) -> bool:
    """Whether an agent that says this of itself has this version: 1.0.1 is not 1.0.10, nor 11.0.1."""
    return re.search(rf"(?<![0-9.]){re.escape(version)}(?![\w.+-])", told) is not None


def _fitting(part: str, names: Sequence[str], place: str) -> frozenset[str] | None:
    if part == "all":
        return None
    found = matching(part, names)
    if not found:
        raise UserError(f"The store has no {place} '{part}'. {did_you_mean(part, names)}")
    return frozenset(found)


def _three(
    names: Sequence[frozenset[str] | None],
) -> tuple[frozenset[str] | None, frozenset[str] | None, frozenset[str] | None]:
    padded = [*names, None, None]
    return padded[0], padded[1], padded[2]


def paired_sides(
    a: Side, b: Side, ours: Sequence[Contestant], theirs: Sequence[Contestant]
) -> list[tuple[list[Contestant], list[Contestant]]]:
    """Contestants of both sides that differ in nothing but what the words name."""
    if not (ours and theirs):
        raise UserError(f"Nothing has been run of {a.word if not ours else b.word} that fits these words.")
    free = [i for i in a.free if i in b.free]
    groups = [_by_rest(ours, free), _by_rest(theirs, free)]
    common = sorted(groups[0].keys() & groups[1].keys())
    if common:
        return [(groups[0][rest], groups[1][rest]) for rest in common]
    if len(ours) == len(theirs) == 1:
        return [(list(ours), list(theirs))]
    raise UserError(
        f"{a.word} and {b.word} have no {' and '.join(PLACES[i] for i in free)} in common. "
        f"Name one of each: orvl compare '{' '.join(ours[0])}' '{' '.join(theirs[0])}'"
    )


def _by_rest(contestants: Sequence[Contestant], free: Sequence[int]) -> dict[tuple[str, ...], list[Contestant]]:
    found: dict[tuple[str, ...], list[Contestant]] = {}
    for contestant in contestants:
        found.setdefault(tuple(contestant[i] for i in free), []).append(contestant)
    return found
