"""What checks put into the work: the inputs of their requests, each as the pieces that it is made of."""

from __future__ import annotations

import base64
import json
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from orvl.trust.vetting.known_text import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orvl.trust.vetting.bench import Exchange

Input = tuple[str, ...]
INTERPRETER = re.compile(r"(.*/)?(python[\d.]*|node|sh|bash|perl|ruby|go|deno|bun|env|npx|npm)")
CODE_FLAGS = ("-c", "-e", "--eval")
TYPED = re.compile(r"type (.+?) into .+")
# A connection that is used again has the next request right behind the body of the last one.
REQUEST = re.compile(rb"(?:^|(?<=[}\]\"]))[A-Z]{3,7} (\S+) HTTP/1\.[01]\r?\n", re.MULTILINE)
MOST_PIECES = 2000


def inputs_of(exchanges: Iterable[Exchange]) -> set[Input]:
    """All inputs of these exchanges, each once; calls without any are none."""
    return {pieces for one in exchanges for pieces in _inputs(one) if pieces}


def _inputs(exchange: Exchange) -> Iterator[Input]:
    request = exchange.request
    what = request.get("do")
    if what in ("run", "start"):
        words = tuple(word for word in arguments(request) if word)
        stdin = decoded(request.get("input"))
        items = listed(stdin)
        if items is None:
            yield (*words, *((stdin,) if stdin else ()))
        else:
            yield from ((*words, *leaves(item)) for item in items)
    elif what == "write":
        yield (decoded(request.get("content")),)
    elif what == "connect":
        yield from spoken(bytes(request.get("sent", b"")))
    elif what == "browse":
        typed = [TYPED.fullmatch(str(step)) for step in request.get("steps", ())]
        yield from ((match[1],) for match in typed if match)


def arguments(request: Any) -> list[str]:
    """The words of a command that are no program, no script and no code."""
    words = [str(word) for word in request.get("argv", ())]
    if not words:
        return []
    is_interpreted, words = bool(INTERPRETER.fullmatch(words[0])), words[1:]
    while is_interpreted and words:
        first = words.pop(0)
        if first in CODE_FLAGS:
            return words[1:]
        if not first.startswith("-"):
            return words
        if first == "-X":
            words = words[1:]
    return words


def code_in(request: Any) -> str:
    """The code that a command brings along for its interpreter."""
    words = [str(word) for word in request.get("argv", ())]
    at = next((place for place, word in enumerate(words) if word in CODE_FLAGS), None)
    return words[at + 1] if at is not None and at + 1 < len(words) else ""


def decoded(content: Any) -> str:
    try:
        raw = base64.b64decode(str(content or ""))
    except ValueError:
        return ""
    text = readable(raw)
    return raw.decode("utf-8", "replace") if text is None else text


def listed(text: str) -> list[Any] | None:
    """The items of a JSON list; None where a text is none."""
    if not text.lstrip().startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def leaves(value: Any) -> Input:
    """The texts and numbers in a JSON value, in order; keys are no inputs."""
    found: list[str] = []
    waiting = [value]
    while waiting and len(found) < MOST_PIECES:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting.extend(reversed(one.values()))
        elif isinstance(one, list):
            waiting.extend(reversed(one))
        elif isinstance(one, str | int | float) and not isinstance(one, bool) and str(one):
            found.append(str(one))
    return tuple(found)


def requests_in(sent: bytes) -> Iterator[tuple[str, str]]:
    """The target and the body of each request of a connection."""
    matches = list(REQUEST.finditer(sent))
    for match, later in zip_longest(matches, matches[1:]):
        end = later.start() if later else len(sent)
        body = sent[match.start() : end].partition(b"\r\n\r\n")[2]
        yield match[1].decode("ascii", "replace"), body.decode("utf-8", "replace")


def spoken(sent: bytes) -> Iterator[Input]:
    """The requests of a connection: their targets and bodies; what is no HTTP is one input."""
    requests = list(requests_in(sent))
    if not requests:
        yield (sent.decode("utf-8", "replace"),)
        return
    for target, body in requests:
        try:
            pieces = leaves(json.loads(body)) if body else ()
        except (ValueError, RecursionError):
            pieces = (body,)
        yield (target, *pieces)
