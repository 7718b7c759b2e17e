"""Secrets are taken out of an answer while it passes."""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST_SECRET = 6
LONGEST_SIGN = 6
REDACTED = "[redacted]"
ESCAPES = b"\\%"


class Spelled:
    """A secret in all the ways in which it may be written; made once for each secret."""

    def __init__(self, secret: str) -> None:
        self.signs = [_ways_to_write(sign) for sign in secret] if len(secret) >= SHORTEST_SECRET else []
        pattern = "".join(f"(?:{'|'.join(map(re.escape, ways))})" for ways in self.signs)
        self.text = re.compile(pattern)
        self.bytes = re.compile(pattern.encode())
        self.ways = [tuple(way.encode() for way in ways) for ways in self.signs]
        self.plain = secret.encode()
        first, second = (b"[" + re.escape(self.plain[place : place + 1] + ESCAPES) + b"]" for place in (0, 1))
        self.first = re.compile(first + b"(?=" + second + rb"|(?<=[\\%]).|\Z)", re.DOTALL)


@lru_cache(maxsize=64)
def _spelled(secret: str) -> Spelled:
    return Spelled(secret)


class Redactor:
    """Takes a secret out of bytes that come in pieces, however JSON and addresses write it.

    Bytes are held back only where the secret may have begun.
    """

    def __init__(self, secret: str | None) -> None:
        self._spelled = _spelled(secret or "")
        self._signs = self._spelled.signs
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        if not self._signs:
            return chunk
        data = self._held + chunk
        if self._spelled.plain in data or b"\\" in data or b"%" in data:
            data = self._spelled.bytes.sub(REDACTED.encode(), data)
        keep = self._overlap(data)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def end(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def text(self, text: str) -> str:
        return self._spelled.text.sub(REDACTED, text) if self._signs else text

    def _overlap(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of the secret."""
        for found in self._spelled.first.finditer(data, max(0, len(data) - LONGEST_SIGN * len(self._signs))):
            if self._may_begin(data, found.start()):
                return len(data) - found.start()
        return 0

    def _may_begin(self, data: bytes, at: int) -> bool:
        """Whether all bytes from a place on spell the secret as far as they go."""
        for ways in self._spelled.ways:
            rest = data[at : at + LONGEST_SIGN]
            spelled = next((way for way in ways if rest.startswith(way)), None)
            if spelled is None:
                return any(way.startswith(rest) for way in ways)
            at += len(spelled)
        return False


def _ways_to_write(sign: str) -> tuple[str, ...]:
    """A sign of a secret as it is, and as JSON and addresses may write it."""
    code = ord(sign)
    escaped = [f"\\u{code:04x}", f"\\u{code:04X}", *(f"%{byte:02{case}}" for byte in sign.encode() for case in "xX")]
    escaped = escaped if len(sign.encode()) == 1 else escaped[:2]
    return tuple(dict.fromkeys([sign, *escaped, *([f"\\{sign}"] if sign in '/"\\' else [])]))
