"""Removes a secret from answers while they pass, in every form in which a provider may write it.

Character by character it may be plain or escaped, in any mix: as in JSON, URLs, HTML, CSS, source code and mails, and
broken over lines. The same goes for its base64, at any place of a longer text, and its hexadecimal digits; its bytes
may be a list of numbers. In a stream it may be cut anywhere, also over several events.
"""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from html.entities import html5
from itertools import compress
from typing import TYPE_CHECKING, Any

from orvl.errors import ChildFailed
from orvl.gateway.wire.sse import EventBuffer
from orvl.gateway.wire.values import as_object, compact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orvl.worker import DeadlineWorker

SHORTEST_SECRET = 6
LARGEST_HERE = 32 << 10
"""Bytes that take orvl's own process a few hundredths of a second at most, whatever they say."""
SECONDS, SECONDS_A_MEBIBYTE = 10.0, 3.0
HEAD = 10
LONGEST_UNIT = 32
"""Bytes that one character may take, with what it is parted from the next one."""
REDACTED = b"[redacted]"
PLACEHOLDERS = frozenset(
    ["ollama", "lm-studio", "lmstudio", "vllm", "llama.cpp", "sk-no-key-required", "no-key-required", "not-needed"]
)
"""What servers that want no key are given as one. They are words of ordinary texts, and no secrets."""
SLASHES = r"\\\\{0,15}+"
"""Doubled each time that a JSON text is put into another."""
UNSEEN = (
    r"\xc2\xad|\xe2\x80[\x8b-\x8d]|\xe2\x81\xa0|\xef\xbb\xbf"
    rf"|{SLASHES}u(?:00[aA][dD]|200[b-dB-D]|2060|[fF][eE][fF]{{2}})"
)
LINE = rf"(?:{SLASHES}r)?{SLASHES}n[ \t]{{0,8}}|[=\\]?\r?\n[ \t]{{0,8}}"
BREAK = rf"(?:\x00{{1,3}}|\x1b\[[0-9;]{{0,8}}m|{UNSEEN}|{LINE})?"
"""Where a secret may be broken: over lines, real or escaped ones, by what cannot be seen, by the zeros of UTF-16."""
HEX_BREAK = rf"(?:{LINE}|[ :,-]{{1,2}}(?:0[xX])?|0[xX])?"
NUMBER_BREAK = r"(?:[ \t\r\n]|\\\\{0,7}[nrt]){0,16},(?:[ \t\r\n]|\\\\{0,7}[nrt]){0,16}"
BEGUN = (
    r"(?:\\{1,16}(?:u(?:\{[0-9a-fA-F]{0,6}|[0-9a-fA-F]{0,3})|U[0-9a-fA-F]{0,7}|x[0-9a-fA-F]?|[0-9a-fA-F]{1,6}|r\\{0,16})?"
    r"|%(?:25){0,3}(?:[0-9a-fA-F]|u[0-9a-fA-F]{0,3})?|=[0-9a-fA-F]?\r?|&[#\w;]{0,20}|\r|\x1b(?:\[[0-9;]{0,8})?"
    r"|\xe2\x80?|\xe2\x81|\xef\xbb?|\xc2)\Z"
)
"""An escape of which the end is missing."""
HEX_BEGUN = r"(?:\\{1,16}(?:r\\{0,16})?|=?\r|=|[ :,-]{0,2}0[xX]?)\Z"
NUMBER_BEGUN = r"(?:[0-9]{1,2}|(?:[ \t\r\n]|\\{1,16}[nrt]){0,16}\\{0,16})\Z"


@cache
def _entities() -> dict[str, list[str]]:
    """The names that HTML has for single characters."""
    names: dict[str, list[str]] = {}
    for name, text in html5.items():
        if len(text) == 1 and name.endswith(";"):
            names.setdefault(text, []).append(name[:-1])
    return names


def _digits(code: str) -> str:
    """Hexadecimal digits in either case."""
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in code)


@cache
def _spelling(character: str) -> str:
    """A pattern of all the ways to write an ASCII character. Each begins with one literal, which is found fast."""
    code = ord(character)
    digits = _digits(f"{code:02x}")
    escaped = [rf"u(?:00{digits}|\{{0{{0,4}}{digits}\}})", f"U000000{digits}", f"x{digits}", f"0?{code:03o}"]
    escaped += [f"0{{0,4}}{digits} ?"] + ([] if character.isalnum() else [re.escape(character)])
    ways = [f"{SLASHES}(?:{'|'.join(escaped)})"]
    ways.append(rf"&(?:amp;){{0,2}}#(?:0{{0,6}}{code}(?:;|(?![0-9]))|[xX]0{{0,6}}{digits}(?:;|(?![0-9a-fA-F])))")
    ways += [rf"%(?:25){{0,3}}(?:{digits}|u00{digits})", f"={digits}"]
    if names := _entities().get(character):
        ways.append(f"&(?:amp;)?(?:{'|'.join(names)});")
    return f"(?:{'|'.join([*ways, re.escape(character)])})"


@cache
def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


class Form:
    """One way to write a secret: patterns one after another, and what may part each from the one before it.

    Long keys make long patterns, which take seconds to compile. So only the first units are searched for as one
    pattern; the others are matched one by one where these are found.
    """

    def __init__(self, first: str, units: list[str], breaks: list[str], begun: str = BEGUN) -> None:
        steps = list(zip(["", *breaks], units, strict=True))
        self.steps = [(_compiled(parted), _compiled(unit)) for parted, unit in steps]
        self.begun = _compiled(begun)
        """What is the beginning of a unit or of a break."""
        self.head = re.compile("".join(map("".join, steps[:HEAD])).encode())
        self.first = re.compile(f"[{first}]".encode())
        second = "|".join([r"\Z", begun, f"{breaks[0]}(?:{begun}|{units[1]}|\\Z)"])
        self.start = re.compile(f"(?:{begun})|{units[0]}(?:{second})".encode())
        self.longest = LONGEST_UNIT * len(units)

    def places(self, data: bytes) -> Iterator[tuple[int, int]]:
        at = 0
        while head := self.head.search(data, at):
            end = self._end(data, head.end())
            at = end or head.start() + 1
            if end:
                yield head.start(), end

    def _end(self, data: bytes, place: int) -> int | None:
        """Where the secret ends of which the first units end at a place."""
        for parted, unit in self.steps[HEAD:]:
            between = parted.match(data, place)
            match = unit.match(data, place) or (between and unit.match(data, between.end()))
            if match is None:
                return None
            place = match.end()
        return place

    def begins_at(self, data: bytes) -> int:
        """From where on the last bytes may be its beginning; the end where none are."""
        for match in self.first.finditer(data, max(0, len(data) - self.longest)):
            place = match.start()
            if self.start.match(data, place) and self._may_begin(data, place):
                return place
        return len(data)

    def _may_begin(self, data: bytes, place: int) -> bool:
        """Whether all bytes from a place on spell the secret as far as they go."""
        for parted, unit in self.steps:
            if place == len(data) or self.begun.match(data, place):
                return True
            match = unit.match(data, place)
            if match is None and (between := parted.match(data, place)):
                place = between.end()
                if place == len(data) or self.begun.match(data, place):
                    return True
                match = unit.match(data, place)
            if match is None:
                return False
            place = match.end()
        return False


def _forms(secret: str) -> Iterator[Form]:
    yield _spelled(secret)
    data = secret.encode()
    for before in range(3):
        # The first and last characters also depend on what stands around the secret, so they are left out.
        code = base64.b64encode(bytes(before) + data)[(0, 2, 3)[before] :]
        code = code[: (len(data) + before) * 8 // 6 - (0, 2, 3)[before]]
        yield _spelled(code.decode())
        if code != (in_urls := code.translate(bytes.maketrans(b"+/", b"-_"))):
            yield _spelled(in_urls.decode())
    digits = [*map(_digits, data.hex())]
    yield Form(re.sub(r"[\[\]]", "", digits[0]), digits, ["", *[HEX_BREAK, ""] * (len(data) - 1)], HEX_BEGUN)
    yield Form(str(data[0])[0], [*map(str, data)], [NUMBER_BREAK] * (len(data) - 1), NUMBER_BEGUN)


def _spelled(text: str) -> Form:
    return Form(rf"\\%&={re.escape(text[0])}", [*map(_spelling, text)], [BREAK] * (len(text) - 1))


class SecretPattern:
    """A secret in all its forms; made once for each secret."""

    def __init__(self, secret: str) -> None:
        is_secret = len(secret) >= SHORTEST_SECRET and secret.lower() not in PLACEHOLDERS
        self.forms = list(_forms(secret)) if is_secret else []

    def places(self, data: bytes) -> list[tuple[int, int]]:
        """Where the secret stands, from left to right."""
        return sorted(place for form in self.forms for place in form.places(data))

    def overlap(self, data: bytes) -> int:
        """How many bytes at the end may be the beginning of the secret."""
        return len(data) - min(form.begins_at(data) for form in self.forms)


def _without(data: bytes, places: Iterable[tuple[int, int]]) -> bytes:
    """Bytes without what stands at some places."""
    out: list[bytes] = []
    at = 0
    for start, end in places:
        out += [data[at:start], REDACTED] if start >= at else []
        at = max(at, end)
    return b"".join([*out, data[at:]])


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
        if not self._secret.forms:
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
        if not self._secret.forms or not (places := self._secret.places(data)):
            return text
        return _without(data, places).decode("utf-8", "surrogatepass")


# -- events

LONGEST_EVENT = 1 << 20
MOST_TEXTS = 256
MOST_PLACES = 4096
HELD_FROM = 3
"""Characters of a text that are held back: nearly every text ends now and then like a key begins, with one or two."""
NUMBERS = ("index", "output_index", "item_id", "content_index", "summary_index")
"""How events say which of several answers, blocks or tool calls they go on with."""
ENDINGS = ("finish_reason", "finishReason", "stop_reason")
ENDING_TYPES = re.compile(r"_stop$|\.(?:done|completed|incomplete|failed)$|^error$")
Path = tuple[str | int, ...]


@dataclass(frozen=True)
class EventText:
    """A text in an event's JSON."""

    path: Path
    numbers: tuple[Any, ...]
    parent: Any
    name: str | int

    @property
    def place(self) -> tuple[Any, ...]:
        """The same for all pieces of one text, and for no other."""
        return (*self.path, self.numbers)

    @property
    def is_ending(self) -> bool:
        """Whether it says that a text is complete."""
        value = self.parent[self.name]
        return self.name in ENDINGS or (self.path == ("type",) and ENDING_TYPES.search(value) is not None)


class EventRedactor:
    """Removes a secret that is split over the events of a stream.

    The text at each place of an event's JSON goes on in a later one, whatever comes between: signs of life, or pieces
    of other texts. What may be the secret's beginning waits, and comes with the next piece; where there is none, in an
    event of its own before the one that says that the text is complete.
    """

    def __init__(self, secret: str | None) -> None:
        self._secret = secret if secret and _pattern(secret).forms else None
        self._buffer = EventBuffer()
        self._texts: dict[tuple[Any, ...], Redactor] = {}
        self._last: dict[tuple[Any, ...], tuple[EventText, bytes]] = {}
        """Of each text that is held back: where it is in the last event that had a piece of it."""

    def feed(self, chunk: bytes) -> bytes:
        if self._secret is None:
            return chunk
        out = [self._event(raw) for raw in self._buffer.feed(chunk)]
        if len(self._buffer) > LONGEST_EVENT:
            out.append(self._buffer.take())
        return b"".join(out)

    def end(self) -> bytes:
        rest = self._buffer.take()
        return b"".join([self._event(rest) if rest.strip() else rest, *self._completed([()], set())])

    def _event(self, raw: bytes) -> bytes:
        data = _data_of(raw)
        body = as_object(data) if data else None
        if body is None:
            # A comment says nothing; other data that is no object is `[DONE]`.
            return b"".join([*(self._completed([()], set()) if data else []), raw])
        changed, held = False, []
        texts = list(_texts(body))
        ended = [text.numbers for text in texts if text.is_ending]
        completed = self._completed(ended, {text.place for text in texts})
        for text in texts:
            piece = text.parent[text.name].encode("utf-8", "surrogatepass")
            redactor = self._texts.setdefault(text.place, Redactor(self._secret, HELD_FROM))
            passed = redactor.feed(piece)
            if any(text.numbers[: len(numbers)] == numbers for numbers in ended):
                passed += redactor.end()
            if passed != piece:
                text.parent[text.name], changed = passed.decode("utf-8", "replace"), True
            if redactor.holds:
                held.append(text)
        out = _with_data(raw, body) if changed else raw
        for text in held:
            self._last[text.place] = text, out
        if len(self._texts) > MOST_PLACES:
            self._texts = {place: redactor for place, redactor in self._texts.items() if place in self._last}
        return b"".join([*completed, out])

    def _completed(self, ended: list[tuple[Any, ...]], present: set[tuple[Any, ...]]) -> list[bytes]:
        """Events for texts that were held back, are complete, and have no piece in the event to come."""
        out = []
        for place, (text, raw) in list(self._last.items()):
            if place in present or not any(text.numbers[: len(numbers)] == numbers for numbers in ended):
                continue
            del self._last[place]
            rest = self._texts[place].end().decode("utf-8", "replace")
            data = _data_of(raw)
            if rest and data and (body := as_object(data)) is not None:
                parent: Any = body
                for part in text.path[:-1]:
                    parent = parent[part]
                parent[text.name] = rest
                out.append(_with_data(raw, body))
        return out


def _data_of(raw: bytes) -> bytes | None:
    lines = [line[5:].strip() for line in raw.splitlines() if line.startswith(b"data:")]
    return b"\n".join(lines) if lines else None


def _with_data(raw: bytes, body: dict[str, Any]) -> bytes:
    """An event with other data."""
    kept = [line for line in raw.splitlines() if line and not line.startswith(b"data:")]
    return b"\n".join([*kept, b"data: " + compact(body).encode("utf-8", "surrogatepass")]) + b"\n\n"


def _texts(body: dict[str, Any]) -> Iterator[EventText]:
    """The texts of an event."""
    stack: list[tuple[Path, tuple[Any, ...], Any]] = [((), (), body)]
    found = 0
    while stack and found < MOST_TEXTS:
        path, numbers, value = stack.pop()
        if isinstance(value, dict):
            numbers += tuple(value[name] for name in NUMBERS if isinstance(value.get(name), int | str))
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for name, inner in list(pairs):
            if isinstance(inner, str):
                found += 1
                yield EventText((*path, name), numbers, value, name)
            elif isinstance(inner, dict | list) and len(path) < 32:
                stack.append(((*path, name), numbers, inner))


# -- whole bodies


async def redacted_body(data: bytes, secret: str | None, worker: DeadlineWorker) -> bytes | None:
    """A body without the secret, also where that is split over its texts; None where that cannot be told in time."""
    if not secret or not _pattern(secret).forms:
        return data
    if len(data) <= LARGEST_HERE:
        return without_pieces(_without(data, _pattern(secret).places(data)), secret)
    seconds = SECONDS + SECONDS_A_MEBIBYTE * len(data) / (1 << 20)
    try:
        places = await worker.call(f"{__name__}:secret_places", data, secret, seconds=seconds)
    except ChildFailed:
        return None
    return None if places is None else _without(data, places)


def secret_places(data: bytes, secret: str) -> list[tuple[int, int]] | None:
    """In a worker: where a secret stands; None where it is in pieces, too."""
    places = _pattern(secret).places(data)
    rest = _without(data, places)
    return places if without_pieces(rest, secret) == rest else None


def without_pieces(data: bytes, secret: str) -> bytes:
    """A body without a secret whose pieces are in several of its texts: those of a list, under the same name."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return data
    found = [_cut_out(texts, _pattern(secret)) for texts in _alike(body) if len(texts) > 1]
    return compact(body).encode("utf-8", "surrogatepass") if any(found) else data


def _alike(body: Any) -> list[list[tuple[Any, str | int]]]:
    """The texts of a value that may go on in one another, in the order in which they are written."""
    groups: dict[Path, list[tuple[Any, str | int]]] = {}
    stack: list[tuple[Path, Any]] = [((), body)] if isinstance(body, dict | list) else []
    while stack:
        place, value = stack.pop()
        inner: list[tuple[Path, Any]] = []
        for name, child in value.items() if isinstance(value, dict) else enumerate(value):
            there = (*place, name) if isinstance(value, dict) else place
            if isinstance(child, str):
                groups.setdefault(there, []).append((value, name))
            elif isinstance(child, dict | list):
                inner.append((there, child))
        stack.extend(reversed(inner))
    return list(groups.values())


def _cut_out(texts: list[tuple[Any, str | int]], secret: SecretPattern) -> bool:
    """Takes a secret out of texts that it is split over; whether there was one."""
    pieces = [parent[name].encode("utf-8", "surrogatepass") for parent, name in texts]
    whole = b"".join(pieces)
    places = secret.places(whole)
    if not places:
        return False
    is_secret = bytearray(len(whole))
    for start, end in places:
        is_secret[start:end] = b"\1" * (end - start)
    at = 0
    for (parent, name), piece in zip(texts, pieces, strict=True):
        kept = bytes(compress(piece, (not one for one in is_secret[at : at + len(piece)])))
        if len(kept) < len(piece):
            parent[name] = kept.decode("utf-8", "replace") + REDACTED.decode()
        at += len(piece)
    return True
