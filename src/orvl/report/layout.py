"""Where a table's columns go: side by side where there is room, else in several tables below one another.

No text is ever cut. A column of words is folded over lines down to a width at which it can still be read; columns that
then find no room are put below, and every table repeats what tells its rows apart: their names, or their numbers where
the names are too long to be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GAP = 2
LEAST_WORDS = 16
"""Places below which a column of words is not folded, as long as columns can be put below."""
LEAST_HEADING = 12
"""The same for the heading of a column of numbers; the numbers themselves are not folded."""
NARROWEST = 2
"""A sign of East Asia takes two places."""


class Placed(NamedTuple):
    """What decides on a column's place."""

    heading: int
    """How wide its heading is."""
    cells: int
    """How wide its widest cell is."""
    words: bool
    key: bool
    """Whether it tells rows apart."""
    below: bool = False
    """Whether it gives way to others."""

    @property
    def natural(self) -> int:
        return max(self.heading, self.cells)

    def least(self, room: int) -> int:
        """How narrow it may become beside others: words fold over some three lines."""
        if not self.words:
            return max(self.cells, min(self.heading, LEAST_HEADING))
        return min(self.natural, max(min(LEAST_WORDS, room // 3), min(self.natural, room) // 3))


class Block(NamedTuple):
    """Columns that stand side by side, by their numbers, and how wide each of them is."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]
    is_numbered: bool = False
    """Whether the rows' numbers stand before them."""


def blocks(columns: Sequence[Placed], room: int, number_width: int) -> list[Block]:
    """One where everything fits, else as many as it takes; `number_width` is that of a row's number."""
    everything = tuple(range(len(columns)))
    if len(columns) < 2 or _width([column.least(room) for column in columns]) <= room:
        return [Block(everything, _widths(columns, room))]
    keys = tuple(place for place in everything if columns[place].key) or everything[:1]
    before = 0
    if _width([columns[place].natural for place in keys]) > room // 2:
        keys = ()
        before = number_width + GAP if number_width + GAP + NARROWEST <= room else 0
    return [
        Block(places, _widths([columns[place] for place in places], room - before), is_numbered=before > 0)
        for places in _grouped(columns, keys, room - before)
    ]


def _grouped(columns: Sequence[Placed], keys: tuple[int, ...], room: int) -> Iterator[tuple[int, ...]]:
    """As many columns after the keys as there is room for, at least one, those that give way last."""
    others = [place for place in range(len(columns)) if place not in keys]
    others.sort(key=lambda place: columns[place].below)
    block = keys
    for place in others:
        longer = (*block, place)
        if len(block) > len(keys) and _width([columns[one].least(room) for one in longer]) > room:
            yield _in_order(columns, block)
            longer = (*keys, place)
        block = longer
    yield _in_order(columns, block)


def _in_order(columns: Sequence[Placed], places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(places, key=lambda place: (columns[place].below, place)))


def _width(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widths(columns: Sequence[Placed], room: int) -> tuple[int, ...]:
    """Where there is too little room, the widest column gives way, each down to its least, and then below that."""
    widths = [column.natural for column in columns]
    for floor in ([column.least(room) for column in columns], [NARROWEST] * len(columns)):
        while (excess := _width(widths) - room) > 0:
            narrowable = [place for place, width in enumerate(widths) if width > floor[place]]
            if not narrowable:
                break
            widest = sorted(narrowable, key=lambda place: widths[place])[-2:]
            place = widest[-1]
            # At once down to the second widest, so that a text of a million signs takes no million steps.
            next_width = widths[widest[0]] - 1 if len(widest) > 1 else 0
            widths[place] = max(floor[place], widths[place] - excess, min(next_width, widths[place] - 1))
    return tuple(widths)
