"""A client for tests: calls the application without a server, and keeps cookies as a browser does."""

import io
import json
from urllib.parse import quote, urlencode


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    @property
    def json(self):
        return json.loads(self.body)

    def header(self, name):
        return next((value for have, value in self.headers if have.lower() == name.lower()), None)

    def __repr__(self):
        return f"<Answer {self.status} {self.text[:80]!r}>"


class Client:
    def __init__(self, app, headers=None):
        self.app = app
        self.headers = dict(headers or {})
        self.cookies = {}

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, form=None, **more):
        return self.ask("POST", path, form=form, **more)

    def ask(self, method, path, form=None, data=None, body=None, headers=None):
        kind, content = "", body or b""
        if form is not None:
            kind, content = "application/x-www-form-urlencoded", urlencode(form).encode()
        elif data is not None:
            kind, content = "application/json", json.dumps(data).encode()
        path, _, query = path.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path.encode().decode("latin-1"),
            "QUERY_STRING": quote(query, safe="=&%+"),
            "CONTENT_LENGTH": str(len(content)),
            "CONTENT_TYPE": kind,
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.input": io.BytesIO(content),
        }
        for name, value in {**self.headers, **(headers or {})}.items():
            environ["HTTP_" + name.upper().replace("-", "_")] = value
        if self.cookies:
            environ["HTTP_COOKIE"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return self._called(environ)

    def _called(self, environ):
        seen = {}

        def start_response(status, headers):
            seen["status"], seen["headers"] = int(status.split()[0]), headers

        body = b"".join(self.app(environ, start_response))
        for name, value in seen["headers"]:
            if name.lower() == "set-cookie":
                self._keep(value)
        return Answer(seen["status"], seen["headers"], body)

    def _keep(self, cookie):
        name, _, value = cookie.partition(";")[0].partition("=")
        if value:
            self.cookies[name] = value
        else:
            self.cookies.pop(name, None)
