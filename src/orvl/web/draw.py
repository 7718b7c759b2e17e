"""Pictures of numbers, as SVG: attributes and classes alone, for the policy of pages allows no other style."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING

from orvl.report.text import dollars
from orvl.web.html import join, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.board import Row
    from orvl.rate.frontier import Spot
    from orvl.web.html import Child, Html

WIDTH, HEIGHT = 160, 16
EDGE = 4


def _x(value: float) -> str:
    return f"{EDGE + value * (WIDTH - 2 * EDGE):.1f}"


def whisker(row: Row) -> Html | None:
    """R as a dot on 0 to 1, its interval as a line, R_pen as a tick, what doing nothing gets as a dotted line."""
    if row.R is None:
        return None
    middle = HEIGHT // 2
    parts = [tag("line", x1=_x(0), x2=_x(1), y1=middle, y2=middle, class_="axis")]
    if row.floor is not None:
        parts.append(tag("line", x1=_x(row.floor), x2=_x(row.floor), y1=0, y2=HEIGHT, class_="floor"))
    if row.interval is not None:
        low, high = map(_x, row.interval)
        parts.append(tag("line", x1=low, x2=high, y1=middle, y2=middle, class_="whisker"))
        parts += [tag("line", x1=end, x2=end, y1=middle - 3, y2=middle + 3, class_="whisker") for end in (low, high)]
    if row.R_pen is not None:
        parts.append(tag("line", x1=_x(row.R_pen), x2=_x(row.R_pen), y1=1, y2=HEIGHT - 1, class_="pen"))
    parts.append(tag("circle", cx=_x(row.R), cy=middle, r=3, class_="dot"))
    return _svg(parts)


def loss(lost: float) -> Html:
    """How much of R was lost, of all that there is."""
    width = f"{min(max(lost, 0.0), 1.0) * (WIDTH - 2 * EDGE):.1f}"
    axis = tag("line", x1=_x(0), x2=_x(1), y1=HEIGHT - 2, y2=HEIGHT - 2, class_="axis")
    return _svg([axis, tag("rect", x=EDGE, y=4, width=width, height=HEIGHT - 8, class_="lost")])


PLOT_WIDTH, PLOT_HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 40, 700, 16, 240
FREE = 24
"""The strip of those that cost nothing: a logarithm has no place for them."""


def cost_and_quality(spots: Sequence[Spot]) -> Html | None:
    """R over the cost of a run, on a logarithmic scale; who is on the frontier is filled. None without a choice.

    Names that stand beside spots would lie over each other: spots have numbers, and the names are a list below.
    """
    if len(spots) < 2 or not any(spot.cost for spot in spots):
        return None
    priced = [log10(spot.cost) for spot in spots if spot.cost > 0]
    low, high = floor(min(priced)), max(ceil(max(priced)), floor(min(priced)) + 1)

    def x(cost: float) -> float:
        start = LEFT + 4 * FREE
        return LEFT + FREE if cost <= 0 else start + (log10(cost) - low) / (high - low) * (RIGHT - start)

    decades = [10.0**power for power in range(low, high + 1)]
    ticks = [(x(cost), f"${cost:g}") for cost in decades]
    if any(spot.cost <= 0 for spot in spots):
        ticks.append((x(0), "free"))
    parts: list[Child] = [
        [_level(value) for value in (0, 0.5, 1)],
        [tag("text", text, x=f"{at:.1f}", y=BOTTOM + 20, text_anchor="middle") for at, text in ticks],
        tag("text", "cost of a run", x=RIGHT, y=BOTTOM + 36, text_anchor="end"),
        [_spot(number, spot, x(spot.cost)) for number, spot in enumerate(spots, 1)],
    ]
    on = [" ".join(spot.contestant) for spot in spots if spot.dominated_by is None]
    plot = tag(
        "svg",
        parts,
        viewBox=f"0 0 {PLOT_WIDTH} {PLOT_HEIGHT}",
        class_="plot",
        role="img",
        aria_label=f"R over the cost of a run. On the frontier: {', '.join(on)}.",
    )
    return join(plot, tag("ol", [tag("li", _told(spot)) for spot in spots]))


def _told(spot: Spot) -> str:
    by = f"; no better than {' '.join(spot.dominated_by)}, which costs no more" if spot.dominated_by else ""
    return f"{' '.join(spot.contestant)}: {dollars(spot.cost)} a run, R {spot.R:.3f}{by}"


def _y(R: float) -> float:
    return BOTTOM - R * (BOTTOM - TOP)


def _level(R: float) -> Child:
    y = f"{_y(R):.1f}"
    return [
        tag("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="axis"),
        tag("text", f"{R:g}", x=LEFT - 8, y=y, text_anchor="end"),
    ]


def _spot(number: int, spot: Spot, x: float) -> Child:
    y, kind = _y(spot.R), "dot" if spot.dominated_by is None else "hollow"
    return [
        tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=4, class_=kind),
        tag("text", str(number), x=f"{x + 7:.1f}", y=f"{y - 4:.1f}"),
    ]


def _svg(parts: list[Html]) -> Html:
    return tag("svg", parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT, aria_hidden="true")
