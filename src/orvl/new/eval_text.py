"""An eval's file as text: front matter that YAML reads as it was meant, and prompts that stay what they are."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from orvl.project.wordings import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLAIN = re.compile(r"[A-Za-z][\w./$-]*( [\w./$=-]+)*", re.ASCII)
"""Texts that need no quotes, also in the braces of a check."""
NO_TEXT = re.compile(r"(y|n|yes|no|true|false|on|off|null|nan|inf)", re.IGNORECASE)


def eval_text(settings: Mapping[str, Any], prompts: Sequence[str], comments: Sequence[str] = ()) -> str:
    """Front matter with a key a line, comments that only its author sees, and the turns."""
    lines = ["---", *(f"# {line}".rstrip() for comment in comments for line in comment.splitlines())]
    for key, value in settings.items():
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            lines += [f"{key}:", *(f"  - {_flow(one)}" for one in value)]
        else:
            lines.append(f"{key}: {_flow(value)}")
    return "\n".join([*lines, "---", "\n---\n".join(map(_turn, prompts))]) + "\n"


def _turn(prompt: str) -> str:
    """A prompt whose lines separate nothing."""
    return "\n".join(map(escaped, prompt.replace("\r\n", "\n").strip("\n").split("\n")))


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, str) and PLAIN.fullmatch(value) and not NO_TEXT.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())
