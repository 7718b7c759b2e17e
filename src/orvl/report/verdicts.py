"""What the judges said about one run, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from orvl.report.text import count, dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from orvl.types import Score

SHORT = {"yes": "yes", "no": "no", "cannot-tell": "?"}
STYLES = {"yes": "green", "no": "red", "cannot-tell": "dim"}


def print_verdicts(out: Console, scores: Sequence[Score]) -> None:
    """The newest sample of each judge on each judged metric: items down, judges across, then their reasons."""
    newest = {(score.metric, score.judge): score for score in scores if score.judge}
    for metric in dict.fromkeys(metric for metric, _ in newest):
        said = [score for (name, _), score in newest.items() if name == metric]
        out.print(_table(metric, said))
        for score in said:
            for line in _reasons(score):
                out.print(f"    {plain(line)}", markup=False, style="dim")


def _table(metric: str, said: Sequence[Score]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column(metric, overflow="fold", ratio=1)
    for score in said:
        sample = f" #{score.sample}" if score.sample > 1 else ""
        table.add_column(plain(score.judge) + sample, justify="right", no_wrap=True)
    for number, item in enumerate(_items(said), 1):
        cells = [_answer(score, number) for score in said]
        table.add_row(
            Text(f"{number}. {plain(item)}"), *(Text(SHORT.get(one, "–"), STYLES.get(one, "")) for one in cells)
        )
    table.add_row(Text("score", "bold"), *(Text(_value(score), "bold") for score in said))
    return table


def _items(said: Iterable[Score]) -> list[str]:
    """The sentences of the checklist, as far as a judge's answer has them."""
    texts = [[one.get("item", "") for one in _told(score).get("items", ())] for score in said]
    counts = [len(_told(score).get("answers", ())) for score in said]
    longest = max(texts, key=len, default=[])
    return longest or [f"item {number}" for number in range(1, max(counts, default=0) + 1)]


def _told(score: Score) -> dict[str, Any]:
    detail = dict(score.detail or {})
    return dict(detail["asked"][0]) if "asked" in detail else detail


def _answer(score: Score, number: int) -> str:
    answers = [one["verdict"] for one in _told(score).get("items", ())] or _told(score).get("answers", ())
    return answers[number - 1] if number <= len(answers) else ""


def _value(score: Score) -> str:
    return f"{score.value:.3f}" if score.value is not None else score.kind


def _reasons(score: Score) -> Iterator[str]:
    """Where each answer points and why, what it said about the whole, what that took, and what was wrong."""
    told, name = _told(score), score.judge
    if score.value is None and score.reason:
        yield f"{name}: {score.reason}"
    if told.get("alarm"):
        yield f"{name}: injection alarm: {told['alarm']}"
    for number, item in enumerate(told.get("items", ()), 1):
        unfounded = f"; {item['unfounded']}" if item.get("unfounded") else ""
        pointer = f" {item['pointer']}" if item.get("pointer") else ""
        yield f"{name} {number} {item['verdict']}:{pointer} {item.get('why', '')}{unfounded}".rstrip(": ")
    if told.get("rationale"):
        yield f"{name}: {told['rationale']}"
    if left_out := told.get("left_out"):
        more = f" and {len(left_out) - 3} more" if len(left_out) > 3 else ""
        yield f"{name} was not shown: {', '.join(left_out[:3])}{more}"
    if "calls" in told:
        tokens = (
            "tokens unknown"
            if told.get("input_tokens") is None
            else (f"{told['input_tokens']} tokens in, {told.get('output_tokens')} out")
        )
        cost, spent = dollars(told.get("cost_usd")), seconds(told.get("seconds") or 0.0)
        yield f"{name}: {count(told['calls'], 'call')}, {tokens}, {cost}, {spent}"
