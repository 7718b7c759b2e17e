"""A rating as a badge: an SVG, or what shields.io reads to draw one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.report.table import in_order
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.standalone import alone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.board import Row, Standing
    from orvl.web.html import Html

LABEL = "orvl"
WORDS = {"certified": "certified", "programs": "by programs", "imported": "imported"}
"""What stands behind the number; for all else, that nothing does."""
GREEN, GREY = "#16703f", "#5c6068"
HEIGHT, EDGE, SIGN = 20, 6, 6.6
"""Pixels: a sign is as wide as most fonts make it, and the text is fitted into its place."""
STYLE = "text { fill: #fff; font: 11px Verdana, DejaVu Sans, sans-serif; }"


def badge_svg(rows: Sequence[Row], standing: Standing) -> str:
    message = badge_message(rows, standing)
    left, right = (round(len(text) * SIGN) + 2 * EDGE for text in (LABEL, message))
    colour = GREEN if _is_certified(rows, standing) else GREY
    parts = [
        tag("title", f"{LABEL} {message}"),
        tag("rect", width=left + right, height=HEIGHT, rx=3, fill="#1c1e21"),
        tag("rect", x=left, width=right, height=HEIGHT, rx=3, fill=colour),
        _text(LABEL, EDGE, left),
        _text(message, left + EDGE, right),
    ]
    return alone(left + right, HEIGHT, f"{LABEL} {message}", STYLE, parts)


def badge_json(rows: Sequence[Row], standing: Standing) -> str:
    """https://shields.io/badges/endpoint-badge"""
    colour = "brightgreen" if _is_certified(rows, standing) else "lightgrey"
    return json_text({"schemaVersion": 1, "label": LABEL, "message": badge_message(rows, standing), "color": colour})


def badge_message(rows: Sequence[Row], standing: Standing) -> str:
    """R of the contestant, of several the first; its interval as its longer side; and whether judges are certified."""
    first = _first(rows)
    if first is None or first.R is None:
        return "not rated"
    low, high = first.interval or (first.R, first.R)
    width = f"{max(first.R - low, high - first.R):.2f}".removeprefix("0")
    spread = f" ± {width}" if first.interval else ""
    return f"{first.R:.2f}{spread} · {WORDS.get(standing.state, 'not certified')}"


def _is_certified(rows: Sequence[Row], standing: Standing) -> bool:
    return standing.state == "certified" and _first(rows) is not None


def _first(rows: Sequence[Row]) -> Row | None:
    return next((row for row in in_order(rows) if row.R is not None), None)


def _text(text: str, x: int, width: int) -> Html:
    return tag("text", text, x=x, y=14, textLength=width - 2 * EDGE, lengthAdjust="spacingAndGlyphs")
