"""What an agent printed, turn by turn: standard output and standard error, each under its own heading."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import TYPE_CHECKING

from orvl.report.text import plain
from orvl.report.turns import turn_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orvl.types import Turn

HEAD, TAIL = 64 << 10, 192 << 10
"""Bytes of each stream that a terminal is shown; a file or a pipe gets all that was kept."""
PIECE = 1 << 20


def print_output(
    turns: Sequence[Turn], read: Callable[[str], bytes], write: Callable[[str], object], *, in_full: bool
) -> None:
    """Headings are printed only where there is more than one part to tell apart."""
    parts = list(_parts(turns))
    if not parts:
        write("The agent printed nothing.\n")
        return
    has_headings = len(parts) > 1 or parts[0][1] == "standard error"
    for number, name, key in parts:
        data = read(key)
        if has_headings:
            write(f"--- turn {number}, {name}, {len(data):,} bytes\n")
        for text in _shown(data, in_full=in_full):
            write(text)


def _parts(turns: Sequence[Turn]) -> Iterator[tuple[str, str, str]]:
    """What was printed: the turn, the stream, and its blob."""
    for number, turn in zip(turn_names(turns), turns, strict=True):
        if turn.stdout:
            yield number, "standard output", turn.stdout
        if turn.stderr:
            yield number, "standard error", turn.stderr


def _shown(data: bytes, *, in_full: bool) -> Iterator[str]:
    """A stream, or its two ends with a line between them that says how much is missing."""
    if in_full or len(data) <= HEAD + TAIL:
        yield from _text(data)
        return
    yield from _text(data[:HEAD])
    left_out = len(data) - HEAD - TAIL
    yield f"--- {left_out:,} bytes are not shown here; write all of it to a file with: orvl show RUN --output > FILE\n"
    yield from _text(data[-TAIL:])


def _text(data: bytes) -> Iterator[str]:
    """Piece by piece: as text, all of it takes several times its memory."""
    decoder = getincrementaldecoder("utf-8")("replace")
    for place in range(0, len(data), PIECE):
        yield plain(decoder.decode(data[place : place + PIECE], place + PIECE >= len(data)), lines=True)
    if not data.endswith(b"\n"):
        yield "\n"
