"""Small pictures of numbers, as SVG; they repeat what stands beside them as text, so readers aloud skip them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.web.html import tag

if TYPE_CHECKING:
    from orvl.rate.board import Row
    from orvl.web.html import Html

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


def _svg(parts: list[Html]) -> Html:
    return tag("svg", parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT, aria_hidden="true")
