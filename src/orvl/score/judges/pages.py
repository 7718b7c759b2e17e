"""What the browser found, as text for a judge."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orvl.capture.browser.result import Look

MOST = 40
LONGEST_TREE = 8000
LONGEST_TEXT = 4000
LONGEST_LINE = 300


def page_text(page: Look | None, *, plain: bool) -> list[str]:
    """Steps, errors, defects and the accessibility tree; in the plain view without the page's own sentences."""
    if page is None:
        return []
    lines = [f"The browser's look: {page.status}" + (f" ({page.reason})" if page.reason else "")]
    for step in page.steps:
        word = "not tried" if step.passed is None else "passed" if step.passed else "failed"
        why = _unless(plain, f" ({step.reason})") if step.reason else ""
        lines.append(f"step:{step.number} {step.step}: {word}{why}")
    for view in page.views:
        lines.append(f"{view.name}: " + ("loaded" if view.loaded else f"did not load ({view.reason})"))
    told = [f"{note.kind} ({note.view}){_unless(plain, f': {note.text}')}" for note in page.notes]
    for one in page.defects or ():
        told.append(f"defect, {one.kind} ({one.view}){_unless(plain, f': {one.target} {one.detail}')}")
    told += [f"accessibility, {one.impact}: {one.help} ({one.count} times)" for one in page.axe or ()]
    lines += told[:MOST]
    if len(told) > MOST:
        lines.append(f"and {len(told) - MOST} more such lines")
    parts = ["# What a browser found\n" + "\n".join(lines)]
    if page.tree:
        lines = page.tree[:LONGEST_TREE].split("\n")
        tree = "\n".join(_role(line) if plain else line[:LONGEST_LINE] for line in lines)
        parts.append("# The accessibility tree of the page\n" + tree)
    if page.hidden_text and not plain:
        parts.append("# Text of the page that cannot be seen\n" + page.hidden_text[:LONGEST_TEXT])
    return parts


def _unless(plain: bool, text: str) -> str:
    return "" if plain else text.replace("\n", " ")[:LONGEST_LINE]


def _role(line: str) -> str:
    """A line of the tree without what the page says there."""
    found = re.match(r"\s*- [a-z]+", line)
    return found[0] if found else ""
