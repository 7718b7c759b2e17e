"""What `orvl show` says of each attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.run import attempt_lines
from orvl.web.html import join, tag
from orvl.web.show import fitting, folded, link, long_text

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked


def facts(run: RunAsked) -> Child:
    """Where there are several attempts, each has a page."""
    provider, every = run.details.cell.provider, run.shown.attempts
    texts = ["\n".join(attempt_lines(one, provider, is_last=one is every[-1])).strip() for one in every]
    shown, more = fitting(
        (
            join(_attempt_link(run, one.position) if len(every) > 1 else None, long_text(text, most=run.share(every)))
            for one, text in zip(every, texts, strict=True)
        ),
        run.most,
    )
    rest = tag("p", f"{count(more, 'more attempt')}: orvl show {run.details.key[:12]}") if more else None
    return folded([tag("h2", "Facts"), f" {count(len(texts), 'attempt')}"], shown, rest)


def _attempt_link(run: RunAsked, position: int) -> Child:
    address = run.asked.links.run(run.details.key, words={"attempt": str(position)})
    return tag("p", link(f"Attempt {position} alone", address)) if address else None
