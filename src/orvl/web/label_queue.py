"""The runs that a person labels one after another, as they were when she began.

Which runs chance has drawn depends on that: a queue that is made anew after each label would draw others.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from orvl.trust.labels import Asked

MOST = 16
"""Queues that are kept; who has begun more has left the first."""


@dataclass(frozen=True)
class LabelQueue:
    """Runs without names, and the token without which no form about them is heeded."""

    runs: Sequence[Asked]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16), repr=False)

    def is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def run(self, number: int) -> Asked:
        return self.runs[number - 1]


class LabelQueues:
    """Of one viewer, by who labels and which runs."""

    def __init__(self) -> None:
        self._queues: dict[Hashable, LabelQueue] = {}
        self._lock = threading.Lock()

    def begin(self, key: Hashable, runs: Sequence[Asked]) -> LabelQueue:
        queue = LabelQueue(runs)
        with self._lock:
            self._queues.pop(key, None)
            self._queues[key] = queue
            while len(self._queues) > MOST:
                del self._queues[next(iter(self._queues))]
        return queue

    def get(self, key: Hashable) -> LabelQueue:
        with self._lock:
            queue = self._queues.get(key)
        if queue is None:
            raise UserError("These questions are from an earlier start, and nothing was stored. Start again: /label")
        return queue
