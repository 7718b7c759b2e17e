"""A screenshot made small, for a file that must stay small: PNG in, PNG out, with numpy alone."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Pixels = NDArray[np.int16]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {2: 3, 6: 4}
"""By the colour type: RGB, and RGB with alpha."""
WIDTH = 320
WIDEST = 4_000
COARSE = 0xF8
"""Of each colour five bits are kept: the eye does not miss the rest, and the file is a third of the size."""


def thumbnail(png: bytes) -> bytes | None:
    """The top of a picture, at most WIDTH wide; None for what is no PNG as a browser writes it."""
    try:
        pixels = _pixels(png)
    except (ValueError, struct.error, zlib.error):
        return None
    step = -(-pixels.shape[1] // WIDTH)
    height, width = (length // step for length in pixels.shape[:2])
    if not height or not width:
        return None
    boxes = pixels[: height * step, : width * step].reshape(height, step, width, step, 3)
    small = boxes.mean(axis=(1, 3)).astype(np.uint8) & COARSE
    return _png(small | small >> 5)


def _pixels(png: bytes) -> Pixels:
    """Red, green and blue of the first rows: a page can be very long."""
    parts = list(_chunks(png))
    if not parts or parts[0][0] != b"IHDR":
        raise ValueError("no PNG")
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", parts[0][1])
    if depth != 8 or colour not in CHANNELS or interlaced or not 0 < width <= WIDEST or not height:
        raise ValueError("another kind of PNG")
    channels, rows = CHANNELS[colour], min(height, width * 5 // 4)
    size = rows * (1 + width * channels)
    raw = zlib.decompressobj().decompress(b"".join(data for kind, data in parts if kind == b"IDAT"), size)
    if len(raw) != size:
        raise ValueError("the picture is not whole")
    lines = np.frombuffer(raw, np.uint8).reshape(rows, 1 + width * channels)
    return _unfiltered(lines[:, 0], lines[:, 1:].reshape(rows, width, channels).astype(np.int16))[:, :, :3]


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not png.startswith(SIGNATURE):
        raise ValueError("no PNG")
    at = len(SIGNATURE)
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        yield kind, png[at + 8 : at + 8 + length]
        at += 12 + length


def _unfiltered(filters: NDArray[np.uint8], given: Pixels) -> Pixels:
    """Undoes what a line is compressed by: the difference to the pixels on its left, above it, or both.

    A pixel needs those before it in its line and in the line above, so those of one diagonal can be done at once: rows
    are shifted by one each, and then it goes column by column.
    """
    rows, width, channels = given.shape
    if filters.max(initial=0) > 4:
        raise ValueError("an unknown filter")
    shifted = np.zeros((width + rows + 1, rows + 1, channels), np.int16)
    left_of, above_of, both_of, nearest_of = ((filters == kind).astype(np.int16)[:, None] for kind in (1, 2, 3, 4))
    for time in range(width + rows - 1):
        first, last = max(0, time - width + 1), min(rows, time + 1)
        some = slice(first, last)
        left, above = shifted[time + 1, first + 1 : last + 1], shifted[time + 1, some]
        corner = shifted[time, some]
        places = np.arange(first, last)
        guess = left * left_of[some] + above * above_of[some] + ((left + above) >> 1) * both_of[some]
        guess += _nearest(left, above, corner) * nearest_of[some]
        shifted[time + 2, first + 1 : last + 1] = (given[places, time - places] + guess) & 0xFF
    row = np.arange(rows)[:, None]
    straight: Pixels = shifted[row + np.arange(width) + 2, row + 1]
    return straight


def _nearest(left: Pixels, above: Pixels, corner: Pixels) -> Pixels:
    """Paeth's: whichever of the three is nearest to left + above - corner."""
    to_left, to_above = np.abs(above - corner), np.abs(left - corner)
    to_corner = np.abs(left + above - 2 * corner)
    return np.where(
        (to_left <= to_above) & (to_left <= to_corner), left, np.where(to_above <= to_corner, above, corner)
    ).astype(np.int16)


def _png(pixels: NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    above = np.vstack([np.zeros_like(pixels[:1]), pixels[:-1]])
    lines = np.empty((height, 1 + width * 3), np.uint8)
    lines[:, 0] = 2
    lines[:, 1:] = (pixels - above).reshape(height, -1)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return SIGNATURE + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
