"""What can be done with shifts."""

from datetime import datetime
from sqlite3 import Connection

from cafe.errors import Refused
from cafe.rules import check_rules
from cafe.shift import Shift, find_shift, upcoming_shift
from cafe.staff import Person
from cafe.times import parse_time, write_time


def add_shift(connection: Connection, caller: Person, body: dict[str, object]) -> Shift:
    _only_bosses(caller)
    start, end = parse_time(body.get("start")), parse_time(body.get("end"))
    if end <= start:
        raise Refused(400, "A shift ends after it has started.")
    added = connection.execute("insert into shifts (starts, ends) values (?, ?)", (write_time(start), write_time(end)))
    return find_shift(connection, added.lastrowid)


def delete_shift(connection: Connection, caller: Person, number: int, now: datetime) -> None:
    _only_bosses(caller)
    shift = upcoming_shift(connection, number, now)
    _lapse_swaps(connection, shift)
    connection.execute("delete from shifts where id = ?", (shift.id,))


def take_shift(connection: Connection, caller: Person, number: int, now: datetime) -> Shift:
    shift = upcoming_shift(connection, number, now)
    if shift.staff == caller.id:
        return shift
    if shift.staff is not None:
        raise Refused(409, f"{shift.staff} has that shift.")
    check_rules(connection, caller.id, shift)
    return give_shift(connection, shift, caller.id)


def drop_shift(connection: Connection, caller: Person, number: int, now: datetime) -> Shift:
    shift = upcoming_shift(connection, number, now)
    if shift.staff is None:
        raise Refused(409, "Nobody has that shift.")
    if shift.staff != caller.id and not caller.boss:
        raise Refused(403, f"{shift.staff} has that shift.")
    return give_shift(connection, shift, None)


def give_shift(connection: Connection, shift: Shift, staff: str | None) -> Shift:
    _lapse_swaps(connection, shift)
    connection.execute("update shifts set staff = ? where id = ?", (staff, shift.id))
    return find_shift(connection, shift.id)


def _lapse_swaps(connection: Connection, shift: Shift) -> None:
    """Ends the open swaps of a shift that goes another way."""
    connection.execute(
        "update swaps set state = 'lapsed' where state in ('asked', 'accepted') and ? in (shift, in_return)",
        (shift.id,),
    )


def _only_bosses(caller: Person) -> None:
    if not caller.boss:
        raise Refused(403, "Only bosses can do that.")
