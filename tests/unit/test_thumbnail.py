"""Screenshots made small, from every kind of PNG that a browser writes."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from orvl.web.thumbnail import WIDTH, thumbnail


def encoded(pixels: np.ndarray, filters: list[int], colour: int = 2, rows: int | None = None) -> bytes:
    """A PNG, each line under its filter, byte by byte as the format's text has it."""
    height, width, channels = pixels.shape
    lines = [b"\0" * width * channels, *(pixels[y].tobytes() for y in range(height))]
    raw = bytearray()
    for y in range(1, height + 1):
        kind = filters[(y - 1) % len(filters)]
        raw.append(kind)
        for x in range(width * channels):
            left = lines[y][x - channels] if x >= channels else 0
            above, corner = lines[y - 1][x], lines[y - 1][x - channels] if x >= channels else 0
            guess = left + above - corner
            nearest = min((left, above, corner), key=lambda one: abs(guess - one))
            raw.append((lines[y][x] - (0, left, above, (left + above) // 2, nearest)[kind]) % 256)
    head = struct.pack(">IIBBBBB", width, rows or height, 8, colour, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(raw))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def decoded(png: bytes) -> np.ndarray:
    """What `thumbnail` writes: every line as its difference to the one above."""
    width, height = struct.unpack(">II", png[16:24])
    length = struct.unpack(">I", png[33:37])[0]
    lines = np.frombuffer(zlib.decompress(png[41 : 41 + length]), np.uint8).reshape(height, -1)
    assert set(lines[:, 0]) == {2}
    return np.cumsum(lines[:, 1:], axis=0, dtype=np.uint8).reshape(height, width, 3)


@pytest.mark.parametrize("filters", [[0], [1], [2], [3], [4], [4, 1, 0, 3, 2]])
@pytest.mark.parametrize(("channels", "colour"), [(3, 2), (4, 6)])
def test_a_small_picture_stays_as_it_is_but_for_the_last_bits(filters, channels, colour):
    pixels = np.random.default_rng(1).integers(0, 256, (9, 11, channels), dtype=np.uint8)
    small = decoded(thumbnail(encoded(pixels, filters, colour)))
    assert small.shape == (9, 11, 3)
    assert np.abs(small.astype(int) - pixels[:, :, :3]).max() < 8


def test_a_wide_picture_is_averaged_and_a_long_one_ends():
    pixels = np.zeros((1200, 2 * WIDTH, 3), np.uint8)
    pixels[:, 1::2] = 255
    small = decoded(thumbnail(encoded(pixels[:, : 2 * WIDTH], [2])))
    assert small.shape[1] == WIDTH
    assert small.shape[0] == 2 * WIDTH * 5 // 4 // 2
    assert set(small.ravel()) == {123}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg onload=alert(1)>",
        b"\x89PNG\r\n\x1a\n",
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
        encoded(np.zeros((2, 8, 3), np.uint8), [0], rows=3),
        encoded(np.zeros((2, 2, 3), np.uint8), [0], colour=3),
        encoded(np.zeros((2, 2, 3), np.uint8), [0])[:-30],
    ],
)
def test_what_is_no_whole_png_has_no_small_picture(data):
    assert thumbnail(data) is None
