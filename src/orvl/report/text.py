"""Text from agents, made safe for terminals and spreadsheets; times and money for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any


def plain(text: str, *, lines: bool = False) -> str:
    """Text without control characters, escape sequences or marks that turn the writing direction."""
    return "".join(_shown(sign, lines) for sign in text)


def _shown(sign: str, lines: bool) -> str:
    if sign == "\t" or (sign == "\n" and lines):
        return sign
    if "\ud800" <= sign <= "\udfff":
        return f"\\x{ord(sign) & 0xFF:02x}"
    if unicodedata.category(sign) in ("Cc", "Cf", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{ord(sign):04x}" if ord(sign) > 0xFF else f"\\x{ord(sign):02x}"
    return sign


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
    return {name: value for name, value in usage.items() if name not in optional or value not in (None, False)}
