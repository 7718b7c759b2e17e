"""The table S of each stored run: packed when it was scored, else put together from its single scores."""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING

from orvl.store.database import damaged

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from orvl.store import Store
    from orvl.types import Layout, Score

Values = dict[tuple[str, str], list[float]]


@dataclass
class Tables:
    """Attempts, the cells that they belong to, and their S as bytes, side by side."""

    attempts: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    cards: list[bytes] = field(default_factory=list)
    incomplete: set[int] = field(default_factory=set)
    """Attempts that still lack a score of the layout."""


def pack(layout: Layout, scores: Iterable[Score]) -> bytes:
    """S of one run: judges × metrics, samples averaged, NaN where nobody answered."""
    values: Values = defaultdict(list)
    for score in scores:
        if score.value is not None:
            values[score.metric_key, score.judge_key].append(score.value)
    return _pack(layout, values)


def places(layout: Layout) -> Iterator[tuple[str, str]]:
    """The (metric, judge) keys of S, row by row; a metric without a judge counts the same for every judge."""
    for _, judge_key in layout.judges:
        for (_, key), judged in zip(layout.metrics, layout.judged, strict=True):
            yield key, judge_key if judged else ""


def _pack(layout: Layout, values: Values) -> bytes:
    found = [values.get(place) for place in places(layout)]
    return struct.pack(f"<{len(found)}d", *(sum(some) / len(some) if some else nan for some in found))


def tables(store: Store, layout: Layout, carried_out: Mapping[int, int], only: Collection[int] | None = None) -> Tables:
    """S of the attempts of these cells (cell: how many were carried out), or of `only` some of them."""
    found = _packed(store, layout, carried_out, only)
    have = Counter(found.cells)
    lacking = [cell for cell, count in carried_out.items() if have[cell] < count]
    packed = set(found.attempts) if lacking else set()
    for cell in lacking:
        _put_together(found, store, layout, cell, packed, only)
    return found


def _packed(store: Store, layout: Layout, cells: Collection[int], only: Collection[int] | None) -> Tables:
    number = store.layout_id(layout)
    rows = store.cards(number, cells) if number is not None else []
    if only is not None or not {row[1] for row in rows} <= set(cells):
        rows = [row for row in rows if row[1] in cells and (only is None or row[0] in only)]
    if not rows:
        return Tables()
    attempts, of_cells, cards = map(list, zip(*rows, strict=True))
    size = 8 * layout.shape[0] * layout.shape[1]
    if set(map(len, cards)) != {size}:
        raise damaged(store.path, "a table of scores has another size")
    return Tables(attempts, of_cells, cards)


def _put_together(
    found: Tables, store: Store, layout: Layout, cell: int, packed: set[int], only: Collection[int] | None
) -> None:
    """Adds the runs of a cell that were scored bit by bit, under other layouts."""
    by_attempt: dict[int, Values] = defaultdict(dict)
    for attempt, metric_key, judge_key, value in store.score_values(cell):
        if attempt not in packed and (only is None or attempt in only):
            some = by_attempt[attempt].setdefault((metric_key, judge_key), [])
            some += [] if value is None else [value]
    wanted = set(places(layout))
    for attempt, values in by_attempt.items():
        found.attempts.append(attempt)
        found.cells.append(cell)
        found.cards.append(_pack(layout, values))
        if not wanted <= values.keys():
            found.incomplete.add(attempt)
