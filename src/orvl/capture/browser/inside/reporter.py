"""Results as lines of JSON, written at once; pictures are in base64.

The app may write to the same output: each line is numbered and signed with a key that only orvl and the driver know.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from typing import Any

MOST_BYTES = 40 << 20
MOST_NOTES = 100
LONGEST_TEXT = 500


class Reporter:
    """Writes results within bounds, and knows how much time is left."""

    def __init__(self, seconds: float, key: str, patience: float) -> None:
        self.began, self.patience = time.monotonic(), patience
        self.ends = self._stage_ends = self.began + seconds
        self._key, self._number = key.encode(), 0
        self.stage = "the browser was starting"
        self.notes: list[tuple[str, str]] = []
        self._left = MOST_BYTES
        self._out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", errors="replace")

    def left(self, most: float = 1e9) -> float:
        """Seconds until the deadline of the current stage, at most `most` of a look that is not patient."""
        return max(0.05, min(most * self.patience, self.ends - time.monotonic(), self._stage_ends - time.monotonic()))

    def begin(self, seconds: float) -> float:
        """Starts a stage and returns the seconds that it may take."""
        self._stage_ends = self.ends
        self._stage_ends = min(self.ends, time.monotonic() + seconds)
        return self.left()

    def emit(self, kind: str, **data: Any) -> None:
        line = json.dumps({"kind": kind, **data})
        if len(line) <= self._left:
            self._left -= len(line)
            self._number += 1
            signed = f"{self._number} {line}"
            self._out.write(f"{hmac.new(self._key, signed.encode(), hashlib.sha256).hexdigest()} {signed}\n")
            self._out.flush()

    def note(self, view: str, kind: str, text: str, at: str = "") -> None:
        """Something that happened on a page; the first hundred of a kind are written."""
        self.notes.append((view, kind))
        if self.notes.count((view, kind)) <= MOST_NOTES:
            self.emit("note", note={"view": view, "kind": kind, "text": text[:LONGEST_TEXT], "at": at[:LONGEST_TEXT]})
        else:
            self.notes.pop()

    def shot(self, name: str, png: bytes, *, plain: bool = False) -> None:
        self.emit("shot", name=name, plain=plain, png=base64.b64encode(png).decode("ascii"))
