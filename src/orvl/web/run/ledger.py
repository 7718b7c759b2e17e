"""Where the points of a run went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.plan.weights import FROM
from orvl.web.draw import loss
from orvl.web.show import Heading, sentences, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orvl.rate.ledger import Ledger, Line
    from orvl.report.shown_run import ShownRun
    from orvl.web.html import Child


def history(shown: ShownRun) -> Iterator[str]:
    if shown.changed is not None:
        yield f"This run is history: changed since: {', '.join(shown.changed) or 'its files'}."


def ledger(shown: ShownRun) -> Child:
    """Weights × scores = R, the largest loss first, and each judge's own score beside it."""
    found = shown.ledger
    if found is None:
        return None
    judges = list(dict.fromkeys(judge for line in found.lines for judge in line.judges))
    headings = [Heading("metric", words=True), *map(Heading, ("weight", "× score", "= points", "lost", "", *judges))]
    rows = [(None, _ledger_row(line, judges)) for line in found.lines if line.weight]
    total: list[Child] = ["R", "", "", f"{found.R:.3f}", f"{1 - found.R:.3f}", "", *("" for _ in judges)]
    return [
        table("Where the points went", headings, [*rows, ("bold", total)]),
        sentences(_penalty(found)),
    ]


def _ledger_row(line: Line, judges: Iterable[str]) -> list[Child]:
    score = "–" if line.score is None else f"{line.score:.3f}"
    score += f" ({line.product})" if line.product else ""
    by_judge = (line.judges.get(judge) for judge in judges)
    own = ["–" if value is None else f"{value:.2f}" for value in by_judge]
    return [line.metric, f"{line.share:.3f}", score, f"{line.points:.3f}", f"{line.lost:.3f}", loss(line.lost), *own]


def _penalty(found: Ledger) -> Iterator[str]:
    yield f"R_pen {found.R_pen:.3f} = R minus {found.penalty:g} × the judges' weighted variance."
    if found.weights_from:
        yield f"Weights: {FROM[found.weights_from]}."
    if found.earned:
        yield found.earned
    if found.unrated:
        yield f"Not rated: {', '.join(found.unrated)}; the weights of the others are scaled up."
    if zero := [line.metric for line in found.lines if not line.weight]:
        yield f"Scored, but without a weight: {', '.join(zero)}."
