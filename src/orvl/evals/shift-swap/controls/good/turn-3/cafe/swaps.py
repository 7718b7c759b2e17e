"""Swaps: somebody asks for one, somebody accepts it, and for a while it can be undone."""

from collections.abc import Container
from dataclasses import dataclass
from datetime import datetime, timedelta
from sqlite3 import Connection, Row

from cafe.errors import Refused
from cafe.rota import give_shift
from cafe.rules import check_rules
from cafe.shift import LARGEST_ID, Shift, upcoming_shift
from cafe.staff import Person
from cafe.times import parse_time, write_time

UNDO_FOR = timedelta(hours={{undo}})


@dataclass(frozen=True)
class Swap:
    id: int
    shift: int
    asked_by: str
    asked_of: str
    in_return: int | None
    state: str
    done_at: datetime | None
    """None for what was done before swaps could be undone, too."""

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
    _while(swap, "asked")
    _change_hands(connection, swap, swap.asked_by, swap.asked_of, now)
    connection.execute("update swaps set done_at = ? where id = ?", (write_time(now), swap.id))
    return _set_state(connection, swap, "done")


def decline(connection: Connection, caller: Person, number: int) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.id == swap.asked_of)
    _while(swap, "asked")
    return _set_state(connection, swap, "declined")


def withdraw(connection: Connection, caller: Person, number: int) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.id == swap.asked_by)
    _while(swap, "asked")
    return _set_state(connection, swap, "withdrawn")


def undo(connection: Connection, caller: Person, number: int, now: datetime) -> Swap:
    swap = find_swap(connection, number)
    _only(caller.boss or caller.id in (swap.asked_by, swap.asked_of))
    _while(swap, "done")
    if swap.done_at is None or now > swap.done_at + UNDO_FOR:
        raise Refused(409, "It is too late to undo that swap.")
    _change_hands(connection, swap, swap.asked_of, swap.asked_by, now)
    return _set_state(connection, swap, "undone")


def _change_hands(connection: Connection, swap: Swap, giver: str, taker: str, now: datetime) -> None:
    """Gives a swap's shift to somebody, and perhaps another one back, if the rules allow what comes out of it."""
    shift = _shift_of(connection, swap.shift, giver, now)
    in_return = None if swap.in_return is None else _shift_of(connection, swap.in_return, taker, now)
    check_rules(connection, taker, shift, instead_of=in_return)
    if in_return is not None:
        check_rules(connection, giver, in_return, instead_of=shift)
        give_shift(connection, in_return, giver)
    give_shift(connection, shift, taker)


def _shift_of(connection: Connection, number: int, holder: str, now: datetime) -> Shift:
    """A shift that somebody still has, and that can still change hands."""
    try:
        shift = upcoming_shift(connection, number, now)
    except Refused as refusal:
        raise Refused(409, refusal.sentence) from refusal
    if shift.staff != holder:
        raise Refused(409, f"{holder} does not have shift {number} any more.")
    return shift


def _set_state(connection: Connection, swap: Swap, state: str) -> Swap:
    connection.execute("update swaps set state = ? where id = ?", (state, swap.id))
    return find_swap(connection, swap.id)


def _only(is_allowed: bool) -> None:
    if not is_allowed:
        raise Refused(403, "That is for somebody else to do.")


def _while(swap: Swap, state: str) -> None:
    if swap.state != state:
        raise Refused(409, f"The swap is {swap.state}.")


def _number(value: object) -> int:
    if type(value) is not int:
        raise Refused(400, f"{value!r} is not the number of a shift.")
    return value


def _swap(row: Row) -> Swap:
    done_at = row["done_at"] and parse_time(row["done_at"])
    return Swap(row["id"], row["shift"], row["asked_by"], row["asked_of"], row["in_return"], row["state"], done_at)
