"""The café's shifts over HTTP: what phones ask for, and what they get."""

import json
import logging
from collections.abc import Mapping
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from cafe.database import Database
from cafe.errors import Refused
from cafe.routes import Request, find_route
from cafe.staff import Person
from cafe.times import parse_time

LARGEST_BODY = 1 << 20


def make_server(port: int, database: Database, staff: Mapping[str, Person]) -> ThreadingHTTPServer:
    handler = type("Handler", (PhoneHandler,), {"database": database, "staff": staff})
    return PhoneServer(("127.0.0.1", port), handler)


class PhoneServer(ThreadingHTTPServer):
    request_queue_size = 64


class PhoneHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    database: Database
    staff: Mapping[str, Person]

    def do_GET(self) -> None:
        self._respond()

    do_POST = do_DELETE = do_GET

    def _respond(self) -> None:
        try:
            status, answer = self._answer(self._body())
        except Refused as refusal:
            status, answer = refusal.status, {"error": refusal.sentence}
        except Exception:
            logging.exception("%s %s", self.command, self.path)
            status, answer = 500, {"error": "Something went wrong on the tablet."}
        self._send(status, answer)

    def _answer(self, body: bytes) -> tuple[int, object]:
        path, _, query = self.path.partition("?")
        caller = self._caller()
        route, number = find_route(self.command, path)
        request = Request(caller, self.staff, self._now(), number, parse_query(query), body)
        opened = self.database.writing() if route.writes else self.database.reading()
        with opened as connection:
            return route.status, route.act(connection, request)

    def _caller(self) -> Person:
        caller = self.staff.get(self.headers.get("X-Staff", ""))
        if caller is None:
            raise Refused(401, "Nobody here has that id.")
        return caller

    def _now(self) -> datetime:
        sent = self.headers.get("X-Now")
        return datetime.now() if sent is None else parse_time(sent)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.close_connection = True
            raise Refused(400, "That is no length for a request.")
        return self.rfile.read(int(length))

    def _send(self, status: int, answer: object) -> None:
        content = b"" if answer is None else json.dumps(answer, ensure_ascii=False).encode()
        self.send_response(status)
        if answer is not None:
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """The tablet has no room for logs of every request."""


def parse_query(query: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(query).items()}
