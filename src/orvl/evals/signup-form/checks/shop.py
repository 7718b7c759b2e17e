"""The server, asked by itself."""

import http.client
import json
import random

from orvl import checks

START, PATIENCE = 60.0, 30.0


class Wrong(Exception):
    """What is not as it should be, in a sentence."""


class Hopeless(Wrong):
    """Why nothing more can be asked of a server."""


class Answer:
    def __init__(self, status, text):
        self.status, self.text = status, text
        try:
            self.said = json.loads(text)
        except (ValueError, RecursionError):
            self.said = None

    def __repr__(self):
        return f"{self.status} {self.text[:200]}"

    @property
    def member(self):
        number = self.said.get("member") if isinstance(self.said, dict) else None
        return number if type(number) is int else None

    @property
    def codes(self):
        """Pairs of a field and a code, as a set."""
        errors = self.said.get("errors") if isinstance(self.said, dict) else None
        rows = errors if isinstance(errors, list) else []
        return {(str(row.get("field")), str(row.get("code"))) for row in rows if isinstance(row, dict)}


class Shop:
    """`node server.js` on a port of its own, with the members that are in the workspace."""

    def __init__(self):
        self.port = random.SystemRandom().randrange(20_000, 30_000)
        self.is_open = False

    def open(self):
        if self.is_open:
            return
        checks.start("node", "server.js", "--port", str(self.port), "--dev")
        self.is_open = True
        try:
            checks.connect(self.port, wait=START).close()
        except checks.CheckError as error:
            raise Hopeless(f"the server cannot be started: {error}") from error

    def close(self):
        if self.is_open:
            self.is_open = False
            checks.stop()

    def get(self, path):
        return self._at_once([("GET", path, b"")])[0]

    def post(self, path, body):
        return self.post_at_once(path, [body])[0]

    def post_at_once(self, path, bodies):
        """All in the same moment, each by a connection of its own."""
        written = [body if isinstance(body, bytes) else json.dumps(body).encode() for body in bodies]
        return self._at_once([("POST", path, body) for body in written])

    def sign_up(self, body):
        return self.post("/api/signups", body)

    def _at_once(self, calls):
        self.open()
        phones = []
        try:
            for _ in calls:
                phones.append(checks.connect(self.port, wait=PATIENCE))
                phones[-1].settimeout(PATIENCE)
            for phone, call in zip(phones, calls):
                phone.sendall(spelled(*call))
            return [received(phone, call[0]) for phone, call in zip(phones, calls)]
        except (OSError, http.client.HTTPException, checks.CheckError) as error:
            raise Wrong(f"no answer: {error!r}") from error
        finally:
            for phone in phones:
                phone.close()


def spelled(method, path, body):
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
    about = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if method == "POST" else ""
    return (head + about + "\r\n").encode() + body


def received(phone, method):
    response = http.client.HTTPResponse(phone, method=method)
    response.begin()
    return Answer(response.status, response.read(1 << 20).decode("utf-8", "replace"))


def expect(is_so, said):
    if not is_so:
        raise Wrong(said)


def tried(cases):
    """Of each case, what is wrong with it. A case gets the shop."""
    shop, wrong = Shop(), {}
    hopeless = None
    for case in cases:
        try:
            if hopeless:
                raise hopeless
            case(shop)
            wrong[case.__name__] = ""
        except Wrong as error:
            wrong[case.__name__] = str(error)
            hopeless = error if isinstance(error, Hopeless) else None
    shop.close()
    return wrong
