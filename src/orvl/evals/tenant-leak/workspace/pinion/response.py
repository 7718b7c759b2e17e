"""Answers."""

import json

from pinion.errors import REASONS
from pinion.headers import Headers

OTHER_REASONS = {200: "OK", 201: "Created", 202: "Accepted", 204: "No Content", 302: "Found", 303: "See Other"}


class Response:
    def __init__(self, body=b"", status=200, kind="text/html; charset=utf-8", headers=()):
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = Headers(headers)
        if kind and "Content-Type" not in self.headers:
            self.headers.set("Content-Type", kind)

    def set_cookie(self, name, value, path="/", max_age=None, http_only=True, same_site="Lax"):
        parts = [f"{name}={value}", f"Path={path}"]
        if max_age is not None:
            parts.append(f"Max-Age={int(max_age)}")
        if http_only:
            parts.append("HttpOnly")
        if same_site:
            parts.append(f"SameSite={same_site}")
        self.headers.add("Set-Cookie", "; ".join(parts))

    def drop_cookie(self, name, path="/"):
        self.set_cookie(name, "", path=path, max_age=0)

    def __call__(self, environ, start_response):
        reason = OTHER_REASONS.get(self.status) or REASONS.get(self.status, "Unknown")
        self.headers.set("Content-Length", len(self.body))
        start_response(f"{self.status} {reason}", self.headers.items())
        return [] if environ.get("REQUEST_METHOD") == "HEAD" else [self.body]


def json_response(data, status=200, headers=()):
    return Response(json.dumps(data, ensure_ascii=False) + "\n", status, "application/json", headers)


def text_response(text, status=200, kind="text/plain; charset=utf-8", headers=()):
    return Response(text, status, kind, headers)


def redirect(where, status=303):
    return Response(b"", status, "text/plain", [("Location", where)])
