"""The parts of a run's page: one file a part."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked

PARTS = {
    "verdicts": "Judges",
    "checks": "Checks",
    "curves": "Code by turn",
    "steps": "Conversation",
    "diff": "Diff",
    "files": "Files",
    "page": "Page",
    "calls": "Model calls",
    "output": "Output",
}
"""The file of each, and its heading."""


def part(name: str, run: RunAsked) -> Child:
    """None where the run has no such part."""
    return cast("Child", import_module(f"orvl.web.run.{name}").part(run))
