"""The viewer's pictures show the numbers that they are given."""

from __future__ import annotations

import re

from orvl.rate.board import Row
from orvl.rate.frontier import Spot
from orvl.web.draw import cost_and_quality, loss, whisker

CHEAP, DEAR, FREE = ("cheap", "m", "p"), ("<script>dear", "m", "p"), ("free", "m", "p")


def circles(svg) -> list[tuple[float, float, str]]:
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="\d" class="(\w+)"', str(svg))
    return [(float(x), float(y), kind) for x, y, kind in found]


def test_cost_grows_to_the_right_and_quality_up():
    spots = [Spot(FREE, 0.1, 0.0, None), Spot(CHEAP, 0.5, 0.01, None), Spot(DEAR, 0.4, 10.0, CHEAP)]
    svg = cost_and_quality(spots)
    (x0, y0, _), (x1, y1, on), (x2, y2, off) = circles(svg)
    assert x0 < x1 < x2
    assert y0 > y2 > y1
    assert (on, off) == ("dot", "hollow")
    assert "&lt;script&gt;dear m p: $10.00 a run, R 0.400; no better than cheap m p, which costs no more" in str(svg)
    assert "<script" not in str(svg)
    assert ">free<" in str(svg)
    assert "On the frontier: free m p, cheap m p." in str(svg)


def test_equal_costs_have_a_place_too():
    same = circles(cost_and_quality([Spot(CHEAP, 0.5, 0.01, None), Spot(DEAR, 0.4, 0.01, CHEAP)]))
    assert same[0][0] == same[1][0]


def test_without_a_price_or_a_choice_there_is_nothing_to_draw():
    assert cost_and_quality([]) is None
    assert cost_and_quality([Spot(CHEAP, 0.5, 0.01, None)]) is None
    assert cost_and_quality([Spot(CHEAP, 0.5, 0.0, None), Spot(FREE, 0.4, 0.0, CHEAP)]) is None


def test_a_whisker_spans_its_interval_and_what_is_unknown_is_not_drawn():
    row = Row("a", "m", "p", None, R=0.5, R_pen=0.4, interval=(0.25, 0.75), floor=0.0)
    text = str(whisker(row))
    low, high = re.findall(r'x1="([\d.]+)" x2="([\d.]+)" y1="8" y2="8" class="whisker"', text)[0]
    assert (float(low) + float(high)) / 2 == circles(text)[0][0] == 80
    assert whisker(Row("a", "m", "p", None)) is None
    alone = str(whisker(Row("a", "m", "p", None, R=0.5)))
    assert "whisker" not in alone
    assert "pen" not in alone


def test_what_was_lost_is_drawn_to_scale():
    widths = [float(re.search(r'width="([\d.]+)" height="8"', str(loss(lost)))[1]) for lost in (0.0, 0.5, 1.0, 7.0)]
    assert widths == [0, 76, 152, 152]
