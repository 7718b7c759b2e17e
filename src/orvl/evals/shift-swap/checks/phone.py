"""The server that is checked, and the phones that talk to it."""

import http.client
import json
import random
import time

from orvl import checks

LONGEST_ANSWER = 4 << 20
START, PATIENCE = 60.0, 30.0
"""Seconds for a server to start, and for an answer."""
SHUT = "did not open"
"""Said of a server that runs and takes no call, after all that patience; one that has ended is known at once."""
KEPT = 2.0
"""Seconds for which a connection that the server keeps open is used again; it must be free to close one some time."""
MOST_SILENCES = 2
"""So often a server may leave a phone without any answer; nobody waits for it any longer then."""


class Wrong(Exception):
    """What is not as it should be, in a sentence."""


class Hopeless(Exception):
    """Why nothing more can be asked of a server."""


class Answer:
    def __init__(self, status, data=None, text="", is_kept=False):
        self.status, self.data, self.text = status, data, text
        self.is_kept = is_kept
        """Whether more can be asked on the same connection. Not where something was refused that may be unread."""

    def __repr__(self):
        return f"{self.status} {self.text[:160]}"


class Call:
    """One request of a phone."""

    def __init__(self, method, path, who=None, now=None, body=None, headers=()):
        self.method, self.path = method, path
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        self.has_body = body is not None
        rows = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(content)}"]
        rows += [] if body is None else ["Content-Type: application/json"]
        rows += [] if who is None else [f"X-Staff: {who}"]
        rows += [] if now is None else [f"X-Now: {now}"]
        rows += [f"{name}: {value}" for name, value in headers]
        self.content = "\r\n".join([*rows, "", ""]).encode() + content
        self._words = f"{method} {path} of {who} at {now}" + ("" if body is None else f" with {body!r:.120}")

    def __repr__(self):
        return self._words


class Server:
    """`python3 server.py` on a database, on another port each time that it is started."""

    def __init__(self, database):
        self.database = database
        self._port = None
        self._silences = 0
        self._idle = []
        """Connections that are still open, and until when they are used again."""

    def start(self):
        self._port = random.SystemRandom().randrange(20_000, 30_000)
        checks.start("python3", "server.py", "--port", str(self._port), "--db", self.database)
        try:
            checks.connect(self._port, wait=START).close()
        except checks.CheckError as error:
            raise Hopeless(f"The server cannot be started: {error}") from error

    def stop(self):
        """Pulls the plug."""
        if self._port is not None:
            self._port = None
            checks.stop()
            for phone, _ in self._idle:
                phone.close()
            self._idle = []

    def restart(self):
        self.stop()
        self.start()

    def connect(self):
        try:
            connection = checks.connect(self._port, wait=PATIENCE)
        except checks.CheckError as error:
            sentence = f"no connection to the server: {error}"
            raise (self._silence(sentence) if SHUT in sentence else Wrong(sentence)) from error
        connection.settimeout(PATIENCE)
        return connection

    def ask(self, call):
        return self.ask_at_once([call])[0]

    def ask_at_once(self, calls):
        """Sends each request from a phone of its own, all in the same moment."""
        phones, kept = [self._phone() for _ in calls], []
        try:
            for phone, call in zip(phones, calls):
                send(phone, call)
            answers = [receive(phone, call) for phone, call in zip(phones, calls)]
            kept = [phone for phone, answer in zip(phones, answers) if answer.is_kept]
            return answers
        except TimeoutError as error:
            raise self._silence(f"no answer within {PATIENCE:g} s to {calls}") from error
        finally:
            self._idle += [(phone, time.monotonic() + KEPT) for phone in kept]
            for phone in phones:
                if phone not in kept:
                    phone.close()

    def _phone(self):
        """A connection that was used a moment ago, or a new one."""
        while self._idle:
            phone, until = self._idle.pop()
            if time.monotonic() < until:
                return phone
            phone.close()
        return self.connect()

    def _silence(self, sentence):
        self._silences += 1
        return Wrong(sentence) if self._silences < MOST_SILENCES else Hopeless(sentence)


def send(phone, call, share=1.0):
    """Sends a request, or only the beginning of one."""
    try:
        phone.sendall(call.content[: int(len(call.content) * share)])
    except OSError as error:
        raise Wrong(f"{call} could not be sent: {error}") from error


def receive(phone, call):
    """The answer to a request that was sent; a phone that waits too long has a TimeoutError."""
    try:
        response = http.client.HTTPResponse(phone, method=call.method)
        response.begin()
        content = response.read(LONGEST_ANSWER)
    except TimeoutError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Wrong(f"no answer to {call}: {error!r}") from error
    text = content.decode("utf-8", "replace")
    is_read = response.status < 400 or not call.has_body
    is_kept = is_read and not response.will_close and not response.chunked
    try:
        return Answer(response.status, json.loads(content), text, is_kept)
    except (ValueError, RecursionError):
        return Answer(response.status, None, text, is_kept)
