"""What a browser and linters found out about a run, in lines."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.capture.browser.result import Look
    from orvl.capture.captured_run import Inspections

MOST = 12


def found_lines(finds: Inspections) -> Iterator[str]:
    """The linters' report first, then the browser's."""
    if finds.lint:
        lines = finds.lint.lines()
        yield from (f"lint: {line}" for line in lines[:MOST])
        if len(lines) > MOST:
            yield f"lint: and {len(lines) - MOST} more lines; see --json"
    if finds.page:
        yield from _page_lines(finds.page)


def _page_lines(page: Look) -> Iterator[str]:
    yield f"page: {page.status}" + (f": {page.reason}" if page.reason else "")
    if page.app and not page.app.started and page.app.output.strip():
        yield f"  the app said: {page.app.output.strip().splitlines()[-1][:160]}"
    for step in page.steps:
        word = "not tried" if step.passed is None else "passed" if step.passed else "failed"
        why = (step.reason or "").removeprefix("not tried: ")
        yield f"  step {step.number}, {step.step}: {word}" + (f": {why}" if why else "")
    told = Counter(f"{note.kind}: {note.text}" for note in page.notes)
    told.update(f"{defect.kind}: {defect.target} {defect.detail}".rstrip() for defect in page.defects or ())
    told.update({f"accessibility, {one.impact}: {one.help}": len(one.views) for one in page.axe or ()})
    for line, views in told.most_common(MOST):
        yield f"  {line[:160]}" + (f" ({views} times)" if views > 1 else "")
    if len(told) > MOST:
        yield f"  and {len(told) - MOST} more; see --json"
    names = ", ".join(shot.name for shot in page.shots if not shot.plain)
    if names:
        yield f"  screenshots, by --shot NAME: {names}"
