"""Removes a secret from an answer while it passes."""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST_SECRET = 6
LONGEST_SPELLING = 6
REDACTED = "[redacted]"
ESCAPES = b"\\%"


class SecretPattern:
    """A secret in all the ways in which JSON and URLs may spell it; made once for each secret."""

    def __init__(self, secret: str) -> None:
        characters = [_spellings(character) for character in secret] if len(secret) >= SHORTEST_SECRET else []
        pattern = "".join(f"(?:{'|'.join(map(re.escape, spellings))})" for spellings in characters)
        self.text = re.compile(pattern)
        self.bytes = re.compile(pattern.encode())
        self.characters = [tuple(spelling.encode() for spelling in spellings) for spellings in characters]
        self.plain = secret.encode()
        # A cheap test for where the secret may begin: its first character or an escape, followed by its second.
        first, second = (b"[" + re.escape(self.plain[place : place + 1] + ESCAPES) + b"]" for place in (0, 1))
        self.start = re.compile(first + b"(?=" + second + rb"|(?<=[\\%]).|\Z)", re.DOTALL)


@lru_cache(maxsize=64)
def _pattern(secret: str) -> SecretPattern:
    return SecretPattern(secret)


class Redactor:
    """Removes a secret from bytes that come in pieces.

    Bytes are held back only if the secret may have begun in them, so that a stream is not delayed.
    """

    def __init__(self, secret: str | None) -> None:
        self._secret = _pattern(secret or "")
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        if not self._secret.characters:
            return chunk
        data = self._held + chunk
        if self._secret.plain in data or b"\\" in data or b"%" in data:
            data = self._secret.bytes.sub(REDACTED.encode(), data)
        keep = self._overlap(data)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def end(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def text(self, text: str) -> str:
        return self._secret.text.sub(REDACTED, text) if self._secret.characters else text

    def _overlap(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of the secret."""
        longest = LONGEST_SPELLING * len(self._secret.characters)
        for match in self._secret.start.finditer(data, max(0, len(data) - longest)):
            if self._may_begin(data, match.start()):
                return len(data) - match.start()
        return 0

    def _may_begin(self, data: bytes, place: int) -> bool:
        """Whether all bytes from a place on spell the secret as far as they go."""
        for spellings in self._secret.characters:
            rest = data[place : place + LONGEST_SPELLING]
            spelling = next((one for one in spellings if rest.startswith(one)), None)
            if spelling is None:
                return any(one.startswith(rest) for one in spellings)
            place += len(spelling)
        return False


def _spellings(character: str) -> tuple[str, ...]:
    """A character as it is, and as JSON and URLs may write it."""
    code = ord(character)
    escaped = [f"\\u{code:04x}", f"\\u{code:04X}"]
    if len(character.encode()) == 1:
        escaped += [f"%{code:02x}", f"%{code:02X}"]
    return tuple(dict.fromkeys([character, *escaped, *([f"\\{character}"] if character in '/"\\' else [])]))
