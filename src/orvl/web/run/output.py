"""What the agent printed, turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.turns import turn_names
from orvl.web.html import join, tag
from orvl.web.show import fitting, link, long_text

if TYPE_CHECKING:
    from orvl.web.html import Child, Html
    from orvl.web.run.asked import RunAsked


def part(run: RunAsked) -> Child:
    turns = run.last.attempt.turns
    streams = [
        (number, name, stream, blob)
        for number, (name, turn) in enumerate(zip(turn_names(turns), turns, strict=True), 1)
        for stream, blob in (("stdout", turn.stdout), ("stderr", turn.stderr))
        if blob
    ]
    if not streams:
        return None
    share = run.share(streams)
    shown, more = fitting((_stream(run, *one, share) for one in streams), run.most)
    return [shown, tag("p", f"{count(more, 'more text')}: orvl show {run.details.key[:12]} --output") if more else None]


def _stream(run: RunAsked, number: int, name: str, stream: str, blob: str, most: int) -> Html:
    raw = run.raw(stream, number)
    return join(tag("h3", f"Turn {name}, {stream} ", link("whole", raw)), long_text(run.text_of(blob), raw, most))
