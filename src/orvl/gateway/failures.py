"""What a provider's failure means: whether a retry may help, and which other calls would fail too."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from orvl.gateway.wire.values import as_object, mapping, objects, string

LONGEST_MESSAGE = 400
TAGS = re.compile(r"<(?:script|style)\b.*?</|<[^>]*>", re.DOTALL | re.IGNORECASE)
Scope = Literal["call", "model", "provider"]
KEY_WORDS = ("api key not valid", "api_key_invalid", "invalid api key", "incorrect api key", "invalid x-api-key")
MONEY_WORDS = ("insufficient_quota", "exceeded your current quota", "credit balance", "billing", "insufficient balance")
RETRY_DELAY = re.compile(rb'"retryDelay"\s*:\s*"(\d{1,6}(?:\.\d{1,9})?)s"')


@dataclass(frozen=True)
class CallFailure:
    """A provider's failure. `scope` says what else would fail: only this call, all of the model, or all of it."""

    message: str
    retry_call: bool
    """Whether trying the call again may help."""
    scope: Scope = "call"
    status: int | None = None
    retry_after: float | None = None
    """Seconds to wait, if the provider said so."""
    retry_run: bool = False
    """Whether trying the whole run again may help, where trying the call again does not."""

    @property
    def is_rate_limit(self) -> bool:
        return self.status == 429 and self.retry_call


def failure_of(status: int, body: bytes, headers: Mapping[str, str]) -> CallFailure | None:
    """What an error answer means; None for the agent's own mistake, such as a request that is too long."""
    message = error_message(body)
    sentence = f"{status} {message}" if message else f"status {status}"
    low = (message + " " + body[:4096].decode("utf-8", "replace")).lower()
    is_about_key = any(words in low for words in KEY_WORDS)
    is_about_money = any(words in low for words in MONEY_WORDS)
    if 300 <= status < 400:
        location = _lower(headers).get("location", "nowhere")
        return CallFailure(f"{status} it redirects to {location}", False, "provider", status)
    if status in (401, 402) or (status in (400, 403) and (is_about_key or is_about_money)):
        return CallFailure(sentence, False, "provider", status)
    if status in (403, 404):
        return CallFailure(sentence, False, "model", status)
    # Some providers send 429 for an empty account, too, which no waiting fills.
    if status == 429 and is_about_money and "rate limit" not in low:
        return CallFailure(sentence, False, "provider", status)
    if status in (408, 409, 425, 429) or status >= 500:
        return CallFailure(sentence, True, "call", status, retry_after(headers, body))
    return None


def error_message(body: bytes) -> str:
    """The provider's own words in the body of an error, on one line."""
    content: Any = as_object(body)
    if content is None and body.lstrip().startswith(b"["):
        listed = as_object(b'{"list": ' + body + b"}")
        content = next(iter(objects(mapping(listed).get("list"))), None)
    if content is None:
        text = TAGS.sub(" ", body[:4000].decode("utf-8", "replace"))
    else:
        error = content.get("error")
        inner = mapping(error)
        places = (inner.get("message"), error, content.get("message"), content.get("detail"), inner.get("type"))
        text = next((words for place in places if (words := string(place))), "")
    return " ".join(text.split())[:LONGEST_MESSAGE]


def retry_after(headers: Mapping[str, str], body: bytes = b"") -> float | None:
    """Seconds to wait, from a Retry-After header in any of its forms, or from the retryDelay of Google's errors."""
    low = _lower(headers)
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = low.get(name, "").strip()
        if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", value):
            return float(value) * scale
        if value and name == "retry-after":
            try:
                return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
            except (ValueError, TypeError, OverflowError):
                pass
    # Google's OpenAI-compatible endpoints send it as well, so every format's errors are searched.
    delay = RETRY_DELAY.search(body[:65536])
    return float(delay[1]) if delay else None


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
