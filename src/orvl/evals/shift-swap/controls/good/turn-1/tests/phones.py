"""A server on a new database for each test, and phones that talk to it."""

import json
import tempfile
import threading
import unittest
from http.client import HTTPConnection
from pathlib import Path

from cafe.database import Database
from cafe.staff import Person
from cafe.web import make_server

STAFF = {one: Person(one, one.title(), one == "rosa") for one in ("rosa", "mia", "tom", "lea")}


class ServerTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "cafe.db")
        self.start()

    def start(self) -> None:
        server = make_server(0, Database(str(self.path)), STAFF)
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def ask(self, who, method, path, body=None, now="2031-05-01T08:00", headers=None):
        """The status and the body of an answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=10)
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {"X-Staff": who, "X-Now": now} | (headers or {}))
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, json.loads(content) if content else None

    def shift(self, start, end, who=None):
        """The number of a new shift, which somebody has."""
        status, made = self.ask("rosa", "POST", "/shifts", {"start": start, "end": end})
        self.assertEqual(status, 201)
        if who:
            self.assertEqual(self.ask(who, "POST", f"/shifts/{made['id']}/take")[0], 200)
        return made["id"]

    def holders(self):
        return {shift["id"]: shift["staff"] for shift in self.ask("rosa", "GET", "/shifts")[1]}
