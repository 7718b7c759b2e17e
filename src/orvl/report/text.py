"""Text from agents, made safe for terminals and spreadsheets; times and money for people."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

CONTROLS = [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0))]
NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


def plain(text: str, *, lines: bool = False) -> str:
    """Text without control characters, escape sequences or marks that turn the writing direction.

    An agent's output has millions of signs: controls are replaced one kind after the other, and of the rest only
    stretches that hold something unprintable are looked at sign by sign.
    """
    if text.isprintable():
        return text
    for sign in CONTROLS:
        if sign in text and sign != "\t" and not (sign == "\n" and lines):
            text = text.replace(sign, _shown(sign))
    return text if text.isascii() else NOT_ASCII.sub(_shown_stretch, text)


def _shown_stretch(found: re.Match[str]) -> str:
    stretch = found[0]
    return stretch if stretch.isprintable() else "".join(map(_shown, stretch))


@lru_cache(maxsize=4096)
def _shown(sign: str) -> str:
    if "\ud800" <= sign <= "\udfff":
        return f"\\x{ord(sign) & 0xFF:02x}"
    if unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{ord(sign):04x}" if ord(sign) > 0xFF else f"\\x{ord(sign):02x}"
    return sign


UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""What moves the cursor, changes the terminal, turns the writing direction, or cannot be seen."""


def escaped(text: str) -> str:
    """Any text for a terminal; what is unsafe is written as in JSON, so that JSON stays JSON."""
    return UNSAFE.sub(_json_escape, text.replace("\r\n", "\n"))


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def no_formula(value: Any) -> Any:
    """A value for a spreadsheet: text from agents must not become a formula."""
    return "'" + value if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def seconds(value: float) -> str:
    """A length of time as a person says it."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 120:
        return f"{value:.0f} s"
    minutes = value / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def dollars(value: float | None) -> str:
    """Money; unknown is said, never shown as 0."""
    if value is None:
        return "unknown"
    if value == 0:
        return "$0"
    return f"${value:.2f}" if value >= 1 else f"${value:.4f}"


def known_usage(usage: Mapping[str, Any]) -> dict[str, Any]:
    """A usage as reports give it: how the time was spent, and that it is a bound, only where that is known."""
    optional = ("model_seconds", "tools_seconds", "own_seconds", "waiting_seconds", "is_bound")
    unknown = [name for name in optional if usage.get(name) is None or usage[name] is False]
    return {name: value for name, value in usage.items() if name not in unknown}
