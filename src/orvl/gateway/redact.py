"""Removes a secret from answers while they pass, in every form in which a provider may write it.

Character by character it may be plain or escaped, in any mix: as in JSON, URLs, HTML, source code and mails, and broken
over lines. As a whole it may be in base64, at any place of a longer text, or in hexadecimal digits. In a stream it may
be cut anywhere, also over several events.
"""

from __future__ import annotations

import base64
import re
from functools import cache, lru_cache
from html.entities import html5
from typing import TYPE_CHECKING, Any

from orvl.gateway.wire.sse import EventBuffer
from orvl.gateway.wire.values import as_object, compact

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST_SECRET = 6
SHORTEST_CODE = 8
LONGEST_SPELLING = 24
REDACTED = b"[redacted]"
UNSEEN = "(?:\u00ad|\u200b|\u200c|\u200d|\u2060|\ufeff)"
BREAK = rf"(?:\x00{{1,3}}|{UNSEEN}|(?:\\{{1,4}}r)?\\{{1,4}}n[ \t]{{0,8}}|[=\\]?\r?\n[ \t]{{0,8}})?"
"""Where a secret may be broken: over lines, real or escaped ones, by what cannot be seen, by the zeros of UTF-16."""
BEGUN = re.compile(
    rb"(?:\\{1,4}(?:u(?:\{[0-9a-fA-F]{0,6}|[0-9a-fA-F]{0,3})|x[0-9a-fA-F]?|[0-7]{1,2}|r\\{0,4})?"
    rb"|%(?:25){0,3}[0-9a-fA-F]?|=[0-9a-fA-F]?\r?|&[#\w;]{0,20}|\r|\xe2\x80?|\xe2\x81|\xef\xbb?|\xc2)\Z"
)
"""An escape of which the end is missing."""
ESCAPES = b"\\%&="


@cache
def _entities() -> dict[str, list[str]]:
    """The names that HTML has for single characters."""
    names: dict[str, list[str]] = {}
    for name, text in html5.items():
        if len(text) == 1 and name.endswith(";"):
            names.setdefault(text, []).append(name[:-1])
    return names


def _spelling(character: str) -> str:
    """A pattern of all the ways to write a character."""
    code = ord(character)
    digits = "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{code:02x}")
    padded = "0" * (4 - len(f"{code:02x}")) + digits
    ways = [rf"\\{{1,4}}u(?:{padded}|\{{0{{0,4}}{digits}\}})"]
    ways.append(rf"&(?:amp;){{0,2}}#(?:0{{0,6}}{code}(?:;|(?![0-9]))|[xX]0{{0,6}}{digits}(?:;|(?![0-9a-fA-F])))")
    if code < 128:
        ways += [rf"%(?:25){{0,3}}{digits}", f"={digits}", rf"\\{{1,4}}(?:x{digits}|0?{code:03o})"]
    if not character.isalnum():
        ways.append(rf"\\{{1,4}}{re.escape(character)}")
    if names := _entities().get(character):
        ways.append(f"&(?:amp;)?(?:{'|'.join(names)});")
    return f"(?:{'|'.join([*ways, re.escape(character)])})"


def _codes(secret: bytes) -> Iterator[bytes]:
    """The secret as a whole, encoded."""
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for before in range(3):
        # The first and last characters also depend on what stands around the secret, so they are left out.
        code = base64.b64encode(bytes(before) + secret)[(0, 2, 3)[before] :]
        code = code[: (len(secret) + before) * 8 // 6 - (0, 2, 3)[before]]
        yield code
        yield code.translate(bytes.maketrans(b"+/", b"-_"))
        yield code.replace(b"/", b"\\/")
        yield code.replace(b"/", b"%2F").replace(b"+", b"%2B")
        yield code.replace(b"/", b"\\u002f").replace(b"+", b"\\u002b")


class SecretPattern:
    """A secret in all its forms; made once for each secret."""

    def __init__(self, secret: str) -> None:
        known = secret if len(secret) >= SHORTEST_SECRET else ""
        ways = [_spelling(character).encode() for character in known]
        self.spelled = re.compile(BREAK.encode().join(ways))
        self.characters = [re.compile(way) for way in ways]
        self.codes = [code for code in dict.fromkeys(_codes(known.encode())) if len(code) >= SHORTEST_CODE]
        self.longest = max(LONGEST_SPELLING * len(known), *(len(code) for code in self.codes), 0) if known else 0
        self.start = re.compile(b"[" + re.escape(known[:1].encode() + ESCAPES) + b"]") if known else None
        self.line_break = re.compile(BREAK.encode())

    def places(self, data: bytes) -> list[tuple[int, int]]:
        """Where the secret stands, from left to right."""
        found = [match.span() for match in self.spelled.finditer(data)]
        for code in self.codes:
            at = data.find(code)
            while at >= 0:
                found.append((at, at + len(code)))
                at = data.find(code, at + len(code))
        return sorted(found)

    def without(self, data: bytes) -> bytes:
        out: list[bytes] = []
        at = 0
        for start, end in self.places(data):
            out += [data[at:start], REDACTED] if start >= at else []
            at = max(at, end)
        return b"".join([*out, data[at:]])

    def overlap(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of the secret."""
        assert self.start is not None
        first = len(data)
        for match in self.start.finditer(data, max(0, len(data) - self.longest)):
            if self._may_begin(data, match.start()):
                first = match.start()
                break
        for code in self.codes:
            at = data.find(code[:1], max(0, len(data) - len(code) + 1))
            while 0 <= at < first:
                if code.startswith(data[at:]):
                    first = at
                at = data.find(code[:1], at + 1)
        return len(data) - first

    def _may_begin(self, data: bytes, place: int) -> bool:
        """Whether all bytes from a place on spell the secret as far as they go."""
        for number, character in enumerate(self.characters):
            if BEGUN.match(data, place):
                return True
            match = character.match(data, place)
            if match is None and number and (broken := self.line_break.match(data, place)):
                place = broken.end()
                match = character.match(data, place)
            if match is None:
                return place == len(data)
            place = match.end()
        return False


@lru_cache(maxsize=64)
def _pattern(secret: str) -> SecretPattern:
    return SecretPattern(secret)


class Redactor:
    """Removes a secret from bytes that come in pieces.

    Bytes are held back only if the secret may have begun in them, so that a stream is not delayed; fewer than
    `held_from` of them pass, so that not every word is held back that ends like the secret begins.
    """

    def __init__(self, secret: str | None, held_from: int = 1) -> None:
        self._secret = _pattern(secret or "")
        self._held_from = held_from
        self._tail = b""
        self._passed = 0
        """How much of the tail was passed on already."""

    def feed(self, chunk: bytes) -> bytes:
        if not self._secret.characters:
            return chunk
        data, passed = self._tail + chunk, self._passed
        out: list[bytes] = []
        at = passed
        for start, end in self._secret.places(data):
            if end > at:
                out += [data[at:start], REDACTED] if start >= at or not out else []
                at = end
        keep = min(self._secret.overlap(data), len(data) - at if out else len(data))
        start = len(data) - keep
        is_held = keep >= self._held_from
        out.append(data[at : max(at, start)] if is_held else data[at:])
        self._tail, self._passed = data[start:], max(0, passed - start) if is_held else keep
        return b"".join(out)

    def end(self) -> bytes:
        rest = self._tail[self._passed :]
        self._tail, self._passed = b"", 0
        return rest

    @property
    def holds(self) -> bool:
        return len(self._tail) > self._passed

    def whole(self, body: bytes) -> bytes:
        """A body that is there as a whole."""
        return self.feed(body) + self.end()

    def text(self, text: str) -> str:
        """A text that is there as a whole."""
        data = text.encode("utf-8", "surrogatepass")
        if not self._secret.characters or not self._secret.places(data):
            return text
        return self._secret.without(data).decode("utf-8", "surrogatepass")


# -- events

LONGEST_EVENT = 1 << 20
MOST_TEXTS = 256
HELD_FROM = 3
"""Characters of a text that are held back: nearly every text ends now and then like a key begins, with one or two."""
Path = tuple[str | int, ...]


class EventRedactor:
    """Removes a secret that is split over the events of a stream.

    The text at each place of an event's JSON goes on in the next one. What may be the secret's beginning waits, and
    comes with the next event that has a text there; where none has, in an event of its own.
    """

    def __init__(self, secret: str | None) -> None:
        self._secret = secret if secret and len(secret) >= SHORTEST_SECRET else None
        self._buffer = EventBuffer()
        self._texts: dict[Path, Redactor] = {}
        self._last: dict[Path, bytes] = {}

    def feed(self, chunk: bytes) -> bytes:
        if self._secret is None:
            return chunk
        out = [self._event(raw) for raw in self._buffer.feed(chunk)]
        if len(self._buffer) > LONGEST_EVENT:
            out.append(self._buffer.take())
        return b"".join(out)

    def end(self) -> bytes:
        rest = self._buffer.take()
        return b"".join([self._event(rest) if rest.strip() else rest, *self._waiting(())])

    def _event(self, raw: bytes) -> bytes:
        body = _data_of(raw)
        if body is None:
            return b"".join([*self._waiting(()), raw])
        changed, held = False, []
        places = list(_texts(body))
        waiting = self._waiting({path for path, *_ in places})
        for path, parent, name in places:
            text = parent[name].encode("utf-8", "surrogatepass")
            redactor = self._texts.setdefault(path, Redactor(self._secret, HELD_FROM))
            passed = redactor.feed(text)
            if passed != text:
                parent[name], changed = passed.decode("utf-8", "replace"), True
            if redactor.holds:
                held.append(path)
        out = _with_data(raw, body) if changed else raw
        for path in held:
            self._last[path] = out
        return b"".join([*waiting, out])

    def _waiting(self, present: set[Path] | tuple[()]) -> list[bytes]:
        """Events for texts that were held back, and have no place in the event to come."""
        out = []
        for path in [path for path in self._last if path not in present]:
            raw = self._last.pop(path)
            rest = self._texts[path].end().decode("utf-8", "replace")
            if rest and (body := _data_of(raw)) is not None:
                *above, name = path
                parent: Any = body
                for part in above:
                    parent = parent[part]
                parent[name] = rest
                out.append(_with_data(raw, body))
        return out


def _data_of(raw: bytes) -> dict[str, Any] | None:
    lines = [line[5:].strip() for line in raw.splitlines() if line.startswith(b"data:")]
    return as_object(b"\n".join(lines)) if lines else None


def _with_data(raw: bytes, body: dict[str, Any]) -> bytes:
    """An event with other data."""
    kept = [line for line in raw.splitlines() if line and not line.startswith(b"data:")]
    return b"\n".join([*kept, b"data: " + compact(body).encode("utf-8", "surrogatepass")]) + b"\n\n"


def _texts(body: dict[str, Any]) -> Iterator[tuple[Path, Any, str | int]]:
    """Where an event has texts: each one's path, what holds it, and under which name."""
    stack: list[tuple[Path, Any]] = [((), body)]
    found = 0
    while stack and found < MOST_TEXTS:
        path, value = stack.pop()
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in list(pairs):
            if isinstance(inner, str):
                found += 1
                yield (*path, name), value, name
            elif isinstance(inner, dict | list) and len(path) < 32:
                stack.append(((*path, name), inner))
