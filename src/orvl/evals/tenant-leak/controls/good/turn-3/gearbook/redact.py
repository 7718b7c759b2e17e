"""What opens a door, and what is written in its place: docs/security.md."""

import re

INSTEAD = "[redacted]"
HEADERS = ("authorization", "proxy-authorization", "cookie", "x-api-key", "x-signature")
"""Headers that are secrets as a whole."""
PLACES = re.compile(r"(?P<before>/status/|\b(?:key|token)=)[^/?&#;\s]+", re.IGNORECASE)
"""Where secrets are in addresses, which come in headers, too."""


def address(text):
    """An address without the secrets in it."""
    return PLACES.sub(lambda found: found["before"] + INSTEAD, text)


def headers(pairs):
    """All headers by name, without secrets."""
    return {name: INSTEAD if name.lower() in HEADERS else address(value) for name, value in pairs}
