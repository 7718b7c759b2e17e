"""What the judges said about one run, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.terminal import Cell, TextColumn, TextTable
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orvl.report.terminal import Terminal
    from orvl.types import Score

SHORT = {"yes": "yes", "no": "no", "cannot-tell": "?"}
STYLES = {"yes": "green", "no": "red", "cannot-tell": "dim"}


def print_verdicts(terminal: Terminal, scores: Sequence[Score]) -> None:
    """The newest sample of each judge on each judged metric: items down, judges across, then their reasons."""
    newest = {(score.metric, score.judge): score for score in scores if score.judge}
    for metric in dict.fromkeys(metric for metric, _ in newest):
        said = [score for (name, _), score in newest.items() if name == metric]
        terminal.print(_table(metric, said))
        for score in said:
            for line in _reasons(score):
                terminal.print(f"    {plain(line)}", "dim")


def _table(metric: str, scores: Sequence[Score]) -> TextTable:
    samples = [f" #{score.sample}" if score.sample > 1 else "" for score in scores]
    judges = [TextColumn(plain(score.judge) + sample) for score, sample in zip(scores, samples, strict=True)]
    rows: list[list[str | Cell]] = []
    for number, item in enumerate(_items(scores), 1):
        answers = [_answer(score, number) for score in scores]
        cells = [Cell(SHORT.get(answer, "–"), STYLES.get(answer, "")) for answer in answers]
        rows.append([f"{number}. {plain(item)}", *cells])
    rows.append([Cell("score", "bold"), *(Cell(_value(score), "bold") for score in scores)])
    return TextTable([TextColumn(metric, words=True), *judges], rows)


def _items(said: Iterable[Score]) -> list[str]:
    """The sentences of the checklist, as far as a judge's answer has them."""
    texts = [[_sentence(one) for one in _answers(score)] for score in said]
    counts = [sum(len(told.get("answers", ())) for told in _asked(score)) for score in said]
    longest = max(texts, key=len, default=[])
    return longest or [f"item {number}" for number in range(1, max(counts, default=0) + 1)]


def _sentence(item: dict[str, Any]) -> str:
    weight = f" (weight {item['weight']:g})" if "weight" in item else ""
    return f"{item.get('item', '')}{weight}"


def _asked(score: Score) -> list[dict[str, Any]]:
    """What was said, each time that the judge was asked."""
    detail = dict(score.detail or {})
    return [dict(told) for told in detail["asked"]] if "asked" in detail else [detail]


def _answers(score: Score) -> list[dict[str, Any]]:
    return [item for told in _asked(score) for item in told.get("items", ())]


def _answer(score: Score, number: int) -> str:
    plain_answers = [answer for told in _asked(score) for answer in told.get("answers", ())]
    answers = [item["verdict"] for item in _answers(score)] or plain_answers
    return answers[number - 1] if number <= len(answers) else ""


def _value(score: Score) -> str:
    return f"{score.value:.3f}" if score.value is not None else score.kind


def _reasons(score: Score) -> Iterator[str]:
    """Where each answer points and why, what it said about the whole, what that took, and what was wrong."""
    told, name = dict(score.detail or {}), score.judge
    if score.value is None and score.reason:
        yield f"{name}: {score.reason}"
    if told.get("alarm"):
        yield f"{name}: injection alarm: {told['alarm']}"
    for number, item in enumerate(_answers(score), 1):
        unfounded = f"; {item['unfounded']}" if item.get("unfounded") else ""
        pointer = f" {item['pointer']}" if item.get("pointer") else ""
        yield f"{name} {number} {item['verdict']}:{pointer} {item.get('why', '')}{unfounded}".rstrip(": ")
    for one in _asked(score):
        if one.get("rationale"):
            yield f"{name}: {one['rationale']}"
    if left_out := _asked(score)[0].get("left_out"):
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        yield f"{name} was not shown: {', '.join(left_out[:3])}{more}"
    if "calls" in told:
        known = told.get("input_tokens") is not None
        tokens = f"{told['input_tokens']} tokens in, {told.get('output_tokens')} out" if known else "tokens unknown"
        cost = "cost unknown" if told.get("cost_usd") is None else dollars(told["cost_usd"])
        yield f"{name}: {count(told['calls'], 'call')}, {tokens}, {cost}, {seconds(told.get('seconds') or 0.0)}"
