"""How often judges said yes to each item of a checklist, by contestant."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.rate.collect import Board
    from orvl.rate.numbers import Contestant
    from orvl.store import Store
    from orvl.store.rows import StoredVerdict

MOST = 2_000
"""Verdicts that are read, the newest: their texts are long."""


@dataclass(frozen=True)
class ItemShares:
    """Of items of one eval's checklists: by metric and number, and by contestant, who was said to fulfil it how often.

    An answer that could not be told counts for nothing.
    """

    items: Mapping[tuple[str, int], str]
    contestants: tuple[Contestant, ...]
    told: Mapping[tuple[tuple[str, int], Contestant], tuple[int, int]]
    """Good answers, and all that were told."""
    verdicts: int

    def share(self, item: tuple[str, int], contestant: Contestant) -> float | None:
        good, told = self.told.get((item, contestant), (0, 0))
        return good / told if told else None


def item_shares(store: Store, board: Board, eval_: str) -> ItemShares:
    """Of the checklists and judges that rate now."""
    gathered = board.gathered
    refs = [ref for ref in gathered.refs if ref.names[3] == eval_ and ref.id in gathered.stacks and not ref.imported]
    whose = {
        number: (ref.names[0], ref.names[1], ref.names[2])
        for ref in refs
        for number in gathered.stacks[ref.id or 0].attempts.tolist()
    }
    panel = gathered.panels.get(eval_)
    layout = gathered.scorings[eval_].layout if panel else None
    keys = {key for _, key in layout.metrics} if layout else set()
    judges = {key for _, key in layout.judges} if layout else set()
    newest: dict[tuple[int, str, str], StoredVerdict] = {}
    for one in store.newest_verdicts(sorted(whose)[-MOST:], MOST):
        if one.metric_key in keys and one.judge_key in judges:
            newest.setdefault((one.attempt, one.metric_key, one.judge_key), one)
    metrics = panel.metrics if panel else ()
    texts = {(metric.name, number): text for metric in metrics for number, (text, _) in enumerate(metric.items)}
    told: defaultdict[tuple[tuple[str, int], Contestant], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for one in newest.values():
        for number, is_good in _answers(one.detail):
            place = (one.metric, number), whose[one.attempt]
            good, number_told = told[place]
            told[place] = good + is_good, number_told + 1
    asked = {one.metric for one in newest.values() if _has_answers(one.detail)}
    known = {item for item, _ in told} | {item for item in texts if item[0] in asked}
    items = {item: texts.get(item, f"item {item[1] + 1}") for item in sorted(known)}
    return ItemShares(items, tuple(sorted(set(whose.values()))), dict(told), len(newest))


def _has_answers(detail: Mapping[str, Any]) -> bool:
    return any(asked.get("answers") for asked in detail.get("asked", [detail]))


def _answers(detail: Mapping[str, Any]) -> Iterator[tuple[int, bool]]:
    """Of each item that was told, its number and whether the answer was good; checklists are numbered through."""
    number = 0
    for asked in detail.get("asked", [detail]):
        answers = asked.get("answers", ())
        for answer, good in zip(answers, asked.get("good") or ["yes"] * len(answers), strict=False):
            if answer != "cannot-tell":
                yield number, answer == good
            number += 1
