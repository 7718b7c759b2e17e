"""Who has the room, and when."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .errors import DamagedError, RoomsError, TakenError, TimesError, UnknownError


@dataclass(frozen=True, order=True)
class Booking:
    """The room from *start* up to *end*, and the end is free again."""

    start: datetime
    end: datetime
    who: str
    number: int


class Diary:
    """The bookings of one room; no two of them overlap."""

    def __init__(self) -> None:
        self._bookings: list[Booking] = []
        self._last = 0

    def book(self, start: datetime, end: datetime, who: str) -> Booking:
        """Book the room, or raise TakenError."""
        booking = Booking(start, end, who, self._last + 1)
        self._insert(booking)
        self._last = booking.number
        return booking

    def bookings(self) -> list[Booking]:
        """Return all bookings, the earliest first."""
        return list(self._bookings)

    def cancel(self, number: int) -> Booking:
        """Take the booking with this number out of the diary, or raise UnknownError."""
        for booking in self._bookings:
            if booking.number == number:
                self._bookings.remove(booking)
                return booking
        raise UnknownError(f"there is no booking {number}")

    def free(
        self, start: datetime, end: datetime, at_least: timedelta = timedelta(0)
    ) -> list[tuple[datetime, datetime]]:
        """Return the times from *start* to *end* at which nobody has the room."""
        _check_times(start, end)
        gaps = []
        at = start
        for booking in self._bookings:
            if booking.end <= start:
                continue
            if booking.start >= end:
                break
            gaps.append((at, booking.start))
            at = booking.end
        gaps.append((at, end))
        return [
            (since, until) for since, until in gaps if until > since and until - since >= at_least
        ]

    def book_first(self, start: datetime, end: datetime, length: timedelta, who: str) -> Booking:
        """Book the earliest free time of this length, or raise TakenError."""
        if length <= timedelta(0):
            raise TimesError(f"{length} is not above zero")
        gaps = self.free(start, end, length)
        if not gaps:
            raise TakenError(f"the room is not free for {length} between {start} and {end}")
        since = gaps[0][0]
        return self.book(since, since + length, who)

    def to_json(self) -> str:
        """Return the diary as a text that from_json understands."""
        saved = [
            {
                "start": booking.start.isoformat(),
                "end": booking.end.isoformat(),
                "who": booking.who,
                "number": booking.number,
            }
            for booking in self._bookings
        ]
        return json.dumps({"last": self._last, "bookings": saved})

    @classmethod
    def from_json(cls, text: str) -> "Diary":
        """Return the diary that *text* was made of, or raise DamagedError."""
        diary = cls()
        try:
            saved = json.loads(text)
            for row in saved["bookings"]:
                diary._insert(_booking(row))
            diary._last = _whole(saved["last"])
        except (ValueError, TypeError, KeyError, RecursionError, RoomsError) as error:
            raise DamagedError(f"this is not a saved diary: {error}") from error

        numbers = [booking.number for booking in diary._bookings]
        if len(set(numbers)) < len(numbers):
            raise DamagedError("two bookings have the same number")

        if any(number > diary._last for number in numbers):
            raise DamagedError("a booking has a number that was not given yet")

        return diary

    def _insert(self, booking: Booking) -> None:
        """Keep the bookings sorted and apart."""
        _check_times(booking.start, booking.end)
        for other in self._bookings:
            if booking.start < other.end and other.start < booking.end:
                raise TakenError(f"{other.who} has the room from {other.start} to {other.end}")
        self._bookings.append(booking)
        self._bookings.sort()


def _check_times(start: datetime, end: datetime) -> None:
    if end <= start:
        raise TimesError(f"{end} is not after {start}")


def _booking(row: dict[str, Any]) -> Booking:
    if not isinstance(row["who"], str):
        raise TypeError("a name is text")
    start = datetime.fromisoformat(row["start"])
    end = datetime.fromisoformat(row["end"])
    return Booking(start, end, row["who"], _whole(row["number"]))


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} is not a number of a booking")
    return value
