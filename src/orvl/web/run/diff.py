"""What the agent changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.web.show import diff_text

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked


def part(run: RunAsked) -> Child:
    text = run.capture.diff if run.capture else ""
    return diff_text(text, run.raw("diff"), run.most) if text else None
