"""What an agent said last, short and clean enough to stand beside how it ended.

The words are the agent's own: they are shown to people, and never decide anything.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.sandbox import ProcessResult

LOOKED_AT = 16 << 10
"""Bytes at the end of each stream."""
MOST_LINES, MOST_CHARACTERS = 6, 400
ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_].*?(?:\x07|\x1b\\|$)|[ -/]*[0-~])", re.DOTALL)
CONTROL = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]")
FRAME = re.compile(
    r'at .*[:)\]>]\S*$|File ".*", line \d+|Traceback \(most recent call last\):$|\[Previous line repeated|[~^ ]+$'
    r"|Node\.js v\d\S*$"
)
"""Lines of a traceback, which say where something broke but not what."""
PYTHON_FRAME = re.compile(r'^[ \t]*File "[^\n]*", line \d+[^\n]*\n(?:[ \t]{4,}[^\n]*(?:\n|\Z)){0,3}', re.MULTILINE)
"""A frame of a Python traceback with the code that it shows."""
LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|ghp|gho|xox[abp]|AIza|AKIA|key|hf|gsk|xai)[-_][\w-]{12,}"
    r"|(?i:\b(?:bearer|basic)\s+|\b\w*(?:api_?key|token|secret|password)\w*[\"']?\s*[=:]\s*[\"']?)[\w+/.~-]{8,}=*"
)
REDACTED = "[redacted]"


def last_words(result: ProcessResult, redact: Callable[[str], str] = str) -> str:
    """The last lines on standard error, or on standard output where there are none; '' for a silent agent."""
    for stream in (result.stderr, result.stdout):
        if words := _lines(stream.tail(LOOKED_AT).decode("utf-8", "replace"), redact):
            return words
    return ""


def _lines(text: str, redact: Callable[[str], str]) -> str:
    text = LOOKS_SECRET.sub(REDACTED, redact(ESCAPE_SEQUENCE.sub("", text))).replace("\r", "\n")
    lines = [" ".join(CONTROL.sub(" ", line).split()) for line in PYTHON_FRAME.sub("", text).split("\n")]
    said = [line for line in lines if line and not FRAME.match(line)][-MOST_LINES:]
    words = " | ".join(said)
    return words if len(words) <= MOST_CHARACTERS else f"…{words[-MOST_CHARACTERS:]}"
