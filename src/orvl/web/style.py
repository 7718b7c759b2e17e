"""The one style sheet."""

from __future__ import annotations

from importlib.resources import files


def style() -> str:
    return (files("orvl.web") / "static" / "orvl.css").read_text(encoding="utf-8")
