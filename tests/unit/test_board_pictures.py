"""Pictures that stand alone: the board as SVG, and badges."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from orvl.rate.board import Row, Standing
from orvl.web.badge import badge_json, badge_svg
from orvl.web.board_picture import LEFT, MOST, RIGHT, BoardPicture

SVG = "{http://www.w3.org/2000/svg}"
CERTIFIED = Standing("certified", made=0.0, content={"judges": True})
NAMES = ("<script>alert(1)</script>", "\"'><b>\x1b[31m\u202e]]>&", "p\n</svg>")


def row(*names: str, **figures) -> Row:
    return Row(*(names or ("agent", "model", "provider")), None, **figures)


def drawn(*rows: Row, best=(), standing=CERTIFIED):
    return ElementTree.fromstring(BoardPicture(rows, best, standing).svg())


def texts(svg) -> list[str]:
    return [element.text or "" for element in svg.iter(f"{SVG}text")]


def test_dots_and_lines_stand_where_the_numbers_are():
    svg = drawn(row(R=0.5, R_pen=0.25, interval=(0.4, 0.75), floor=0.1))
    (dot,) = svg.iter(f"{SVG}circle")
    assert float(dot.get("cx")) == (LEFT + RIGHT) / 2
    lines = {line.get("class"): line for line in svg.iter(f"{SVG}line")}
    ends = [(float(lines["whisker"].get(end)) - LEFT) / (RIGHT - LEFT) for end in ("x1", "x2")]
    assert ends == pytest.approx([0.4, 0.75])
    assert float(lines["pen"].get("x1")) == pytest.approx(LEFT + 0.25 * (RIGHT - LEFT))
    assert float(lines["floor"].get("x1")) == pytest.approx(LEFT + 0.1 * (RIGHT - LEFT))
    assert "0.500" in texts(svg)


def test_what_is_unknown_is_not_drawn():
    svg = drawn(row("a", "m", "p", R=0.5), row("b", "m", "p"))
    assert len(list(svg.iter(f"{SVG}circle"))) == 1
    assert not [line for line in svg.iter(f"{SVG}line") if line.get("class") in ("whisker", "pen", "floor")]
    assert "not rated" in texts(svg)
    assert texts(svg).count("?") == 2


def test_only_the_best_are_shaded_and_the_best_come_first():
    rows = [row(name, "m", "p", R=R) for name, R in (("low", 0.1), ("high", 0.9))]
    svg = drawn(*rows, best=[("high", "m", "p")])
    assert [text for text in texts(svg) if text.endswith("m p")] == ["high m p", "low m p"]
    assert len([one for one in svg.iter(f"{SVG}rect") if one.get("class") == "winner"]) == 1
    assert not [one for one in drawn(*rows).iter(f"{SVG}rect") if one.get("class") == "winner"]


def test_hostile_names_are_text_in_a_whole_document():
    """In XML a single sign that it does not allow would leave nothing to see."""
    svg = drawn(row(*NAMES, R=0.5))
    assert {element.tag.removeprefix(SVG) for element in svg.iter()} == {
        *("svg", "style", "rect", "line", "text", "title", "circle"),
    }
    assert any(text.startswith("<script>alert(1)</script> ") for text in texts(svg))
    assert svg.find(f".//{SVG}title").text == "<script>alert(1)</script> \"'><b>\\x1b[31m\\u202e]]>& p\n</svg>"
    assert "prefers-color-scheme: dark" in svg.find(f"{SVG}style").text


def test_a_long_board_says_what_is_not_drawn():
    svg = drawn(*(row(f"agent-{number}", "m", "p", R=0.5) for number in range(MOST + 7)))
    assert len(list(svg.iter(f"{SVG}circle"))) == MOST
    assert any("Not drawn: 7 more." in text for text in texts(svg))


@pytest.mark.parametrize(
    ("rows", "state", "message"),
    [
        ([row(R=0.78, interval=(0.74, 0.83))], "certified", "0.78 ± .05 · certified"),
        ([row(R=0.78, interval=(0.5, 0.83))], "none", "0.78 ± .28 · not certified"),
        ([row(R=0.78)], "certified", "0.78 · certified"),
        ([row(R=0.5, interval=(0.0, 1.0))], "stale", "0.50 ± .50 · not certified"),
        ([row(R=1.0, interval=(0.0, 1.0))], "refused", "1.00 ± 1.00 · not certified"),
        ([row(R=0.5)], "programs", "0.50 · by programs"),
        ([row("low", "m", "p", R=0.2), row("high", "m", "p", R=0.9)], "certified", "0.90 · certified"),
        ([row()], "certified", "not rated"),
        ([], "none", "not rated"),
    ],
)
def test_a_badge_says_what_is_known_and_is_grey_unless_certified(rows, state, message):
    standing = Standing(state)
    svg = ElementTree.fromstring(badge_svg(rows, standing))
    assert texts(svg) == ["orvl", message]
    endpoint = json.loads(badge_json(rows, standing))
    is_certified = state == "certified" and message != "not rated"
    assert endpoint == {
        "schemaVersion": 1,
        "label": "orvl",
        "message": message,
        "color": "brightgreen" if is_certified else "lightgrey",
    }
    colours = [one.get("fill") for one in svg.iter(f"{SVG}rect")]
    assert colours[1] == ("#16703f" if is_certified else "#5c6068")
