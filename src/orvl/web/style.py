"""The one style sheet, and the one script."""

from __future__ import annotations

from importlib.resources import files


def style() -> str:
    return _static("orvl.css")


def script() -> str:
    return _static("orvl.js")


def _static(name: str) -> str:
    return (files("orvl.web") / "static" / name).read_text(encoding="utf-8")
