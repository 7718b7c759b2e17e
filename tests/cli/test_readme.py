"""The README's picture is a real report, and its first screen has no formula."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "report.svg"
TITLE = "orvl report"
WIDTH = 108


def drawn(text: str) -> str:
    """A terminal's text as an SVG, the same for the same text."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), legacy_windows=False)
    console.print(Text(text), end="")
    svg = console.export_svg(title=TITLE, unique_id="orvl")
    return re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # which would be fetched from elsewhere


def words_of(svg: str) -> str:
    """What can be read in a picture, without numbers, which differ from run to run."""
    text = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg)).replace("&#160;", " ")
    return " ".join(re.sub(r"\d[\d.]*", "#", text).split())


def test_the_picture_is_a_real_report(project):
    """To draw it again: ORVL_DRAW=1 make test."""
    assert project.orvl("dummy-*,empty", "--eval=hello-world,parse-logs,fix-slugs").status == 0
    report = project.orvl("report", env={"COLUMNS": str(WIDTH)})
    assert report.status == 0
    svg = drawn(report.out)
    if os.environ.get("ORVL_DRAW"):
        PICTURE.write_text(svg)
    assert words_of(PICTURE.read_text()) == words_of(svg)


def test_the_first_screen_has_the_picture_and_no_formula():
    first = (ROOT / "README.md").read_text().splitlines()[:45]
    assert any("docs/report.svg" in line for line in first[:8])
    assert not [line for line in first if "ᵀ" in line or "Σ" in line]
