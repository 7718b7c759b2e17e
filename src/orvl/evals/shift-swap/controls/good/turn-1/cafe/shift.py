"""A shift, and how it is read from the database."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from sqlite3 import Connection, Row

from cafe.errors import Refused
from cafe.times import parse_time, write_time

LARGEST_ID = 2**63 - 1


@dataclass(frozen=True)
class Shift:
    id: int
    start: datetime
    end: datetime
    staff: str | None

    @property
    def length(self) -> timedelta:
        return self.end - self.start

    def as_json(self) -> dict[str, object]:
        return {"id": self.id, "start": write_time(self.start), "end": write_time(self.end), "staff": self.staff}


def find_shift(connection: Connection, number: int) -> Shift:
    row = None
    if number <= LARGEST_ID:
        row = connection.execute("select * from shifts where id = ?", (number,)).fetchone()
    if row is None:
        raise Refused(404, f"There is no shift {number}.")
    return _shift(row)


def upcoming_shift(connection: Connection, number: int, now: datetime) -> Shift:
    """A shift that can still be changed."""
    shift = find_shift(connection, number)
    if shift.start <= now:
        raise Refused(409, f"Shift {number} has begun.")
    return shift


def list_shifts(connection: Connection, first: date | None, last: date | None, staff: str | None) -> list[Shift]:
    rows = connection.execute(
        """select * from shifts
           where (:first is null or substr(starts, 1, 10) >= :first)
             and (:last is null or substr(starts, 1, 10) <= :last)
             and (:staff is null or staff = :staff)
           order by starts, id""",
        {"first": first and first.isoformat(), "last": last and last.isoformat(), "staff": staff},
    )
    return [_shift(row) for row in rows]


def shifts_around(connection: Connection, staff: str, start: datetime, end: datetime) -> list[Shift]:
    """The shifts that somebody has between two times."""
    rows = connection.execute(
        "select * from shifts where staff = ? and ends > ? and starts < ?",
        (staff, write_time(start), write_time(end)),
    )
    return [_shift(row) for row in rows]


def _shift(row: Row) -> Shift:
    return Shift(row["id"], parse_time(row["starts"]), parse_time(row["ends"]), row["staff"])
