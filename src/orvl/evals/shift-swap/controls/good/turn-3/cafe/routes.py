"""Which request does what."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from sqlite3 import Connection

from cafe import rota, swaps
from cafe.errors import Refused
from cafe.shift import list_shifts
from cafe.staff import Person
from cafe.times import parse_day


@dataclass(frozen=True)
class Request:
    caller: Person
    staff: Mapping[str, Person]
    now: datetime
    number: int
    query: Mapping[str, str]
    content: bytes

    @property
    def body(self) -> dict[str, object]:
        try:
            body = json.loads(self.content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise Refused(400, "That is not an object in JSON.")
        return body

    def day(self, name: str) -> date | None:
        return parse_day(self.query[name]) if name in self.query else None


Act = Callable[[Connection, Request], object]


@dataclass(frozen=True)
class Route:
    method: str
    path: re.Pattern[str]
    status: int
    act: Act

    @property
    def writes(self) -> bool:
        return self.method != "GET"


def find_route(method: str, path: str) -> tuple[Route, int]:
    """The route of a request, and the number in its path, 0 where it has none."""
    for route in ROUTES:
        if route.method == method and (match := route.path.fullmatch(path)):
            return route, int(match["number"]) if "number" in match.groupdict() else 0
    raise Refused(404, f"There is no {method} {path}.")


def staff(connection: Connection, request: Request) -> object:
    return [{"id": person.id, "name": person.name, "boss": person.boss} for person in request.staff.values()]


def shifts(connection: Connection, request: Request) -> object:
    found = list_shifts(connection, request.day("from"), request.day("to"), request.query.get("staff"))
    return [shift.as_json() for shift in found]


def add_shift(connection: Connection, request: Request) -> object:
    return rota.add_shift(connection, request.caller, request.body).as_json()


def delete_shift(connection: Connection, request: Request) -> object:
    return rota.delete_shift(connection, request.caller, request.number, request.now)


def take_shift(connection: Connection, request: Request) -> object:
    return rota.take_shift(connection, request.caller, request.number, request.now).as_json()


def drop_shift(connection: Connection, request: Request) -> object:
    return rota.drop_shift(connection, request.caller, request.number, request.now).as_json()


def list_swaps(connection: Connection, request: Request) -> object:
    return [swap.as_json() for swap in swaps.list_swaps(connection, request.query.get("staff"))]


def ask(connection: Connection, request: Request) -> object:
    return swaps.ask(connection, request.caller, request.staff, request.body, request.now).as_json()


def accept(connection: Connection, request: Request) -> object:
    return swaps.accept(connection, request.caller, request.number, request.now).as_json()


def decline(connection: Connection, request: Request) -> object:
    return swaps.decline(connection, request.caller, request.number).as_json()


def withdraw(connection: Connection, request: Request) -> object:
    return swaps.withdraw(connection, request.caller, request.number).as_json()


def undo(connection: Connection, request: Request) -> object:
    return swaps.undo(connection, request.caller, request.number, request.now).as_json()


def _route(method: str, path: str, status: int, act: Act) -> Route:
    return Route(method, re.compile(path.replace("NUMBER", "(?P<number>[0-9]{1,30})")), status, act)


ROUTES = (
    _route("GET", "/staff", 200, staff),
    _route("GET", "/shifts", 200, shifts),
    _route("POST", "/shifts", 201, add_shift),
    _route("DELETE", "/shifts/NUMBER", 204, delete_shift),
    _route("POST", "/shifts/NUMBER/take", 200, take_shift),
    _route("POST", "/shifts/NUMBER/drop", 200, drop_shift),
    _route("GET", "/swaps", 200, list_swaps),
    _route("POST", "/swaps", 201, ask),
    _route("POST", "/swaps/NUMBER/accept", 200, accept),
    _route("POST", "/swaps/NUMBER/decline", 200, decline),
    _route("POST", "/swaps/NUMBER/withdraw", 200, withdraw),
    _route("POST", "/swaps/NUMBER/undo", 200, undo),
)
