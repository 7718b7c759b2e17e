"""Reads a judge's answer: a verdict on every item, or a sentence that says what is wrong with it.

The sentences are sent back to the judge: when one changes, raise `WORDING` in project/judges.py.
"""

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

    Problem = Callable[[str, str, bool], str | None]
    """Why a pointer does not support an answer that is, or is not, the one of good work."""

VERDICTS = ("yes", "no", "cannot-tell")
FENCED = re.compile(r"```[a-zA-Z]*[ \t\r]*\n(.*?)```", re.DOTALL)
MAX_QUOTED = 80
MAX_KEPT = 600
MAX_ANALYSIS = 1_200


@dataclass(frozen=True)
class ItemAnswer:
    """The answer to one item."""

    pointer: str
    why: str
    verdict: Answer
    unfounded: str | None = None
    """Why its answer does not count: what it points to does not exist, or does not support it."""


@dataclass(frozen=True)
class ChecklistAnswer:
    """A judge's answers to all items in their order, what it wrote before them, and its rationale."""

    items: tuple[ItemAnswer, ...]
    rationale: str = ""
    analysis: str = ""

    def checked(self, problem: Problem, good: Sequence[str]) -> ChecklistAnswer:
        """A yes or no whose pointer does not resolve becomes cannot-tell."""
        pairs = zip(self.items, good, strict=True)
        return replace(self, items=tuple(_checked(item, problem, best) for item, best in pairs))

    @property
    def unfounded(self) -> list[str]:
        return [f"item {number}: {item.unfounded}" for number, item in enumerate(self.items, 1) if item.unfounded]


def _checked(item: ItemAnswer, problem: Problem, good: str) -> ItemAnswer:
    if item.verdict == "cannot-tell":
        return item
    why = problem(item.pointer, item.verdict, item.verdict == good)
    return replace(item, verdict="cannot-tell", unfounded=why) if why else item


@lru_cache(maxsize=256)
def schema(count: int, pointers: tuple[str, ...] = (), *, may_look: bool = False) -> dict[str, Any]:
    """The JSON schema of an answer to `count` items.

    The analysis comes before the items, and the pointer before the verdict: a model looks before it decides. With
    `pointers`, only these may be given, and lengths are bounded; not every provider takes such a schema, so only the
    local model gets it.
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
        "analysis": {"type": "string", **({"maxLength": 80} if bounded else {})},
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


def requested_tools(answer: ModelAnswer) -> list[str]:
    """The tool calls that a judge makes before it answers."""
    try:
        body = _object(answer.structured)
    except UnusableAnswer:
        return []
    looks = body.get("looks")
    return (
        [look for look in looks if isinstance(look, str)] if isinstance(looks, list) and not body.get("items") else []
    )


def read_answer(answer: ModelAnswer, count: int) -> ChecklistAnswer:
    """The answers to all of `count` items; raises UnusableAnswer for anything else."""
    text = answer.structured
    if answer.refused:
        raise UnusableAnswer(f"it refused: {_short(text) or answer.finish or 'no reason given'}")
    if answer.cut_off:
        raise UnusableAnswer("its answer was cut off: it reached the most tokens that it may say")
    if not text.strip():
        raise UnusableAnswer("its answer is empty")
    body = _object(text)
    items = body.get("items")
    if not isinstance(items, list) or not items:
        raise UnusableAnswer(f"its answer has no items: {_short(text)}")
    rationale, analysis = (str(body.get(name) or "") for name in ("rationale", "analysis"))
    return ChecklistAnswer(tuple(_in_order(items, count)), rationale[:MAX_KEPT], analysis[:MAX_ANALYSIS])


def _object(text: str) -> dict[str, Any]:
    """The one JSON object in a text: bare, fenced, or with some words around it."""
    fenced = FENCED.findall(text)
    inner = text[text.find("{") : text.rfind("}") + 1]
    for candidate in (text, fenced[0] if len(fenced) == 1 else "", inner):
        try:
            body = json.loads(candidate, object_pairs_hook=_without_duplicates)
        except (ValueError, RecursionError):
            continue
        if isinstance(body, dict):
            return body
    if re.match(r"\s*<(!doctype|html|head|body)", text, re.IGNORECASE):
        raise UnusableAnswer("its answer is HTML, not JSON")
    raise UnusableAnswer(f"its answer is not the JSON that was asked for: {_short(text)}")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuses two values for one name, of which JSON silently takes the last."""
    body = dict(pairs)
    if len(body) < len(pairs):
        twice = next(name for name, number in Counter(name for name, _ in pairs).items() if number > 1)
        raise UnusableAnswer(f"its answer has {_short(twice)} twice in one place")
    return body


def _in_order(items: Iterable[Any], count: int) -> list[ItemAnswer]:
    answers: dict[int, ItemAnswer] = {}
    for item in items:
        if not isinstance(item, dict):
            raise UnusableAnswer(f"an item of its answer is {_short(json.dumps(item))}")
        number = _number(item.get("item"))
        if number is None or not 1 <= number <= count:
            raise UnusableAnswer(f"its answer has an item {_short(json.dumps(item.get('item')))}; there are {count}")
        if number in answers:
            raise UnusableAnswer(f"its answer has item {number} twice")
        answers[number] = ItemAnswer(_text(item.get("pointer")), _text(item.get("why")), _verdict(number, item))
    if missing := [str(number) for number in range(1, count + 1) if number not in answers]:
        raise UnusableAnswer(f"its answer lacks item {', '.join(missing[:5])}")
    return [answers[number] for number in range(1, count + 1)]


def _verdict(number: int, item: dict[str, Any]) -> Answer:
    value = item.get("verdict")
    word = re.sub(r"[\s_]+", "-", value.strip().lower()) if isinstance(value, str) else None
    if word not in VERDICTS:
        shown = _short(json.dumps(value, ensure_ascii=False))
        raise UnusableAnswer(f"item {number} has the verdict {shown}; it must be yes, no or cannot-tell")
    return cast("Answer", word)


def _number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\d{1,4}", value.strip()):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return value.strip()[:MAX_KEPT] if isinstance(value, str) else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_QUOTED else line[: MAX_QUOTED - 1] + "…"
