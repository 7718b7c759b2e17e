"""What judges answered about a run: items down, judges across, then their reasons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.terminal import TextCell, TextColumn, TextTable
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orvl.report.terminal import Terminal
    from orvl.types import Score

SHORT = {"yes": "yes", "no": "no", "cannot-tell": "?"}
STYLES = {"yes": "green", "no": "red", "cannot-tell": "dim"}


@dataclass(frozen=True)
class MetricVerdicts:
    """The newest sample of each judge on one metric."""

    metric: str
    scores: tuple[Score, ...]

    @property
    def judges(self) -> list[str]:
        return [f"{score.judge} #{score.sample}" if score.sample > 1 else score.judge for score in self.scores]

    @property
    def items(self) -> list[str]:
        """The sentences of the checklist, as far as a judge's answer has them."""
        texts = [[_sentence(item) for item in answers_of(score)] for score in self.scores]
        counts = [sum(len(answer.get("answers", ())) for answer in questions_of(score)) for score in self.scores]
        longest = max(texts, key=len, default=[])
        return longest or [f"item {number}" for number in range(1, max(counts, default=0) + 1)]


def by_metric(scores: Iterable[Score]) -> list[MetricVerdicts]:
    newest = {(score.metric, score.judge): score for score in scores if score.judge}
    metrics = dict.fromkeys(metric for metric, _ in newest)
    return [
        MetricVerdicts(metric, tuple(score for (name, _), score in newest.items() if name == metric))
        for metric in metrics
    ]


def print_verdicts(terminal: Terminal, scores: Sequence[Score]) -> None:
    for verdicts in by_metric(scores):
        terminal.print(_table(verdicts))
        for score in verdicts.scores:
            for line in (*troubles(score), *_item_reasons(score), *other_reasons(score)):
                terminal.print(f"    {plain(line)}", "dim")


def _table(verdicts: MetricVerdicts) -> TextTable:
    judges = [TextColumn(plain(name)) for name in verdicts.judges]
    rows: list[list[str | TextCell]] = []
    for number, item in enumerate(verdicts.items, 1):
        answers = [answer_of(score, number) for score in verdicts.scores]
        cells = [TextCell(SHORT.get(answer, "–"), STYLES.get(answer, "")) for answer in answers]
        rows.append([f"{number}. {plain(item)}", *cells])
    rows.append([TextCell("score", "bold"), *(TextCell(value_of(score), "bold") for score in verdicts.scores)])
    return TextTable([TextColumn(verdicts.metric, words=True), *judges], rows)


def _sentence(item: dict[str, Any]) -> str:
    weight = f" (weight {item['weight']:g})" if "weight" in item else ""
    good = " (good: no)" if item.get("good") == "no" else ""
    return f"{item.get('item', '')}{weight}{good}"


def questions_of(score: Score) -> list[dict[str, Any]]:
    """A judge's answers: one, or as many as the metric asked for."""
    detail = dict(score.detail or {})
    return [dict(answer) for answer in detail["asked"]] if "asked" in detail else [detail]


def answers_of(score: Score) -> list[dict[str, Any]]:
    """Item by item, with what each points to; empty where a judge gave no reasons."""
    return [item for answer in questions_of(score) for item in answer.get("items", ())]


def answer_of(score: Score, number: int) -> str:
    """yes, no or cannot-tell to one item; empty where there is no answer."""
    without_reasons = [item for answer in questions_of(score) for item in answer.get("answers", ())]
    answers = [item["verdict"] for item in answers_of(score)] or without_reasons
    return answers[number - 1] if number <= len(answers) else ""


def value_of(score: Score) -> str:
    return f"{score.value:.3f}" if score.value is not None else score.kind


def _item_reasons(score: Score) -> Iterator[str]:
    """What each answer points to."""
    for number, item in enumerate(answers_of(score), 1):
        unfounded = f"; {item['unfounded']}" if item.get("unfounded") else ""
        pointer = f" {item['pointer']}" if item.get("pointer") else ""
        yield f"{score.judge} {number} {item['verdict']}:{pointer} {item.get('why', '')}{unfounded}".rstrip(": ")


def troubles(score: Score) -> Iterator[str]:
    """Why there is no score, and the alarm."""
    if score.value is None and score.reason:
        yield f"{score.judge}: {score.reason}"
    if alarm := dict(score.detail or {}).get("alarm"):
        yield f"{score.judge}: injection alarm: {alarm}"


def other_reasons(score: Score) -> Iterator[str]:
    """The rationale, what the judge did not see, and what it cost."""
    detail, name = dict(score.detail or {}), score.judge
    for answer in questions_of(score):
        if answer.get("analysis"):
            yield f"{name}, before it answered: {answer['analysis']}"
        if answer.get("rationale"):
            yield f"{name}: {answer['rationale']}"
        if answer.get("told", 1.0) < 1.0:
            yield f"{name} told {answer['told']:.0%} of the items, by weight."
    if left_out := questions_of(score)[0].get("left_out"):
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        yield f"{name} was not shown: {', '.join(left_out[:3])}{more}"
    if "calls" in detail:
        known = detail.get("input_tokens") is not None
        tokens = f"{detail['input_tokens']} tokens in, {detail.get('output_tokens')} out" if known else "tokens unknown"
        cost = "cost unknown" if detail.get("cost_usd") is None else dollars(detail["cost_usd"])
        yield f"{name}: {count(detail['calls'], 'call')}, {tokens}, {cost}, {seconds(detail.get('seconds') or 0.0)}"
