"""Texts of people as Python."""

from __future__ import annotations


def quoted(text: str) -> str:
    """A string, in double quotes as formatters like them."""
    return f'"{text}"' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)


def docstring(text: str) -> str:
    """The first line of a file."""
    return f'"""{text}"""' if text.isprintable() and not set(text) & {'"', "\\"} else repr(text)
