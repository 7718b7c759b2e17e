"""`orvl report --md` and `--github`: what is on top of a pull request, always short, never anybody else's Markdown."""

from __future__ import annotations

import os
import re

import pytest
from markdown_it import MarkdownIt

from helpers.graded import grade
from orvl.rate.board import Row, Rules
from orvl.rate.collect import Board
from orvl.rate.gate import Gate, held
from orvl.rate.gather import Gathered
from orvl.report.markdown import COMMENT, as_markdown, code, whisker

SANDBOX = "none"
HOSTILE = [
    "a|b",
    "`code`",
    "``` fence",
    "<script>alert(1)</script>",
    "</details><img src=x onerror=alert(1)>",
    "@octocat @org/team",
    "[click](javascript:alert(1))",
    "https://example.com www.example.com me@example.com",
    "line\n\n# heading\n| a | b |",
    "\\| \\` \\",
    "\x1b[31m\u202e\ud800",
    "![x](http://x/y.png)",
    "#1 GH-1 deadbeef",
    "",
    "&lt;b&gt; &#64;all",
]


def board_of(names, number=1):
    cells = tuple(
        Row(name, "m", "p", f"{name} {i}", R=0.5, R_pen=0.5, planned=1, rated=1, carried_out=1, reason=name)
        for name in names
        for i in range(number)
    )
    return Board(cells, Gathered((), {}), Rules(), warnings=tuple(names))


def summary_of(board, limit=COMMENT, under=0.7):
    rows = board.contestants
    return as_markdown(rows, board, Gate(under, held(rows, board.cells, under)), limit)


def tokens(text):
    """All tokens, those inside lines too, as GitHub's tables and bare links make them."""
    reader = MarkdownIt("commonmark", {"linkify": False}).enable("table")
    found = []
    for token in reader.parse(text):
        found += [token, *(token.children or [])]
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_stays_in_a_code_span(name):
    text = summary_of(board_of([name]))
    plain = summary_of(board_of(["harmless"]))
    kinds = [token.type for token in tokens(text)]
    assert kinds == [token.type for token in tokens(plain)], "the same structure, whatever the name is"
    html = [token.content.strip() for token in tokens(text) if token.type.startswith("html")]
    assert html == ["<details><summary>By eval</summary>", "</details>"]
    outside = [token.content for token in tokens(text) if token.type == "text"]
    assert not [part for part in outside if re.search(r"@|http|www\.|octocat|deadbeef", part)]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_code_span_is_one_token(name):
    spans = [token for token in tokens(code(name)) if token.type not in ("paragraph_open", "paragraph_close", "inline")]
    assert [token.type for token in spans] == ["code_inline"]
    assert not set("|<>`\n") & set(spans[0].content)


@pytest.mark.parametrize("names", [["x"], ["@" * 4000], ["𝒳" * 4000], [f"agent-{i}" for i in range(100)], []])
@pytest.mark.parametrize("number", [1, 300])
@pytest.mark.parametrize("limit", [4_000, COMMENT])
def test_it_is_never_longer_than_allowed_and_counts_what_is_left_out(names, number, limit):
    board = board_of(names, number if len(names) < 100 else number // 10 or 1)
    text = summary_of(board, limit)
    assert len(text.encode()) <= limit
    shown = len(re.findall(r"^\| `.*0\.2 below 0\.7", text, re.M))
    left = re.search(r"_(\d+) rows? left out\._\n\n</details>", text)
    assert shown + int(left[1] if left else 0) == len(board.cells)
    assert text.count("<details>") == text.count("</details>")


def test_the_count_of_what_is_left_out_is_no_row_of_the_table():
    text = summary_of(board_of([f"agent-{i}" for i in range(300)]), 8_000)
    left_out = [token for token in tokens(text) if token.type == "em_open"]
    assert left_out
    inside, cells = False, []
    for token in tokens(text):
        inside = token.type == "td_open" or (inside and token.type != "td_close")
        cells += [token.content] if inside and token.type == "text" else []
    assert not [cell for cell in cells if "left out" in cell]


def test_whiskers():
    row = Row("a", "m", "p", None, R=0.5, interval=(0.25, 0.75))
    assert whisker(row) == "·····├────●────┤·····"
    assert whisker(Row("a", "m", "p", None)) == "·" * 21
    assert whisker(Row("a", "m", "p", None, R=1.0, interval=(0.0, 1.0))) == "├" + "─" * 19 + "●"


@pytest.fixture
def rated(project):
    grade(project, "good", {"a": 0.8, "b": 0.6})
    grade(project, "half", {"a": 0.3, "b": None})
    project.orvl("good,half", "--eval=a,b")
    return project


def test_the_verdict_first_then_rows_then_evals(rated):
    done = rated.orvl("report", "--md=-", "--fail-under=0.65")
    assert done.status == 4
    lines = done.out.splitlines()
    assert lines[0] == "## orvl: ❌ `FAILED: 1 of 2 rows below 0.65.`"
    assert "half m none: R 0.300 is 0.35 below 0.65." in done.err
    assert any(line.startswith("- ❌ `half m none: R 0.300 is 0.35 below 0.65.") for line in lines)
    assert any(line.startswith("| `good m none` | 0.800 |") for line in lines)
    assert any(line.startswith("| `b` | `half m none` | – | 0/0/1/1 | `1 of 1 run errored") for line in lines)


def test_a_file_beside_the_table_and_no_verdict_where_none_was_asked(rated):
    done = rated.orvl("report", "--md=out.md")
    assert (done.status, "agent model provider" in done.out) == (0, True)
    assert (rated.root / "out.md").read_text().startswith("## orvl\n")
    assert rated.orvl("report", "--md=-", "--json").status == 2


def test_github_gets_it_after_what_is_there(rated):
    summary = rated.write("summary.md", "# Mine\n")
    done = rated.orvl("report", "--github", "--fail-under=0.65", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert (done.status, "agent model provider" in done.out) == (4, True)
    text = summary.read_text()
    assert text.startswith("# Mine\n\n## orvl: ❌")
    assert not (rated.root / "out.md").exists()


@pytest.mark.parametrize("there", [0, 500_000, 995_000, 999_500, 2_000_000])
def test_a_summary_stays_below_what_github_takes(rated, there):
    summary = rated.write("summary.md", "x" * there)
    done = rated.orvl("report", "--github", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.status == 0
    assert summary.stat().st_size <= max(there, 1_000_000)
    assert ("summary is full" in done.err) == (summary.stat().st_size == there)


def test_elsewhere_github_is_refused(rated):
    done = rated.orvl("report", "--github", env={"GITHUB_STEP_SUMMARY": ""})
    assert (done.status, "--md FILE" in done.err) == (2, True)


def test_a_device_or_a_link_stays_what_it_is(rated):
    target = rated.write("target.md", "old")
    link = rated.root / "link.md"
    link.symlink_to("target.md")
    assert rated.orvl("report", "--md=link.md").status == 0
    assert link.is_symlink()
    assert target.read_text().startswith("## orvl")
    os.mkfifo(rated.root / "pipe")
    reader = os.open(rated.root / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert rated.orvl("report", "--md=pipe").status == 0
        assert os.read(reader, 7) == b"## orvl"
    finally:
        os.close(reader)
    assert (rated.root / "pipe").is_fifo()


@pytest.mark.parametrize("flag", ["--md", "--junit", "--baseline"])
def test_a_flag_whose_variable_is_not_set_is_refused(rated, flag):
    done = rated.orvl("report", f"{flag}=")
    assert (done.status, flag in done.err) == (2, True)


def test_what_was_not_run_is_listed(rated):
    grade(rated, "good", {"a": 0.1, "b": 0.1})
    text = rated.orvl("report", "--md=-").out
    assert "| `a` | `good m none` | – | 0/0/0/0 | `not run` |" in text
    assert "not run" not in rated.orvl("report").out
