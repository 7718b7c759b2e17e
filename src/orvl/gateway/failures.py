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
CODE = re.compile(r"[\w.:/-]{1,80}")
KEY_CODES = {"invalid_api_key", "api_key_invalid", "authentication_error", "unauthenticated", "api_key_service_blocked"}
MONEY_CODES = {
    *("insufficient_quota", "billing_error", "billing_not_active", "billing_hard_limit_reached", "payment_required"),
    *("insufficient_balance", "insufficient_credits", "insufficient_funds", "credits_exhausted", "account_deactivated"),
    *("exceeded_current_quota_error", "billing_disabled"),
}
ACCOUNT_WORDS = ("api key", "credit", "billing", "quota", "balance", "payment")
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
    by_request: bool = False
    """Whether the request itself is the cause: the provider answers orvl's own question meanwhile."""

    @property
    def is_rate_limit(self) -> bool:
        return self.status == 429 and self.retry_call


def failure_of(status: int, body: bytes, headers: Mapping[str, str]) -> CallFailure | None:
    """What an error answer means; None for the agent's own mistake, such as a request that is too long.

    Only the status and the error's codes count. Its words may repeat what the agent wrote.
    """
    message = error_message(body)
    sentence = f"{status} {message}" if message else f"status {status}"
    codes = error_codes(body)
    is_about_account = bool(codes & (KEY_CODES | MONEY_CODES))
    if 300 <= status < 400:
        location = _lower(headers).get("location", "nowhere")[:LONGEST_MESSAGE]
        return CallFailure(f"{status} it redirects to {location}", False, "provider", status)
    if status in (401, 402) or (status in (400, 403) and is_about_account):
        return CallFailure(sentence, False, "provider", status)
    if status in (403, 404):
        return CallFailure(sentence, False, "model", status)
    # Some providers send 429 for an empty account, too, which no waiting fills.
    if status == 429 and codes & MONEY_CODES:
        return CallFailure(sentence, False, "provider", status)
    if status in (408, 409, 425, 429) or status >= 500:
        return CallFailure(sentence, True, "call", status, retry_after(headers, body))
    return None


def is_about_account(words: str) -> bool:
    """Whether a refusal speaks of a key or of credit, as where it has only the code of a mistake in the request.

    Where an agent had a part in the request, the words may be its own: they are then no more than a reason to ask
    the provider itself.
    """
    low = words.lower()
    return any(part in low for part in ACCOUNT_WORDS)


def error_codes(body: bytes) -> set[str]:
    """The codes in the body of an error, in lower case: what a program is meant to read, as opposed to a person."""
    content = _content(body) or {}
    error = mapping(content.get("error"))
    places = [error.get("type"), error.get("code"), error.get("status"), content.get("code"), content.get("type")]
    places += [detail.get("reason") for detail in objects(error.get("details"))]
    return {place.lower() for place in places if isinstance(place, str) and CODE.fullmatch(place)}


def _content(body: bytes) -> Any:
    """The body of an error as an object; of a list, as Gemini sends it, the first one."""
    content = as_object(body)
    if content is None and body.lstrip().startswith(b"["):
        listed = as_object(b'{"list": ' + body + b"}")
        return next(iter(objects(mapping(listed).get("list"))), None)
    return content


def error_message(body: bytes) -> str:
    """The provider's own words in the body of an error, on one line."""
    content = _content(body)
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
