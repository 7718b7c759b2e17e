"""Pictures of one run, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.calls import how_it_failed
from orvl.report.text import seconds
from orvl.web.html import tag

if TYPE_CHECKING:
    from orvl.types import ModelCall
    from orvl.web.html import Html

Points = Sequence[tuple[int, float | None]]
WIDTH, HEIGHT = 720, 48
EDGE, BASE = 4, 44
TALLEST = 36
UNKNOWN = 8
"""How high a tick is whose tokens nobody knows: a stub of its own look, not a small number."""


CURVE_WIDTH, CURVE_HEIGHT, CURVE_EDGE = 120, 24, 3


def curve(own: Points, good: Points = ()) -> Html:
    """A number by turn as a line from 0 up, and that of good work dashed. What is unknown is left out."""
    known = [(turn, value) for line in (own, good) for turn, value in line if value is not None]
    last, most = max((turn for turn, _ in known), default=0) or 1, max((value for _, value in known), default=0) or 1

    def line(points: Points, class_: str) -> Html | None:
        places = [
            f"{CURVE_EDGE + turn / last * (CURVE_WIDTH - 2 * CURVE_EDGE):.1f},"
            f"{CURVE_HEIGHT - CURVE_EDGE - value / most * (CURVE_HEIGHT - 2 * CURVE_EDGE):.1f}"
            for turn, value in points
            if value is not None
        ]
        return tag("polyline", points=" ".join(places), class_=class_) if len(places) > 1 else None

    return tag(
        "svg",
        line(good, "curve good"),
        line(own, "curve"),
        viewBox=f"0 0 {CURVE_WIDTH} {CURVE_HEIGHT}",
        width=CURVE_WIDTH,
        height=CURVE_HEIGHT,
        aria_hidden="true",
    )


@dataclass(frozen=True)
class Tick:
    """The calls that began at one place of the picture."""

    x: int
    tokens: int | None
    failed: bool


def barcode(calls: Sequence[ModelCall]) -> Html | None:
    """A tick a call: from left to right in time, as high as its tokens, marked where something failed."""
    if not calls:
        return None
    ticks = _ticks(calls)
    most = max((tick.tokens or 0 for tick in ticks), default=0) or 1
    axis = tag("line", x1=EDGE, x2=WIDTH - EDGE, y1=BASE, y2=BASE, class_="axis")
    return tag(
        "svg",
        axis,
        [_drawn(tick, most) for tick in ticks],
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="plot barcode",
        role="img",
        aria_label=_told(calls),
    )


def _ticks(calls: Sequence[ModelCall]) -> list[Tick]:
    """At most one for each place: thousands of calls are no larger picture than a few."""
    begin = min(call.started for call in calls)
    length = max(call.started + call.seconds for call in calls) - begin or 1.0
    places: dict[int, Tick] = {}
    for call in calls:
        x = EDGE + round((call.started - begin) / length * (WIDTH - 2 * EDGE))
        tokens, failed = _tokens(call), how_it_failed(call) is not None
        if before := places.get(x):
            known = [one for one in (before.tokens, tokens) if one is not None]
            tokens, failed = max(known, default=None), failed or before.failed
        places[x] = Tick(x, tokens, failed)
    return [places[x] for x in sorted(places)]


def _tokens(call: ModelCall) -> int | None:
    if call.input_tokens is None or call.output_tokens is None:
        return None
    return call.input_tokens + call.output_tokens


def _drawn(tick: Tick, most: int) -> list[Html]:
    height = UNKNOWN if tick.tokens is None else max(tick.tokens / most * TALLEST, 1)
    kind = "failed" if tick.failed else "unknown" if tick.tokens is None else "tick"
    top = f"{BASE - height:.1f}"
    line = tag("line", x1=tick.x, x2=tick.x, y1=BASE, y2=top, class_=kind)
    return [line, tag("circle", cx=tick.x, cy=top, r=3, class_="lost")] if tick.failed else [line]


def _told(calls: Sequence[ModelCall]) -> str:
    """The same in words."""
    length = max(call.started + call.seconds for call in calls) - min(call.started for call in calls)
    failed = sum(how_it_failed(call) is not None for call in calls)
    known = [tokens for call in calls if (tokens := _tokens(call)) is not None]
    unknown = len(calls) - len(known)
    parts = [
        f"{count(len(calls), 'model call')} in {seconds(length)}, {failed} failed.",
        f"The largest had {max(known):,} tokens." if known else "",
        f"Of {unknown} the tokens are unknown." if unknown else "",
    ]
    return " ".join(filter(None, parts))
