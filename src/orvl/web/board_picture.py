"""The board as a picture of its own: each contestant's R as a dot, its interval as a line."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING

from orvl.report.certificate import standing_sentence
from orvl.report.table import in_order
from orvl.report.text import dollars
from orvl.web.draw import PLOT_HEIGHT, cost_plot, told
from orvl.web.html import tag
from orvl.web.standalone import alone, as_png

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.board import Row, Standing
    from orvl.rate.frontier import Spot
    from orvl.web.html import Child, Html

Contestant = tuple[str, str, str]
WIDTH = 720
ROW, HEAD, FOOT = 28, 32, 56
NAMES, LEFT, RIGHT, FIGURES = 16, 280, 580, 704
"""Where names begin, the axis goes from and to, and figures end."""
LONGEST, LINE = 34, 16
MOST = 40
WIDEST_LINE = 120
STYLE = """
svg { color-scheme: light dark; --paper: #fbfaf7; --ink: #1c1e21; --quiet: #5c6068; --rule: #d9d6cd; --shade: #f1efe9; }
@media (prefers-color-scheme: dark) {
  svg { --paper: #15171b; --ink: #e7e5df; --quiet: #a3a7ae; --rule: #363a42; --shade: #1e2126; }
}
.paper { fill: var(--paper); } .winner { fill: var(--shade); }
text { fill: var(--ink); font: 13px system-ui, sans-serif; } .quiet { fill: var(--quiet); font-size: 11px; }
.figure { font-family: ui-monospace, monospace; }
.axis { stroke: var(--rule); } .whisker { stroke: var(--ink); stroke-width: 2; } .dot { fill: var(--ink); }
.hollow { fill: var(--paper); stroke: var(--quiet); stroke-width: 2; }
.pen { stroke: var(--quiet); } .floor { stroke: var(--quiet); stroke-dasharray: 2 2; }
"""
LEGEND = "Dot: R. Line: its 95 % interval. Tick: R_pen. Dotted: what doing nothing gets."


@dataclass(frozen=True)
class BoardPicture:
    """What is drawn: contestants, whom nobody beats, and how the judges stand to a certificate."""

    rows: Sequence[Row]
    best: Sequence[Contestant]
    standing: Standing
    spots: Sequence[Spot] = ()
    """Cost against quality; drawn below where there is a choice."""

    @property
    def shown(self) -> list[Row]:
        return in_order(self.rows)[:MOST]

    @property
    def height(self) -> int:
        return self._middle + (PLOT_HEIGHT + LINE * (len(self.spots) + 1) if cost_plot(self.spots) else 0)

    @property
    def _middle(self) -> int:
        """Where the ratings end."""
        return HEAD + ROW * len(self.shown) + FOOT

    def svg(self) -> str:
        parts: list[Child] = [
            tag("rect", width=WIDTH, height=self.height, class_="paper"),
            [_level(value, self._middle - FOOT) for value in (0.0, 0.5, 1.0)],
            tag("text", "R", x=FIGURES - 64, y=HEAD - 12, text_anchor="end", class_="quiet"),
            tag("text", "$/run", x=FIGURES, y=HEAD - 12, text_anchor="end", class_="quiet"),
            [self._row(place, row) for place, row in enumerate(self.shown)],
            [
                tag("text", line, x=NAMES, y=self._middle - FOOT + 20 + LINE * place, class_="quiet")
                for place, line in enumerate(self._foot())
            ],
            self._costs(),
        ]
        return alone(WIDTH, self.height, self._told(), STYLE, parts)

    def png(self) -> bytes:
        return as_png(self.svg(), WIDTH, self.height)

    def _row(self, place: int, row: Row) -> list[Child]:
        top = HEAD + ROW * place
        name = " ".join(filter(None, row.contestant))
        short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
        is_best = row.contestant in self.best
        return [
            tag("rect", x=0, y=top, width=WIDTH, height=ROW, class_="winner") if is_best else None,
            tag("text", short, tag("title", name), x=NAMES, y=top + 19),
            _whisker(row, top + ROW // 2),
            _figure("not rated" if row.R is None else f"{row.R:.3f}", FIGURES - 64, top),
            _figure(_cost(row), FIGURES, top),
        ]

    def _costs(self) -> list[Child]:
        plot = cost_plot(self.spots)
        if plot is None:
            return []
        below = self._middle + PLOT_HEIGHT
        names = [
            tag(
                "text",
                shorten(f"{number}. {told(spot)}", WIDEST_LINE, placeholder="…"),
                x=NAMES,
                y=below + LINE * number,
            )
            for number, spot in enumerate(self.spots, 1)
        ]
        return [tag("svg", plot, x=0, y=self._middle, width=WIDTH, height=PLOT_HEIGHT), names]

    def _foot(self) -> list[str]:
        more = len(self.rows) - len(self.shown)
        rest = f" Not drawn: {more} more." if more else ""
        return [LEGEND + rest, shorten(standing_sentence(self.standing), WIDEST_LINE, placeholder="…")]

    def _told(self) -> str:
        rated = [f"{' '.join(row.contestant)} {row.R:.3f}" for row in self.shown if row.R is not None]
        return f"R by contestant: {', '.join(rated) or 'nothing is rated'}."


def _x(value: float) -> str:
    return f"{LEFT + min(max(value, 0.0), 1.0) * (RIGHT - LEFT):.1f}"


def _level(value: float, bottom: int) -> Child:
    return [
        tag("line", x1=_x(value), x2=_x(value), y1=HEAD - 4, y2=bottom, class_="axis"),
        tag("text", f"{value:g}", x=_x(value), y=HEAD - 12, text_anchor="middle", class_="quiet"),
    ]


def _whisker(row: Row, y: int) -> list[Html]:
    """One value alone has no interval, and no line."""
    if row.R is None:
        return []
    parts = [tag("line", x1=_x(0), x2=_x(1), y1=y, y2=y, class_="axis")]
    if row.floor is not None:
        parts.append(tag("line", x1=_x(row.floor), x2=_x(row.floor), y1=y - 12, y2=y + 12, class_="floor"))
    if row.interval is not None:
        low, high = map(_x, row.interval)
        parts.append(tag("line", x1=low, x2=high, y1=y, y2=y, class_="whisker"))
    if row.R_pen is not None:
        parts.append(tag("line", x1=_x(row.R_pen), x2=_x(row.R_pen), y1=y - 6, y2=y + 6, class_="pen"))
    return [*parts, tag("circle", cx=_x(row.R), cy=y, r=4, class_="dot")]


def _figure(text: str, x: int, top: int) -> Html:
    return tag("text", text, x=x, y=top + 19, text_anchor="end", class_="figure")


def _cost(row: Row) -> str:
    return "?" if row.cost_per_run is None else dollars(row.cost_per_run.mean)
