"""What is taken out of an answer while it passes: secrets, and what only orvl asked for."""

from __future__ import annotations

import json
from urllib.parse import quote

from orvl.gateway.answer import Held, as_object

SHORTEST_SECRET = 6
LONGEST_USAGE = 64 << 10
REDACTED = "[redacted]"


class Redactor:
    """Takes a secret out of bytes that come in pieces; holds bytes back only where a secret may have begun."""

    def __init__(self, secret: str | None) -> None:
        self._texts = _ways_to_write(secret) if secret and len(secret) >= SHORTEST_SECRET else ()
        self._secrets = [text.encode() for text in self._texts]
        self._held = b""

    def feed(self, chunk: bytes) -> bytes:
        if not self._secrets:
            return chunk
        data = self._held + chunk
        for secret in self._secrets:
            data = data.replace(secret, REDACTED.encode())
        keep = max(_overlap(data, secret) for secret in self._secrets)
        self._held = data[len(data) - keep :]
        return data[: len(data) - keep]

    def end(self) -> bytes:
        held, self._held = self._held, b""
        return held

    def text(self, text: str) -> str:
        for secret in self._texts:
            text = text.replace(secret, REDACTED)
        return text


def _ways_to_write(secret: str) -> tuple[str, ...]:
    """A secret as it is, and as JSON and addresses write it; the longest first."""
    ways = {secret, json.dumps(secret)[1:-1], secret.replace("/", "\\/"), quote(secret, safe="")}
    return tuple(sorted(ways, key=len, reverse=True))


def _overlap(data: bytes, secret: bytes) -> int:
    """How many bytes at the end may be the beginning of a secret."""
    longest = min(len(secret) - 1, len(data))
    first = data.find(secret[:1], len(data) - longest) if longest else -1
    while first >= 0:
        if secret.startswith(data[first:]):
            return len(data) - first
        first = data.find(secret[:1], first + 1)
    return 0


class WithoutUsage:
    """A stream of chat completions without the event that tells only usage, for agents that did not ask for it."""

    def __init__(self) -> None:
        self._held = Held()
        self._is_another = False
        """Whether the event under way is surely not the one to take out."""

    def feed(self, chunk: bytes) -> bytes:
        passed = []
        for event in self._held.feed(chunk):
            if self._is_another or not _tells_only_usage(event):
                passed.append(event)
            self._is_another = False
        if len(self._held) > LONGEST_USAGE:
            self._is_another = True
            passed.append(self._held.take(but=3))
        return b"".join(passed)

    def end(self) -> bytes:
        held = self._held.take()
        return held if self._is_another or not _tells_only_usage(held) else b""


def _tells_only_usage(event: bytes) -> bool:
    if b'"usage"' not in event or b'"choices"' not in event:
        return False
    body = as_object(event.strip().removeprefix(b"data:"))
    return body is not None and body.get("choices") == [] and bool(body.get("usage"))
