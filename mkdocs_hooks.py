"""What the pages in docs/ say in GitHub's Markdown and the site's generator says otherwise."""

from __future__ import annotations

import re
from typing import Any

FILE = re.compile(r"^```(\w+) (\S+)$", re.MULTILINE)
"""An example of a file, with its name behind the language."""


def on_page_markdown(markdown: str, **_: Any) -> str:
    return FILE.sub(r'```\1 title="\2"', markdown)
