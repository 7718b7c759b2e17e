"""Who may read, and what a browser may do with an answer.

Agents' output is hostile, other web sites can make a browser ask any port of this machine, and machines are shared.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""No script at all, no style but the viewer's own file, nothing from elsewhere, and no page around it."""
RAW_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LIVE_POLICY = f"{POLICY}; script-src 'self'; connect-src 'self'"
"""Of the one page whose numbers move: the viewer's own script, which may only write texts, and its own stream."""
Access = Literal["reading", "writing", "live"]
OF_ACCESS = {
    "reading": {"Content-Security-Policy": POLICY},
    # Under no-referrer, a browser hides the origin of a form from the server that it came from, too.
    "writing": {"Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin"},
    "live": {"Content-Security-Policy": LIVE_POLICY},
}
"""Headers of a page, by what may be done on it."""
WRITES = "/label"
"""The only address that takes answers."""
FROM_HERE = ("same-origin", "none")
TOKEN = "token"


def picture_policy(css: str) -> str:
    """Of a picture with its style inside: no other style, nothing runs and nothing is loaded."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; sandbox; frame-ancestors 'none'"


@dataclass(frozen=True)
class Refusal:
    """Why a request gets no page. From another site, a person may `go_on` to the address by a click."""

    status: HTTPStatus
    sentence: str
    go_on: bool = False


WITHOUT_TOKEN = Refusal(
    HTTPStatus.FORBIDDEN, "Open the address that `orvl view` printed: it carries a token, and reading needs it."
)


@dataclass(frozen=True)
class Guard:
    """Knows its own address and the token that whoever started the viewer has."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    @property
    def cookie(self) -> str:
        """Cookies do not know ports: two viewers need two names."""
        return f"orvl-{self.port}"

    def is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def refusal(self, method: str, headers: Mapping[str, str], cookies: Mapping[str, str]) -> Refusal | None:
        """Why a request is not answered; None where it may be."""
        if wrong := self.foreign(method, headers):
            return wrong
        site = headers.get("Sec-Fetch-Site")
        if site is not None and site not in FROM_HERE:
            is_link = headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
            return Refusal(HTTPStatus.FORBIDDEN, "This link came from another site.", go_on=is_link)
        scheme, _, bearer = headers.get("Authorization", "").partition(" ")
        if self.is_token(cookies.get(self.cookie)) or (scheme.lower() == "bearer" and self.is_token(bearer)):
            return None
        return WITHOUT_TOKEN

    def writing_refusal(self, path: str, headers: Mapping[str, str], cookies: Mapping[str, str]) -> Refusal | None:
        """Why nothing is written. Only a browser that shows our own page says all of this, and no program needs to."""
        if path != WRITES:
            return self.foreign("POST", headers)
        if wrong := self.foreign("GET", headers):
            return wrong
        if headers.get("Origin") != self.origin or headers.get("Sec-Fetch-Site") != "same-origin":
            return Refusal(HTTPStatus.FORBIDDEN, f"Answers are only taken from the page {self.origin}{WRITES}.")
        return None if self.is_token(cookies.get(self.cookie)) else WITHOUT_TOKEN

    def foreign(self, method: str, headers: Mapping[str, str]) -> Refusal | None:
        """What no request of ours has, with or without the token."""
        if method not in ("GET", "HEAD"):
            return Refusal(HTTPStatus.METHOD_NOT_ALLOWED, "This address only reads: GET and HEAD.")
        if headers.get("Host") != self.host:
            # A name that its owner has pointed at this machine makes another site's script same-origin with us.
            return Refusal(HTTPStatus.MISDIRECTED_REQUEST, f"This viewer is at {self.origin} only.")
        if headers.get("Origin", self.origin) != self.origin:
            return Refusal(HTTPStatus.FORBIDDEN, "Another origin may not read this.")
        return None
