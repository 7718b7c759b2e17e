"""Sentences and tables fit the terminal, and styles are only where it has them."""

from __future__ import annotations

import io

import pytest

from orvl.report.terminal import Terminal, TextCell, TextColumn, TextTable, cell_width, wrap


def shown(content, width=40, style="", **more):
    out = io.StringIO()
    Terminal(out, width, **more).print(content, style)
    return out.getvalue()


TABLE = TextTable(
    [TextColumn("name", words=True), TextColumn("R")],
    [["one", TextCell("0.5", "bold")], None, ["a name that is long", "0.75"]],
)


def test_a_table_has_words_on_the_left_and_numbers_on_the_right():
    lines = [
        "",
        " name                    R",
        f" {'─' * 25}",
        " one                   0.5",
        "",
        " a name that is long  0.75",
        "",
    ]
    assert shown(TABLE).split("\n") == [*lines, ""]


@pytest.mark.parametrize("width", [4, 10, 18, 40])
def test_nothing_is_wider_than_the_terminal_and_nothing_is_lost(width):
    text = shown(TABLE, width)
    assert max(map(cell_width, text.splitlines())) <= max(width, 5)
    assert sorted("".join(text.replace("─", "").split())) == sorted("nameRone0.5anamethatislong0.75")


def test_styles_are_written_only_where_the_terminal_has_them():
    assert "\x1b" not in shown(TABLE) and "\x1b" not in shown("text", style="dim")
    assert "\x1b[1m0.5\x1b[0m" in shown(TABLE, styles=True)
    assert shown("text", style="bold green", styles=True) == "\x1b[1;32mtext\x1b[0m\n"


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 5, [""]),
        ("one two", 7, ["one two"]),
        ("one two three", 7, ["one two", "three"]),
        ("abcdefghij kl", 4, ["abcd", "efgh", "ij", "kl"]),
        ("  one two three", 9, ["  one two", "  three"]),
        ("日本語 日本", 6, ["日本語", "日本"]),
        ("日本語", 3, ["日", "本", "語"]),
    ],
)
def test_text_wraps_between_words_and_keeps_its_indent(text, width, lines):
    assert list(wrap(text, width)) == lines


def test_wide_and_combining_signs_count_for_what_they_take():
    assert [cell_width(text) for text in ("abc", "日本", "e\u0301", "–")] == [3, 4, 1, 1]


def test_a_terminal_without_unicode_gets_a_plain_rule():
    out = io.TextIOWrapper(io.BytesIO(), "ascii", errors="replace")
    Terminal(out, 40).print(TABLE)
    out.flush()
    assert b" -----" in out.buffer.getvalue() and b"?" not in out.buffer.getvalue()
