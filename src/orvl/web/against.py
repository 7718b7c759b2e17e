"""Everybody against one contestant, as differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.rate.against import differences_to
from orvl.report.comparison import difference as difference_text
from orvl.report.comparison import over
from orvl.web.draw import Scale, difference
from orvl.web.html import tag
from orvl.web.show import Heading, link, sentences, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.against import AgainstOne
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.pages.board import RatedRows
    from orvl.web.show import TableRow

LEGEND = (
    "Each pair is decided as `orvl compare` decides it: filled beyond chance, the line is the 95 % interval of the "
    "mean difference by eval, the dotted line is no difference. Overlapping intervals of R are no such test."
)


def against_part(asked: PageRequest, found: RatedRows, one: tuple[str, str, str]) -> list[Child]:
    shown = [pair for pair in differences_to(found.board, one) if pair.found.mean is not None]
    shown.sort(key=lambda pair: -(pair.found.mean or 0.0))
    name = " ".join(one)
    headings = [Heading("contestant", words=True), *map(Heading, ("", "difference of R (95 %)", "is", "over"))]
    rows: list[TableRow] = [(None, _cells(asked, pair, _scale(shown))) for pair in shown]
    body = table(f"Differences to {name}", headings, rows) if rows else tag("p", "Nobody shares an eval with it.")
    return [tag("h2", f"Against {name}"), body, sentences([LEGEND])]


def _scale(pairs: Sequence[AgainstOne]) -> Scale:
    """As far to either side as the farthest end of an interval."""
    ends = [abs(end) for pair in pairs for end in pair.found.interval or (pair.found.mean or 0.0,)]
    farthest = max(ends, default=0.0) or 1.0
    return Scale(-farthest, farthest)


def _cells(asked: PageRequest, pair: AgainstOne, scale: Scale) -> list[Child]:
    agent, model, provider = pair.contestant
    mean, is_shown = pair.found.mean or 0.0, pair.found.significant
    runs = asked.links.runs(agent=agent, model=model, provider=provider)
    return [
        link(" ".join(pair.contestant), runs),
        difference(mean, pair.found.interval, scale, is_shown=is_shown),
        difference_text(pair.found),
        ("better" if mean > 0 else "worse") if is_shown else "not shown",
        over(pair.found),
    ]
