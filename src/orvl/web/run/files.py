"""What the agent left: the list, and one of them with numbered lines that an address can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.project.names import count
from orvl.web.html import join, tag
from orvl.web.show import LONGEST_LINE, Heading, link, short, table

if TYPE_CHECKING:
    from orvl.web.html import Child, Html
    from orvl.web.run.asked import RunAsked
    from orvl.web.show import TableRow

MOST_ROWS = 500
ON_ONE_PAGE = 200_000
"""Bytes of a file that is shown from its start, whatever line is asked for."""
BEFORE = 20
"""Lines that stand before the one that is asked for."""


def part(run: RunAsked) -> Child:
    """By number, for a name may be anything; one of them in full where it is asked for."""
    if run.capture is None or not run.files:
        return None
    if run.asked.words.get("file"):
        return _file(run)
    rows = [(None, _row(run, number)) for number in range(1, min(len(run.files), MOST_ROWS) + 1)]
    shown = _fitting(rows, run.most)
    more = len(run.files) - len(shown)
    headings = [Heading("file", words=True), Heading("state"), Heading("bytes"), Heading("")]
    rest = f"{count(more, 'more file')}: orvl show {run.details.key[:12]}"
    return [table("Files", headings, shown), tag("p", rest) if more else None]


def line_address(run: RunAsked, path: str, line: int | None) -> str | None:
    """Where a line of a file is shown; None for a file that the run did not leave."""
    if run.capture is None or path not in run.files:
        return None
    number = str(run.files.index(path) + 1)
    if line is None:
        return run.address("files", file=number)
    further = {"at": str(line)} if run.capture.size(path) > ON_ONE_PAGE else {}
    return run.address("files", f"L{line}", file=number, **further)


def _row(run: RunAsked, number: int) -> list[Child]:
    assert run.capture is not None
    path = run.files[number - 1]
    return [
        link(short(path), run.address("files", file=str(number))),
        "new or changed" if path in run.made else "as it was",
        f"{run.capture.size(path):,}",
        link("raw", run.raw("file", number)),
    ]


def _fitting(rows: list[tuple[None, list[Child]]], most: int) -> list[TableRow]:
    shown: list[TableRow] = []
    for class_, cells in rows:
        most -= len(join(*cells).markup.encode())
        if shown and most < 0:
            break
        shown.append((class_, cells))
    return shown


def _file(run: RunAsked) -> Child:
    number = run.asked.number("file") or 0
    if number not in range(1, len(run.files) + 1):
        raise UserError(f"There is no file {number:g}: the run left {count(len(run.files), 'file')}.")
    assert run.capture is not None
    path, raw = run.files[int(number) - 1], run.raw("file", int(number))
    data = run.capture.read_bytes(path)
    head = tag("h2", short(path)), tag("p", link("All files", run.address("files")), class_="note")
    if b"\0" in data[:8192]:
        return [*head, tag("p", "This is not text. ", link("Save it", raw))]
    lines = data.decode("utf-8", "replace").split("\n")
    lines = lines[:-1] if not lines[-1] else lines
    return [*head, _lines(run, lines, str(int(number)))]


def _lines(run: RunAsked, lines: list[str], file: str) -> Child:
    """From a little before the line that is asked for, as many as fit."""
    asked = int(run.asked.number("at") or 1)
    first = max(min(asked, len(lines)) - BEFORE, 1)
    shown: list[Html] = []
    room = run.most
    for number, line in enumerate(lines[first - 1 :], first):
        made = _line(number, line)
        room -= len(made.markup.encode())
        if shown and room < 0:
            break
        shown.append(made)
    following = first + len(shown)
    left = len(lines) - following + 1
    is_cut = any(len(line) > LONGEST_LINE for line in lines[first - 1 : following - 1])
    return [
        tag("p", link("From the start", run.address("files", file=file))) if first > 1 else None,
        tag("pre", shown, class_="lines") if shown else tag("p", "The file is empty."),
        _further(run, file, following, left) if left > 0 else None,
        tag("p", "Long lines are cut. ", link("The whole file", run.raw("file", file)), class_="note")
        if is_cut
        else None,
    ]


def _further(run: RunAsked, file: str, following: int, left: int) -> Child:
    address = run.address("files", f"L{following}", file=file, at=str(following + BEFORE))
    return tag("p", f"{count(left, 'more line')}. ", link("Go on", address))


def _line(number: int, line: str) -> Html:
    more = len(line) - LONGEST_LINE
    text = line if more <= 0 else f"{line[:LONGEST_LINE]} … {more:,} more signs on this line"
    return tag("span", text, id_=f"L{number}", data_n=number)
