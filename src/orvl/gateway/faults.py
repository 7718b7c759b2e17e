"""What a provider's failure means: whether trying again helps, and whom else it concerns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from orvl.gateway.wire.values import as_object, mapping, objects, string

LONGEST_WORDS = 400
TAGS = re.compile(r"<(?:script|style)\b.*?</|<[^>]*>", re.DOTALL | re.IGNORECASE)
Scope = Literal["call", "model", "provider"]
KEY_WORDS = ("api key not valid", "api_key_invalid", "invalid api key", "incorrect api key", "invalid x-api-key")
MONEY_WORDS = ("insufficient_quota", "exceeded your current quota", "credit balance", "billing", "insufficient balance")


@dataclass(frozen=True)
class Trouble:
    """A provider's failure. `scope` says whom it stops: this call's run alone, all of the model, or all of it."""

    words: str
    helps: bool
    """Whether trying the call again may help."""
    scope: Scope = "call"
    status: int | None = None
    after: float | None = None
    """Seconds to wait, if the provider said so."""
    again: bool = False
    """Whether trying the whole run again may help, where trying the call again does not."""

    @property
    def is_rate_limit(self) -> bool:
        return self.status == 429 and self.helps


def trouble_of(status: int, body: bytes, headers: Mapping[str, str]) -> Trouble | None:
    """What an error answer means; None for one that is the agent's own matter, such as a request that is too long."""
    said = said_in(body)
    sentence = f"{status} {said}" if said else f"status {status}"
    low = (said + " " + body[:4096].decode("utf-8", "replace")).lower()
    has_no_key = any(part in low for part in KEY_WORDS)
    has_no_money = any(part in low for part in MONEY_WORDS)
    if 300 <= status < 400:
        low_headers = {name.lower(): value for name, value in headers.items()}
        return Trouble(f"{status} it redirects to {low_headers.get('location', 'nowhere')}", False, "provider", status)
    if status in (401, 402) or (status in (400, 403) and (has_no_key or has_no_money)):
        return Trouble(sentence, False, "provider", status)
    if status in (403, 404):
        return Trouble(sentence, False, "model", status)
    if status == 429 and has_no_money and "rate limit" not in low:
        return Trouble(sentence, False, "provider", status)
    if status in (408, 409, 425, 429) or status >= 500:
        return Trouble(sentence, True, "call", status, wait_told(headers, body))
    return None


def said_in(body: bytes) -> str:
    """The provider's own words in an error's body, on one line."""
    told: Any = as_object(body)
    if told is None and body.lstrip().startswith(b"["):
        told = as_object(b'{"list": ' + body + b"}")
        told = next(iter(objects(mapping(told).get("list"))), None)
    text = ""
    if told is not None:
        error = told.get("error")
        inner = mapping(error)
        text = (
            string(inner.get("message"))
            or string(error)
            or string(told.get("message"))
            or string(told.get("detail"))
            or string(inner.get("type"))
            or ""
        )
    else:
        text = TAGS.sub(" ", body[:4000].decode("utf-8", "replace"))
    return " ".join(text.split())[:LONGEST_WORDS]


def wait_told(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Seconds to wait, from Retry-After in either form, or from Gemini's retryDelay."""
    import time

    low = {name.lower(): value for name, value in headers.items()}
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = low.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            return float(value) * scale
        if value and name == "retry-after":
            try:
                return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
            except (ValueError, TypeError, OverflowError):
                pass
    delay = re.search(rb'"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"', body[:65536])
    return float(delay[1]) if delay else None
