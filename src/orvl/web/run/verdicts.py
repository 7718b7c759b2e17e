"""Judges side by side: what each said to each item, where it looked, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.report.verdicts import SHORT, answer_of, answers_of, by_metric, other_reasons, troubles, value_of
from orvl.web.html import join, tag
from orvl.web.run.pointers import PointerLinks
from orvl.web.show import Heading, fitting, folded, long_text, sentences, short, table

if TYPE_CHECKING:
    from orvl.report.verdicts import MetricVerdicts
    from orvl.types import Score
    from orvl.web.html import Child, Html
    from orvl.web.run.asked import RunAsked
    from orvl.web.show import TableRow

LONGEST_REASON = 1_000
LONGEST_RATIONALE = 8_000


def part(run: RunAsked) -> Child:
    """A table a metric; judges' longer texts are folded below it."""
    metrics = by_metric(run.last.scores)
    if not metrics:
        return None
    pointers = PointerLinks(run)
    shown, more = fitting((_metric(one, pointers) for one in metrics), run.most)
    return [shown, tag("p", f"{more} more metrics: orvl show {run.details.key[:12]}") if more else None]


def _metric(verdicts: MetricVerdicts, pointers: PointerLinks) -> Html:
    headings = [Heading(verdicts.metric, words=True), *(Heading(judge, words=True) for judge in verdicts.judges)]
    rows: list[TableRow] = [
        (None, [f"{number}. {item}", *(_answer(score, number, pointers) for score in verdicts.scores)])
        for number, item in enumerate(verdicts.items, 1)
    ]
    rows.append(("bold", ["score", *(value_of(score) for score in verdicts.scores)]))
    return join(
        table(f"Verdicts on {verdicts.metric}", headings, rows),
        sentences((_reason(line) for score in verdicts.scores for line in troubles(score)), "bad"),
        [_rationale(score, judge) for score, judge in zip(verdicts.scores, verdicts.judges, strict=True)],
    )


def _answer(score: Score, number: int, pointers: PointerLinks) -> Child:
    """The verdict, the place that it points to, and one sentence why."""
    verdict, items = answer_of(score, number), answers_of(score)
    item = items[number - 1] if number <= len(items) else {}
    wanted = item.get("good", "yes")
    kind = {"yes": "good" if wanted == "yes" else "bad", "no": "bad" if wanted == "yes" else "good"}.get(verdict)
    pointer, why, unfounded = (str(item.get(name) or "") for name in ("pointer", "why", "unfounded"))
    return [
        tag("span", SHORT.get(verdict, "–"), class_=kind),
        [" ", tag("span", pointers.shown(pointer), class_="pointer")] if pointer else None,
        tag("span", _reason(why), class_="why") if why else None,
        tag("span", f"Does not count: {_reason(unfounded)}", class_="why") if unfounded else None,
    ]


def _reason(text: str) -> str:
    return text if len(text) <= LONGEST_REASON else f"{text[:LONGEST_REASON]}…"


def _rationale(score: Score, judge: str) -> Child:
    text = "\n".join(other_reasons(score))
    return folded(f"What else {short(judge)} said", long_text(text, most=LONGEST_RATIONALE)) if text else None
