"""What the agent printed, turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.web.html import join, tag
from orvl.web.show import fitting, link, long_text

if TYPE_CHECKING:
    from orvl.web.html import Child, Html
    from orvl.web.run.asked import RunAsked


def part(run: RunAsked) -> Child:
    streams = [
        (number, stream, blob)
        for number, turn in enumerate(run.last.attempt.turns, 1)
        for stream, blob in (("stdout", turn.stdout), ("stderr", turn.stderr))
        if blob
    ]
    if not streams:
        return None
    share = run.share(streams)
    shown, more = fitting((_stream(run, *one, share) for one in streams), run.most)
    return [shown, tag("p", f"{count(more, 'more text')}: orvl show {run.details.key[:12]} --output") if more else None]


def _stream(run: RunAsked, turn: int, stream: str, blob: str, most: int) -> Html:
    raw = run.raw(stream, turn)
    return join(tag("h3", f"Turn {turn}, {stream} ", link("whole", raw)), long_text(run.text_of(blob), raw, most))
