"""A request, as handlers see it."""

import json
from functools import cached_property
from http.cookies import CookieError, SimpleCookie

from pinion.errors import abort
from pinion.headers import Headers
from pinion.multidict import MultiDict

MOST_BYTES = 8 << 20


class Request:
    """`values` are the parts of the path; `user`, `session` and the like are hung on by the application."""

    def __init__(self, environ):
        self.environ = environ
        self.method = environ.get("REQUEST_METHOD", "GET").upper()
        # WSGI hands paths over as Latin-1, whatever was in them.
        self.path = environ.get("PATH_INFO", "/").encode("latin-1", "replace").decode("utf-8", "replace") or "/"
        self.query = environ.get("QUERY_STRING", "")
        self.headers = Headers.from_environ(environ)
        self.values = {}
        self.rule = None
        self.extra = {}

    @cached_property
    def args(self):
        return MultiDict.parse(self.query)

    @cached_property
    def cookies(self):
        jar = SimpleCookie()
        try:
            jar.load(self.headers.get("Cookie", ""))
        except CookieError:
            return {}
        return {name: morsel.value for name, morsel in jar.items()}

    @cached_property
    def body(self):
        try:
            length = int(self.environ.get("CONTENT_LENGTH") or 0)
        except ValueError:
            abort(400, "Content-Length is no number.")
        if length > MOST_BYTES:
            abort(413, "That is too long.")
        return self.environ["wsgi.input"].read(length) if length > 0 else b""

    @cached_property
    def form(self):
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if kind not in ("", "application/x-www-form-urlencoded"):
            return MultiDict()
        return MultiDict.parse(self.body.decode("utf-8", "replace"))

    @cached_property
    def json(self):
        """The body as JSON; anything else is refused with 400."""
        try:
            return json.loads(self.body or b"null")
        except (ValueError, RecursionError):
            abort(400, "The body is no JSON.")

    def json_object(self):
        """The body as a JSON object."""
        if not isinstance(self.json, dict):
            abort(400, "The body must be a JSON object.")
        return self.json

    @property
    def full_path(self):
        """The path with its query, as it was asked for."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def wants_json(self):
        return self.path.startswith("/api/") or self.path.endswith(".json")

    @property
    def remote(self):
        return self.environ.get("REMOTE_ADDR", "-")
