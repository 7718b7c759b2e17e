"""Text put into files where it does no harm: comments on top, markup at the end of a page."""

from __future__ import annotations

import re

from orvl.trust.mutate.syntax import language_of

COMMENTS = {
    "python": "# {}\n",
    "html": "<!-- {} -->\n",
    "css": "/* {} */\n",
    **dict.fromkeys(("javascript", "typescript", "tsx"), "// {}\n"),
}


def on_top(path: str, content: bytes, text: str) -> bytes:
    """Puts a text at the head of a file, below a shebang, encoding or doctype."""
    first = (
        rb"(#!.*\n)?(#.*coding[:=].*\n)?" if language_of(path) == "python" else rb"(#!.*\n)?(\s*<!doctype[^>]*>\n?)?"
    )
    found = re.match(rb"(?:\xef\xbb\xbf)?" + first, content, re.IGNORECASE)
    at = found.end() if found else 0
    return content[:at] + text.encode() + content[at:]


def in_body(page: bytes, markup: str) -> bytes:
    """Puts markup at the end of a page's body."""
    found = list(re.finditer(rb"</body\s*>|</html\s*>", page, re.IGNORECASE))
    at = found[0].start() if found else len(page)
    return page[:at] + markup.encode() + page[at:]
