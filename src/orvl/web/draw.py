"""Pictures of numbers, as SVG: attributes and classes alone, for the policy of pages allows no other style."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil, floor, log10
from typing import TYPE_CHECKING

from orvl.report.text import dollars
from orvl.web.html import join, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.rate.board import Row
    from orvl.rate.frontier import Spot
    from orvl.web.html import Child, Html

WIDTH, HEIGHT = 160, 16
EDGE = 4
MIDDLE = HEIGHT // 2


@dataclass(frozen=True)
class Scale:
    """The values between which a picture's axis goes."""

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def around(cls, values: Iterable[float]) -> Scale:
        """A little more than from the lowest to the highest; the whole where there is nothing between them."""
        known = list(values)
        if not known or min(known) == max(known):
            return cls()
        room = (max(known) - min(known)) / 20
        return cls(min(known) - room, max(known) + room)

    def x(self, value: float) -> str:
        return f"{EDGE + (value - self.low) / (self.high - self.low) * (WIDTH - 2 * EDGE):.1f}"


WHOLE = Scale()
PLACES = 50
"""Of dots: a dot is as wide as two of them."""


def fitted(rows: Iterable[Row]) -> Scale:
    """An axis for these rows alone: small differences can be seen, and look larger than they are."""
    return Scale.around(value for row in rows if row.R is not None for value in (row.R, *(row.interval or ())))


def whisker(row: Row, scale: Scale = WHOLE) -> Html | None:
    """R as a dot, its interval as a line, R_pen as a tick, what doing nothing gets as a dotted line.

    The band below is R when one judge is left out.
    """
    if row.R is None:
        return None
    parts: list[Html | None] = []
    if row.one_judge_less is not None:
        low, high = (float(scale.x(end)) for end in row.one_judge_less)
        parts.append(
            tag("rect", x=f"{low:.1f}", y=HEIGHT - 3, width=f"{max(high - low, 1):.1f}", height=2, class_="band")
        )
    parts += [tag("line", x1=scale.x(scale.low), x2=scale.x(scale.high), y1=MIDDLE, y2=MIDDLE, class_="axis")]
    parts += [_tick(scale, value, kind) for value, kind in ((row.floor, "floor"), (row.R_pen, "pen"))]
    return _svg([*parts, *_dot(scale, row.R, row.interval)])


def difference(mean: float, interval: tuple[float, float] | None, scale: Scale, *, is_shown: bool) -> Html:
    """A difference and its interval; the line in the middle is no difference, and it is filled beyond chance."""
    axis = tag("line", x1=scale.x(scale.low), x2=scale.x(scale.high), y1=MIDDLE, y2=MIDDLE, class_="axis")
    return _svg([axis, _tick(scale, 0.0, "floor"), *_dot(scale, mean, interval, "dot" if is_shown else "hollow")])


def slope(a: float, b: float) -> Html:
    """Two values on 0 to 1, and the way from one to the other: A is the filled one."""
    x, y = WHOLE.x(a), WHOLE.x(b)
    ends = [tag("circle", cx=x, cy=MIDDLE, r=3, class_="a"), tag("circle", cx=y, cy=MIDDLE, r=3, class_="b")]
    axis = tag("line", x1=WHOLE.x(0), x2=WHOLE.x(1), y1=MIDDLE, y2=MIDDLE, class_="axis")
    return _svg([axis, tag("line", x1=x, x2=y, y1=MIDDLE, y2=MIDDLE, class_="whisker"), *ends])


def dots(values: Sequence[float]) -> Html:
    """Each value as a dot on 0 to 1; values at one place are one darker dot: thousands are no larger picture."""
    axis = tag("line", x1=WHOLE.x(0), x2=WHOLE.x(1), y1=MIDDLE, y2=MIDDLE, class_="axis")
    places = Counter(WHOLE.x(round(value * PLACES) / PLACES) for value in values)
    kinds = [(x, "one" if number == 1 else "some") for x, number in places.items()]
    return _svg([axis, *(tag("circle", cx=x, cy=MIDDLE, r=3, class_=kind) for x, kind in kinds)])


def _tick(scale: Scale, value: float | None, kind: str) -> Html | None:
    if value is None or not scale.low <= value <= scale.high:
        return None
    return tag("line", x1=scale.x(value), x2=scale.x(value), y1=1, y2=HEIGHT - 1, class_=kind)


def _dot(scale: Scale, value: float, interval: tuple[float, float] | None, kind: str = "dot") -> list[Html]:
    line = []
    if interval is not None:
        low, high = (scale.x(min(max(end, scale.low), scale.high)) for end in interval)
        line = [tag("line", x1=low, x2=high, y1=MIDDLE, y2=MIDDLE, class_="whisker")]
        line += [tag("line", x1=end, x2=end, y1=MIDDLE - 3, y2=MIDDLE + 3, class_="whisker") for end in (low, high)]
    return [*line, tag("circle", cx=scale.x(value), cy=MIDDLE, r=3, class_=kind)]


def loss(lost: float) -> Html:
    """How much of R was lost, of all that there is."""
    width = f"{min(max(lost, 0.0), 1.0) * (WIDTH - 2 * EDGE):.1f}"
    axis = tag("line", x1=WHOLE.x(0), x2=WHOLE.x(1), y1=HEIGHT - 2, y2=HEIGHT - 2, class_="axis")
    return _svg([axis, tag("rect", x=EDGE, y=4, width=width, height=HEIGHT - 8, class_="lost")])


PLOT_WIDTH, PLOT_HEIGHT = 720, 280
LEFT, RIGHT, TOP, BOTTOM = 40, 700, 16, 240
FREE = 24
"""The strip of those that cost nothing: a logarithm has no place for them."""


def cost_and_quality(spots: Sequence[Spot]) -> Html | None:
    """The plot, and below it the names: beside the spots they would lie over each other."""
    plot = cost_plot(spots)
    return None if plot is None else join(plot, tag("ol", [tag("li", told(spot)) for spot in spots]))


def cost_plot(spots: Sequence[Spot]) -> Html | None:
    """R over the cost of a run, on a logarithmic scale; who is on the frontier is filled. None without a choice."""
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
    return tag(
        "svg",
        parts,
        viewBox=f"0 0 {PLOT_WIDTH} {PLOT_HEIGHT}",
        class_="plot",
        role="img",
        aria_label=f"R over the cost of a run. On the frontier: {', '.join(on)}.",
    )


def told(spot: Spot) -> str:
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


def _svg(parts: Sequence[Html | None]) -> Html:
    return tag("svg", parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT, aria_hidden="true")
