"""Tables of any names at any width: nothing is wider than the terminal, and everything can be read."""

from __future__ import annotations

import io
import random

import pytest

from orvl.report.terminal import PIPE, Terminal, TextColumn, TextTable, cell_width
from orvl.report.text import plain

WIDTHS = (40, 60, 80, 120, 160)
SEEDS = range(60)
ALPHABETS = {
    "short": "abcdef",
    "long": "abcdefghij-_/.@+0123456789",
    "wide": "日本語模型評価한국어",
    "combining": "e\u0301o\u0308n\u0303\u0939\u093f\u0928\u094d\u0926\u0940",
    "hostile": "a\x1b[31m\u202e\u2066\t\n\r\x07\x9b\u200b\ud800\U000e0041|─ ",
    "emoji": "🧪🚀❤\ufe0f👩\u200d🔬a",
}


class PretendedTerminal(io.StringIO):
    def isatty(self):
        return True


def a_name(chance: random.Random) -> str:
    alphabet = ALPHABETS[chance.choice(list(ALPHABETS))]
    return "".join(chance.choice(alphabet) for _ in range(chance.choice((1, 4, 12, 30, 90))))


def a_table(chance: random.Random) -> TextTable:
    """Names in one to three columns, then numbers under headings that are wider than they."""
    names, numbers = chance.randint(1, 3), chance.randint(0, 12)
    columns = [TextColumn(f"N{place}", words=True, key=place < 2) for place in range(names)]
    columns += [TextColumn(f"number{place:03}", below=chance.random() < 0.3) for place in range(numbers)]
    rows = [
        [*(a_name(chance) for _ in range(names)), *(f"{chance.random():.3f}" for _ in range(numbers))]
        for _ in range(chance.randint(1, 5))
    ]
    return TextTable(columns, rows)


def shown(table: TextTable, width: int, file: io.StringIO) -> str:
    Terminal(file, width).print(table)
    return file.getvalue()


def slices(line: str, starts: list[int]) -> list[str]:
    """The parts of a line between columns of the screen."""
    parts, place = [""] * len(starts), 0
    for sign in line:
        current = max((i for i, start in enumerate(starts) if start <= place), default=0)
        parts[current] += sign
        place += cell_width(sign)
    return parts


def read(text: str) -> dict[str, list[str]]:
    """What a person reads in tables below one another: by heading the cells, each joined over its lines."""
    found: dict[str, list[str]] = {}
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not line.startswith(" ─"):
            continue
        head = lines[at - 1]
        names = head.split()
        starts = [head.index(f" {name}") + 1 for name in names]
        rows = iter(lines[at + 1 :])
        cells: list[list[str]] = [[] for _ in names]
        for row in rows:
            if not row:
                break
            for column, part in zip(cells, slices(row, starts), strict=True):
                column.append(part.strip(" "))
        for name, column in zip(names, cells, strict=True):
            found[name] = column
    return found


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_terminal(width):
    for seed in SEEDS:
        table = a_table(random.Random(seed))
        for file in (io.StringIO(), PretendedTerminal()):
            widest = max(map(cell_width, shown(table, width, file).split("\n")))
            assert widest <= width, (seed, widest, table)


@pytest.mark.parametrize("width", [*WIDTHS, PIPE])
def test_every_cell_can_be_read_in_full(width):
    for seed in SEEDS:
        table = a_table(random.Random(seed))
        seen = read(shown(table, width, io.StringIO()))
        for place, column in enumerate(table.columns):
            wanted = "".join(plain(row[place]) for row in table.rows)
            assert column.heading in seen, (seed, column)
            assert squeezed("".join(seen[column.heading])) == squeezed(wanted), (seed, column)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_row_of_every_part_says_whose_it_is(width):
    """Its names, or a number that stands beside its names."""
    for seed in SEEDS:
        chance = random.Random(seed)
        table = a_table(chance)
        keys = [column.heading for column in table.columns if column.key]
        for part in shown(table, width, io.StringIO()).split("\n\n"):
            if part.strip():
                headings = part.strip("\n").split("\n")[0].split()
                assert "row" in headings or all(key in headings for key in keys), (seed, headings)


def test_a_row_of_a_pipe_is_one_line():
    for seed in SEEDS:
        table = a_table(random.Random(seed))
        lines = shown(table, PIPE, io.StringIO()).strip("\n").split("\n")
        assert len(lines) == 2 + len(table.rows), seed


def test_names_that_are_repeated_stand_before_what_is_below():
    columns = [TextColumn("#"), TextColumn("name", words=True, key=True)]
    columns += [TextColumn(f"metric-{number}", below=number == 1) for number in range(1, 5)]
    text = shown(TextTable(columns, [["1", "one", "a", "b", "c", "d"]]), 36, io.StringIO())
    heads = [line.split() for line in text.split("\n") if "name" in line]
    assert heads == [["#", "name", "metric-2", "metric-3"], ["name", "metric-4", "metric-1"]]


def test_names_too_long_to_be_repeated_are_numbered():
    columns = [TextColumn("name", words=True), *(TextColumn(f"metric-{number}") for number in range(1, 5))]
    rows = [[f"a-very-long-name-of-a-contestant-{letter}", *"pqrs"] for letter in "xy"]
    text = shown(TextTable(columns, rows), 40, io.StringIO())
    heads = [line.split() for line in text.split("\n") if "metric-" in line]
    assert heads == [["row", "name", "metric-1", "metric-2"], ["row", "metric-3", "metric-4"]]
    assert ["".join(read(text)[name]) for name in ("row", "metric-4")] == ["12", "ss"]


def test_a_long_text_is_folded_at_once():
    huge = "x" * 300_000
    text = shown(TextTable([TextColumn("name", words=True), TextColumn("n")], [[huge, "1"]]), 80, io.StringIO())
    assert text.count("x") == len(huge)


def squeezed(text: str) -> str:
    return "".join(text.split())
