"""All headers of all requests, around the application: `serve --log-headers`. Secrets stay out: docs/security.md."""

import json
import re
import threading
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from gearbook import clock
from pinion.headers import Headers

SECRET = re.compile("auth|cookie|key|token|signature|secret", re.IGNORECASE)
HIDDEN = "[redacted]"


def around(app, path):
    lock = threading.Lock()

    def logged(environ, start_response):
        def begin(status, headers, *more):
            with lock, open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry(environ, status)) + "\n")
            return start_response(status, headers, *more)

        return app(environ, begin)

    return logged


def entry(environ, status):
    query = environ.get("QUERY_STRING")
    headers = {name: _shown(name, value) for name, value in Headers.from_environ(environ)}
    return {
        "at": clock.now(),
        "method": environ["REQUEST_METHOD"],
        "path": _address(environ["PATH_INFO"] + (f"?{query}" if query else "")),
        "status": int(status[:3]),
        "headers": headers,
    }


def _shown(name, value):
    if SECRET.search(name):
        return HIDDEN
    return _address(value) if "/" in value and ("?" in value or "/status/" in value) else value


def _address(text):
    parts = urlsplit(text)
    path = re.sub("(?<=/status/).*", HIDDEN, parts.path)
    if not any(SECRET.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True)):
        return urlunsplit(parts._replace(path=path))
    pairs = [(name, HIDDEN if SECRET.search(name) else value) for name, value in parse_qsl(parts.query)]
    return urlunsplit(parts._replace(path=path, query=urlencode(pairs)))
