"""What a judge said → an answer to every item, or a sentence that says what is wrong with it."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from orvl.errors import UnusableAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from orvl.gateway.wire.format import ModelAnswer
    from orvl.score.judges import Answer

VERDICTS = ("yes", "no", "cannot-tell")
FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
SHOWN = 80
KEPT = 600


@dataclass(frozen=True)
class ItemAnswer:
    """What was said to one item."""

    pointer: str
    why: str
    verdict: Answer
    unfounded: str | None = None
    """Why a yes does not count: what it points to is not there."""


@dataclass(frozen=True)
class Answered:
    """All items in their order, and what was said about the whole."""

    items: tuple[ItemAnswer, ...]
    rationale: str = ""

    def checked(self, trouble: Callable[[str], str | None]) -> Answered:
        """A yes whose pointer does not resolve becomes cannot-tell."""
        return replace(self, items=tuple(_checked(item, trouble) for item in self.items))

    def doubting(self, places: Sequence[int]) -> Answered:
        """Items that the judge answered otherwise without the work's words cannot be told."""
        why = "it said no where it did not see the work's comments and texts"
        doubted = {place: replace(self.items[place], verdict="cannot-tell", unfounded=why) for place in places}
        return replace(self, items=tuple(doubted.get(place, item) for place, item in enumerate(self.items)))

    @property
    def unfounded(self) -> list[str]:
        return [f"item {number}: {one.unfounded}" for number, one in enumerate(self.items, 1) if one.unfounded]


def _checked(item: ItemAnswer, trouble: Callable[[str], str | None]) -> ItemAnswer:
    why = trouble(item.pointer) if item.verdict == "yes" else None
    return replace(item, verdict="cannot-tell", unfounded=why) if why else item


@lru_cache(maxsize=256)
def schema(count: int, pointers: tuple[str, ...] = (), *, may_look: bool = False) -> dict[str, Any]:
    """What an answer to so many items looks like; the pointer comes before the verdict.

    With `pointers`, only these may be given, and lengths are bounded, which not every provider takes.
    """
    bounded = bool(pointers)
    among: dict[str, Any] = {"enum": list(pointers)} if bounded else {}
    long = {"maxLength": 40} if bounded else {}
    number = {"minimum": 1, "maximum": count} if bounded else {}
    item = {
        "type": "object",
        "properties": {
            "item": {"type": "integer", **number},
            "pointer": {"type": "string", **among},
            "why": {"type": "string", **long},
            "verdict": {"type": "string", "enum": list(VERDICTS)},
        },
        "required": ["item", "pointer", "why", "verdict"],
        "additionalProperties": False,
    }
    many = {"minItems": count, "maxItems": count} if bounded else {}
    properties: dict[str, Any] = {
        **({"looks": {"type": "array", "items": {"type": "string"}}} if may_look else {}),
        "items": {"type": "array", "items": item, **many},
        "rationale": {"type": "string", **long},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def said(answer: ModelAnswer) -> str:
    """The words of an answer: its text, or what it gave to the one tool that it was offered."""
    if answer.text.strip():
        return answer.text
    return next((tool.arguments for tool in answer.tools if tool.arguments.strip()), "")


def looks_in(answer: ModelAnswer) -> list[str]:
    """What a judge wants to look at before it answers."""
    try:
        told = _object(_text_of(answer))
    except UnusableAnswer:
        return []
    looks = told.get("looks")
    return (
        [look for look in looks if isinstance(look, str)] if isinstance(looks, list) and not told.get("items") else []
    )


def _text_of(answer: ModelAnswer) -> str:
    return next((tool.arguments for tool in answer.tools if tool.name == "answer"), "") or said(answer)


def read(answer: ModelAnswer, count: int) -> Answered:
    """An answer to each of `count` items; anything else is unusable."""
    text = _text_of(answer)
    if answer.refused:
        raise UnusableAnswer(f"it refused: {_short(text) or answer.finish or 'no reason given'}")
    if answer.cut_off:
        raise UnusableAnswer("its answer was cut off: it reached the most tokens that it may say")
    if not text.strip():
        raise UnusableAnswer("its answer is empty")
    told = _object(text)
    items = told.get("items")
    if not isinstance(items, list) or not items:
        raise UnusableAnswer(f"its answer has no items: {_short(text)}")
    return Answered(tuple(_in_order(items, count)), str(told.get("rationale") or "")[:KEPT])


def _object(text: str) -> dict[str, Any]:
    """The one JSON object in a text: bare, fenced, or with some words around it."""
    fenced = FENCED.findall(text)
    inner = text[text.find("{") : text.rfind("}") + 1]
    for candidate in (text, fenced[0] if len(fenced) == 1 else "", inner):
        try:
            told = json.loads(candidate, object_pairs_hook=_without_twins)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict):
            return told
    if re.match(r"\s*<(!doctype|html|head|body)", text, re.IGNORECASE):
        raise UnusableAnswer("its answer is HTML, not JSON")
    raise UnusableAnswer(f"its answer is not the JSON that was asked for: {_short(text)}")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON lets the last of two equal names win in silence."""
    told = dict(pairs)
    if len(told) < len(pairs):
        twice = next(name for name, number in Counter(name for name, _ in pairs).items() if number > 1)
        raise UnusableAnswer(f"its answer has {_short(twice)} twice in one place")
    return told


def _in_order(items: Iterable[Any], count: int) -> list[ItemAnswer]:
    found: dict[int, ItemAnswer] = {}
    for one in items:
        if not isinstance(one, dict):
            raise UnusableAnswer(f"an item of its answer is {_short(json.dumps(one))}")
        number = _number(one.get("item"))
        if number is None or not 1 <= number <= count:
            raise UnusableAnswer(f"its answer has an item {_short(json.dumps(one.get('item')))}; there are {count}")
        if number in found:
            raise UnusableAnswer(f"its answer has item {number} twice")
        found[number] = ItemAnswer(_text(one.get("pointer")), _text(one.get("why")), _verdict(number, one))
    if missing := [str(number) for number in range(1, count + 1) if number not in found]:
        raise UnusableAnswer(f"its answer lacks item {', '.join(missing[:5])}")
    return [found[number] for number in range(1, count + 1)]


def _verdict(number: int, item: dict[str, Any]) -> Answer:
    told = item.get("verdict")
    word = re.sub(r"[\s_]+", "-", told.strip().lower()) if isinstance(told, str) else None
    if word not in VERDICTS:
        shown = _short(json.dumps(told, ensure_ascii=False))
        raise UnusableAnswer(f"item {number} has the verdict {shown}; it must be yes, no or cannot-tell")
    return cast("Answer", word)


def _number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,4}", value.strip()):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return value.strip()[:KEPT] if isinstance(value, str) else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1] + "…"
