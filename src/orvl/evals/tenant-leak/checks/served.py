"""The server that is checked, on data that are made up, and the people and programs that talk to it."""

import http.client
import json
import random
import re
import sqlite3
from urllib.parse import quote, urlencode

from orvl import checks

LONGEST_ANSWER = 8 << 20
START, PATIENCE = 60.0, 30.0
"""Seconds for a server to start, and for an answer."""
MOST_SILENCES = 2
"""So often the server may give no answer at all; nobody waits for it any longer then."""
UNRESERVED = "/?&=%+-._~!$'()*,;:@"


class Wrong(Exception):
    """What is not as it should be, in a sentence."""


class Hopeless(Exception):
    """Why nothing more can be asked of the server."""


class Answer:
    def __init__(self, status, headers, content):
        self.status, self.headers, self.content = status, headers, content
        self.text = content.decode("utf-8", "replace")

    @property
    def is_fine(self):
        return 200 <= self.status < 400

    @property
    def data(self):
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return None

    def header(self, name):
        return next((value for have, value in self.headers if have.lower() == name.lower()), None)

    @property
    def everything(self):
        return (self.text + " ".join(f"{name}: {value}" for name, value in self.headers)).lower()

    def __repr__(self):
        return f"{self.status} {self.text[:160]!r}"


class Server:
    """`python3 manage.py serve` on a data folder, which is loaded from a fixture first."""

    def __init__(self, world, folder):
        self.world, self.folder = world, folder
        self.output = b""
        self._port = None
        self._silences = 0
        self._mails = {}

    def load(self):
        checks.write(f"{self.folder}.json", json.dumps(self.world.fixture(), ensure_ascii=False))
        ended = checks.run("python3", "manage.py", "--data", self.folder, "load", f"{self.folder}.json", seconds=START)
        if ended.status != 0:
            raise Hopeless(f"manage.py load ended with {ended!r}")

    def start(self, *flags):
        self._port = random.SystemRandom().randrange(20_000, 30_000)
        words = ("python3", "manage.py", "--data", self.folder, "serve", "--port", str(self._port), *flags)
        checks.start(*words)
        try:
            checks.connect(self._port, wait=START).close()
        except checks.CheckError as error:
            self.stop()
            raise Hopeless(f"{' '.join(words)} does not serve: {error}; {self.output[-300:]!r}") from error

    def stop(self):
        if self._port is not None:
            self._port = None
            ended = checks.stop()
            self.output += ended.stdout_bytes + ended.stderr_bytes

    def ask(self, method, path, headers=(), body=b""):
        words = f"{method} {path}"
        try:
            connection = checks.connect(self._port, wait=PATIENCE)
        except checks.CheckError as error:
            raise self._silence(f"{words}: no connection: {error}") from error
        with connection:
            connection.settimeout(PATIENCE)
            rows = [f"{method} {quote(path, safe=UNRESERVED)} HTTP/1.0", f"Host: 127.0.0.1:{self._port}"]
            rows += [f"{name}: {value}" for name, value in headers]
            rows += [f"Content-Length: {len(body)}"] if body or method in ("POST", "PUT", "PATCH") else []
            try:
                connection.sendall("\r\n".join([*rows, "", ""]).encode() + body)
                response = http.client.HTTPResponse(connection, method=method)
                response.begin()
                return Answer(response.status, response.getheaders(), response.read(LONGEST_ANSWER))
            except TimeoutError as error:
                raise self._silence(f"{words}: no answer within {PATIENCE:g} s") from error
            except (OSError, http.client.HTTPException, ValueError) as error:
                raise Wrong(f"{words}: no answer: {error!r}") from error

    def _silence(self, sentence):
        self._silences += 1
        return Wrong(sentence) if self._silences < MOST_SILENCES else Hopeless(sentence)

    # -- what it writes

    def change_database(self, sql, *values):
        """Before the start, in the database that was loaded; False where it cannot be done in this way any more."""
        path = f"{self.folder}/gearbook.db"
        content = bytearray(checks.read(path) or b"")
        content[18:20] = b"\x01\x01"  # Not as a database with a log beside it, which cannot be opened in memory.
        database = sqlite3.connect(":memory:")
        try:
            database.deserialize(bytes(content))
            with database:
                database.execute(sql, values)
            checks.write(path, database.serialize())
            return True
        except sqlite3.Error:
            return False
        finally:
            database.close()

    def file(self, path):
        return (checks.read(f"{self.folder}/{path}") or b"").decode("utf-8", "replace")

    def mails_to(self, address):
        """The texts of mails to somebody, the oldest first."""
        for path in checks.files():
            if path.startswith(f"{self.folder}/outbox/") and path not in self._mails:
                self._mails[path] = (checks.read(path) or b"").decode("utf-8", "replace")
        texts = [text for _, text in sorted(self._mails.items())]
        return [text for text in texts if re.search(rf"^To: *{re.escape(address)}\s*$", text, re.M | re.I)]


class Somebody:
    """A person with a session, a program with a token, or nobody."""

    def __init__(self, server, name, headers=()):
        self.server, self.name, self.headers = server, name, tuple(headers)

    def __repr__(self):
        return self.name

    def ask(self, method, path, form=None, data=None, body=b"", headers=()):
        kind = ()
        if form is not None:
            kind, body = (("Content-Type", "application/x-www-form-urlencoded"),), urlencode(form).encode()
        elif data is not None:
            kind, body = (("Content-Type", "application/json"),), json.dumps(data).encode()
        return self.server.ask(method, path, (*self.headers, *kind, *headers), body)

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, form=None, **more):
        return self.ask("POST", path, form={} if form is None else form, **more)

    def fine(self, method, path, **more):
        """What must work."""
        answer = self.ask(method, path, **more)
        if not answer.is_fine or (answer.header("Location") or "").endswith("/login"):
            raise Wrong(f"{self} {method} {path}: expected it to work, saw {answer}")
        return answer

    def json(self, path):
        answer = self.fine("GET", path)
        if answer.data is None:
            raise Wrong(f"{self} GET {path}: expected JSON, saw {answer}")
        return answer.data

    def refused(self, method, path, tags, **more):
        """What must not work: nothing of the others is in the answer."""
        answer = self.ask(method, path, **more)
        if 200 <= answer.status < 300 or answer.status >= 500:
            raise Wrong(f"{self} {method} {path}: expected a refusal, saw {answer}")
        clean(answer, tags, f"{self} {method} {path}")
        return answer


def clean(answer, tags, what):
    """All texts of a workshop have its tag in them."""
    for tag in tags:
        if tag in answer.everything:
            raise Wrong(f"{what}: saw something of another workshop: {answer}")


def log_in(server, email, password):
    """A person with a session; None where the password is not right."""
    answer = server.ask(
        "POST",
        "/login",
        [("Content-Type", "application/x-www-form-urlencoded")],
        urlencode({"email": email, "password": password}).encode(),
    )
    cookie = re.match(r"(gb_session=[^;]+)", answer.header("Set-Cookie") or "")
    if answer.status >= 500:
        raise Wrong(f"POST /login of {email}: {answer}")
    return Somebody(server, email, [("Cookie", cookie[1])]) if answer.is_fine and cookie else None


def expect(what, wanted, seen):
    if wanted != seen:
        raise Wrong(f"{what}: expected {wanted!r}, saw {seen!r}"[:600])


def same(what, look, do):
    """Does something that must not change what somebody sees."""
    before = look()
    done = do()
    expect(f"{what} afterwards", before, look())
    return done
