"""Items of checklists, as a metric's file or an eval writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orvl.types import ChecklistItem, EvalItems

FORM = "sentences, each alone or as {item: …, weight: 2, good: no}"


def read_item(item: Any) -> ChecklistItem | None:
    """A sentence, `(sentence, weight)`, or `{"item": sentence, "weight": 2, "good": "no"}`; None for anything else."""
    if isinstance(item, ChecklistItem):
        return item
    if isinstance(item, str):
        item = {"item": item}
    elif isinstance(item, list | tuple) and len(item) == 2:
        item = {"item": item[0], "weight": item[1]}
    if not isinstance(item, Mapping) or not item.keys() <= {"item", "weight", "good"}:
        return None
    text, weight, good = item.get("item"), item.get("weight", 1.0), item.get("good", "yes")
    # YAML reads a bare yes or no as true or false.
    good = {True: "yes", False: "no"}.get(good, good) if isinstance(good, bool) else good
    if not isinstance(text, str) or not text.strip() or good not in ("yes", "no"):
        return None
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
        return None
    return ChecklistItem(text, float(weight), "no" if good == "no" else "yes")


def read_items(items: Any) -> tuple[ChecklistItem, ...] | None:
    """All items of a list; None where it is none, or one of them is none."""
    read = [read_item(item) for item in items] if isinstance(items, list | tuple) else [None]
    known = tuple(item for item in read if item is not None)
    return known if len(known) == len(read) else None


def eval_items(written: Any) -> EvalItems | None:
    """What an eval brings for a metric: a list, or `{add: […]}`, beside the metric's own; `{replace: […]}` instead."""
    replace = False
    if isinstance(written, Mapping):
        if len(written) != 1 or not written.keys() <= {"add", "replace"}:
            return None
        ((how, written),) = written.items()
        replace = how == "replace"
    known = read_items(written)
    return EvalItems(known, replace) if known else None
