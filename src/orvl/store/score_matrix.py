"""The table S of each stored run: packed when it was scored, else put together from its single scores."""

from __future__ import annotations

import struct
from collections import defaultdict
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

from orvl.store.rows import ScoreTables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from orvl.store.protocol import Store
    from orvl.types import Layout, Score

Values = dict[tuple[str, str], list[float]]


def pack(layout: Layout, scores: Iterable[Score]) -> bytes:
    """S of one run: judges × metrics, samples averaged, NaN where nobody answered."""
    values: Values = defaultdict(list)
    for score in scores:
        if score.value is not None:
            values[score.metric_key, score.judge_key].append(score.value)
    means = _means(layout, values)
    return struct.pack(f"<{len(means)}d", *means)


def places(layout: Layout) -> Iterator[tuple[str, str]]:
    """The (metric, judge) keys of S, row by row; a metric without a judge counts the same for every judge."""
    for _, judge_key in layout.judges:
        for (_, key), judged in zip(layout.metrics, layout.judged, strict=True):
            yield key, judge_key if judged else ""


def _means(layout: Layout, values: Values) -> list[float]:
    samples = [values.get(place) for place in places(layout)]
    return [sum(some) / len(some) if some else nan for some in samples]


def score_tables(
    store: Store, layout: Layout, carried_out: Mapping[int, int], only: Collection[int] | None = None
) -> ScoreTables:
    """S of the attempts of these cells (cell: how many were carried out), or of `only` some of them."""
    import numpy as np

    tables = store.score_tables(layout, carried_out.keys())
    if only is not None:
        kept = np.isin(tables.attempts, np.fromiter(only, dtype=np.int64, count=len(only)))
        tables = replace(tables, attempts=tables.attempts[kept], cells=tables.cells[kept], S=tables.S[kept])
    have = np.bincount(tables.cells, minlength=max(carried_out, default=0) + 1)
    lacking = [cell for cell, number in carried_out.items() if have[cell] < number]
    return _with_lacking(store, layout, tables, lacking, only) if lacking else tables


def _with_lacking(
    store: Store, layout: Layout, tables: ScoreTables, cells: Sequence[int], only: Collection[int] | None
) -> ScoreTables:
    """Adds runs that were scored bit by bit, under other layouts."""
    import numpy as np

    packed = set(tables.attempts.tolist())
    wanted = set(places(layout))
    attempts, of_cells, S, incomplete = [], [], [], []
    for cell in cells:
        for attempt, values in _values(store, cell).items():
            if attempt in packed or (only is not None and attempt not in only):
                continue
            attempts.append(attempt)
            of_cells.append(cell)
            S.append(_means(layout, values))
            if not wanted <= values.keys():
                incomplete.append(attempt)
    return ScoreTables(
        np.concatenate([tables.attempts, np.array(attempts, dtype=np.int64)]),
        np.concatenate([tables.cells, np.array(of_cells, dtype=np.int64)]),
        np.concatenate([tables.S, np.array(S, dtype=np.float64).reshape(len(S), *layout.shape)]),
        frozenset(incomplete),
    )


def _values(store: Store, cell: int) -> dict[int, Values]:
    """The samples of each attempt, by their place in S."""
    by_attempt: dict[int, Values] = defaultdict(dict)
    for score in store.score_values(cell):
        samples = by_attempt[score.attempt].setdefault((score.metric_key, score.judge_key), [])
        samples += [] if score.value is None else [score.value]
    return by_attempt
