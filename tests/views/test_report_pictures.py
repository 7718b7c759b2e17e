"""`orvl report --svg`, `--png` and `--badge`."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest


@pytest.fixture
def rated(project):
    project.agent("one", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "echo hi > a.txt"]\n')
    project.agent("two", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["true"]\n')
    project.eval("first", "---\nmetrics: {checks: 1}\nchecks: [{name: there, run: test -f a.txt}]\n---\nSay hi.\n")
    assert project.orvl("one,two", "--eval=first", "--sandbox=none").status == 0
    return project


def test_the_board_and_a_badge_are_written_beside_what_is_printed(rated):
    done = rated.orvl("report", "--svg=board.svg", "--badge=badge.svg", "--json")
    assert done.status == 0
    assert len(done.json["ratings"]) == 2
    board = ElementTree.parse(rated.root / "board.svg").getroot()
    shown = [element.text for element in board.iter("{http://www.w3.org/2000/svg}text")]
    assert "one fixed none" in shown and "two fixed none" in shown
    assert "1.000" in shown and "0.000" in shown
    assert "1.00 · by programs" in (rated.root / "badge.svg").read_text()
    assert rated.orvl("report", "two", "--badge=badge.json").status == 0
    assert json.loads((rated.root / "badge.json").read_text())["message"] == "0.00 · by programs"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--svg=",), "--svg is empty"),
        (("--svg=x/y.svg",), "--svg x/y.svg cannot be written"),
        (("--badge=x.svg", "--by=run"), "--badge shows contestants: leave out --by."),
        (("--svg=x.svg", "--html=x.html"), "give --svg in one of its own"),
    ],
)
def test_a_picture_that_cannot_be_is_a_sentence(rated, flags, words):
    done = rated.orvl("report", *flags)
    assert done.status == 2
    assert words in done.err
    assert not list(rated.root.glob("x.*"))


def test_png_without_a_browser_is_one_sentence(rated):
    done = rated.orvl("report", "--png=board.png", env={"ORVL_CHROMIUM": "/nowhere/chromium"})
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert "--png needs a browser" in done.err
    assert "apt-get install chromium" in done.err or "pip install" in done.err
    assert not (rated.root / "board.png").exists()
