"""Swaps: somebody asks for one, somebody accepts it, a boss approves it."""

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime
from sqlite3 import Connection, Row

from cafe.errors import Refused
from cafe.rota import give_shift
from cafe.rules import check_rules
from cafe.shift import LARGEST_ID, Shift, upcoming_shift
from cafe.staff import Person


@dataclass(frozen=True)
class Swap:
    id: int
    shift: int
    asked_by: str
    asked_of: str
    in_return: int | None
    state: str

    def as_json(self) -> dict[str, object]:
        return {
            "id": self.id,
            "shift": self.shift,
            "from": self.asked_by,
            "to": self.asked_of,
            "for": self.in_return,
            "state": self.state,
        }


def find_swap(connection: Connection, number: int) -> Swap:
    row = None
    if number <= LARGEST_ID:
        row = connection.execute("select * from swaps where id = ?", (number,)).fetchone()
    if row is None:
        raise Refused(404, f"There is no swap {number}.")
    return _swap(row)


def list_swaps(connection: Connection, staff: str | None) -> list[Swap]:
    rows = connection.execute(
        "select * from swaps where :staff is null or :staff in (asked_by, asked_of) order by id", {"staff": staff}
    )
    return [_swap(row) for row in rows]


def ask(
    connection: Connection, caller: Person, staff: Container[str], body: dict[str, object], now: datetime
) -> Swap:
    asked_of = body.get("to")
    if not isinstance(asked_of, str) or asked_of not in staff or asked_of == caller.id:
        raise Refused(400, "A swap is with somebody else who works here.")
    shift = upcoming_shift(connection, _number(body.get("shift")), now)
    if shift.staff != caller.id:
        raise Refused(403, f"Shift {shift.id} is not yours.")
    in_return = None
    if body.get("for") is not None:
        in_return = upcoming_shift(connection, _number(body["for"]), now)
        if in_return.staff != asked_of:
            raise Refused(409, f"{asked_of} does not have shift {in_return.id}.")
    added = connection.execute(
        "insert into swaps (shift, asked_by, asked_of, in_return) values (?, ?, ?, ?)",
        (shift.id, caller.id, asked_of, in_return and in_return.id),
    )
    return find_swap(connection, added.lastrowid)


def accept(connection: Connection, caller: Person, number: int, now: datetime) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.id == swap.asked_of)
    _while(swap, ("asked",))
    for shift in filter(None, (swap.shift, swap.in_return)):
        upcoming_shift(connection, shift, now)
    return _set_state(connection, swap, "accepted")


def decline(connection: Connection, caller: Person, number: int) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.id == swap.asked_of)
    _while(swap, ("asked",))
    return _set_state(connection, swap, "declined")


def withdraw(connection: Connection, caller: Person, number: int) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.id == swap.asked_by)
    _while(swap, ("asked", "accepted"))
    return _set_state(connection, swap, "withdrawn")


def approve(connection: Connection, caller: Person, number: int, now: datetime) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.boss)
    _while(swap, ("accepted",))
    _change_hands(connection, swap, now)
    return _set_state(connection, swap, "done")


def reject(connection: Connection, caller: Person, number: int) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.boss)
    _while(swap, ("accepted",))
    return _set_state(connection, swap, "rejected")


def _change_hands(connection: Connection, swap: Swap, now: datetime) -> None:
    """Gives the shift to whom was asked, and perhaps another one back, if the rules allow what comes out of it."""
    shift = _shift_of(connection, swap.shift, swap.asked_by, now)
    in_return = None if swap.in_return is None else _shift_of(connection, swap.in_return, swap.asked_of, now)
    check_rules(connection, swap.asked_of, shift, instead_of=in_return)
    if in_return is not None:
        check_rules(connection, swap.asked_by, in_return, instead_of=shift)
        give_shift(connection, in_return, swap.asked_by)
    give_shift(connection, shift, swap.asked_of)


def _shift_of(connection: Connection, number: int, holder: str, now: datetime) -> Shift:
    """A shift that somebody still has, and that can still change hands."""
    shift = upcoming_shift(connection, number, now)
    if shift.staff != holder:
        raise Refused(409, f"{holder} does not have shift {number} any more.")
    return shift


def _set_state(connection: Connection, swap: Swap, state: str) -> Swap:
    connection.execute("update swaps set state = ? where id = ?", (state, swap.id))
    return find_swap(connection, swap.id)


def _only(is_allowed: bool) -> None:
    if not is_allowed:
        raise Refused(403, "That is for somebody else to do.")


def _while(swap: Swap, states: Container[str]) -> None:
    if swap.state not in states:
        raise Refused(409, f"The swap is {swap.state}.")


def _number(value: object) -> int:
    if type(value) is not int:
        raise Refused(400, f"{value!r} is not the number of a shift.")
    return value


def _swap(row: Row) -> Swap:
    return Swap(row["id"], row["shift"], row["asked_by"], row["asked_of"], row["in_return"], row["state"])
