"""Tiny pictures as PNG, without a library: boxes, and capital letters of five by seven pixels."""

from __future__ import annotations

import struct
import zlib

WIDTH, HEIGHT = 5, 7
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,:!-?'/+"
POINTS = (
    "7e1111117e 7f49494936 3e41414122 7f4141413e 7f49494941 7f09090901 3e4149497a 7f0808087f 00417f4100 "
    "304040403f 7f08142241 7f40404040 7f020c027f 7f0408107f 3e4141413e 7f09090906 3e4151215e 7f09192946 "
    "4649494931 01017f0101 3f4040403f 1f2040201f 3f4038403f 6314081463 0708700807 6151494543 3e5149453e "
    "00427f4000 4261514946 2241494936 1814127f10 2745454539 3e49494932 0171090503 3649494936 264949493e "
    "0060600000 0050300000 0036360000 00005f0000 0808080808 0201510906 0000030000 6010080403 08083e0808 "
)
COLUMNS = dict(zip(LETTERS, map(bytes.fromhex, POINTS.split()), strict=True))
"""The pixels of each letter, a byte per column, the lowest bit on top."""


class Picture:
    """Grey pixels, all white at first."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.rows = [bytearray(b"\xff" * width) for _ in range(height)]

    def box(self, left: int, top: int, width: int, height: int, shade: int) -> None:
        right = min(left + width, self.width)
        for row in self.rows[max(top, 0) : top + height]:
            row[left:right] = bytes([shade]) * max(right - left, 0)

    def write(self, left: int, top: int, text: str, scale: int = 2, shade: int = 0) -> None:
        """Letters that the font lacks are blank."""
        for number, letter in enumerate(text.upper()):
            for column, bits in enumerate(COLUMNS.get(letter, b"")):
                for row in range(HEIGHT):
                    if bits >> row & 1:
                        at = left + (number * (WIDTH + 1) + column) * scale
                        self.box(at, top + row * scale, scale, scale, shade)

    def png(self) -> bytes:
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 0, 0, 0, 0)
        body = zlib.compress(b"".join(b"\0" + row for row in self.rows), 9)
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def lines_as_png(lines: list[str], scale: int = 3) -> bytes:
    """A few lines of text as a picture."""
    step = (HEIGHT + 3) * scale
    widest = max(map(len, lines))
    picture = Picture((widest + 2) * (WIDTH + 1) * scale, step * (len(lines) + 1))
    for number, line in enumerate(lines):
        picture.write((WIDTH + 1) * scale, step // 2 + number * step, line, scale)
    return picture.png()
