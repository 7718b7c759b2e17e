"""Bookings, and what is free between them."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from .errors import DamagedError, RoomsError, TakenError, TimesError, UnknownError


@dataclass(order=True, frozen=True)
class Booking:
    """From its start up to its end."""

    start: datetime
    end: datetime
    who: str
    number: int


class Diary:
    """All bookings of a room, and the last number that was given."""

    def __init__(self) -> None:
        self._bookings: list[Booking] = []
        self._last = 0

    def bookings(self) -> list[Booking]:
        """In the order of time."""
        return sorted(self._bookings)

    def book(self, start: datetime, end: datetime, who: str) -> Booking:
        """A new booking, if nobody is in its way."""
        booking = Booking(start, end, who, self._last + 1)
        self._add(booking)
        self._last = booking.number
        return booking

    def cancel(self, number: int) -> Booking:
        """The booking with this number, which is gone now."""
        for booking in self.bookings():
            if booking.number == number:
                self._bookings.remove(booking)
                return booking
        raise UnknownError(f"no booking has the number {number}")

    def free(
        self, start: datetime, end: datetime, at_least: timedelta = timedelta(0)
    ) -> list[tuple[datetime, datetime]]:
        """Pairs of times between which nobody is there."""
        if end <= start:
            raise TimesError(f"from {start} to {end} there is no time")
        gaps, since = [], start
        for booking in self.bookings():
            if booking.start < end and booking.end > start:
                gaps.append((since, booking.start))
                since = booking.end
        gaps.append((since, end))
        return [gap for gap in gaps if gap[0] < gap[1] and gap[1] - gap[0] >= at_least]

    def book_first(self, start: datetime, end: datetime, length: timedelta, who: str) -> Booking:
        """A new booking as early as one of this length can be."""
        if length <= timedelta(0):
            raise TimesError(f"nobody can be there for {length}")
        gaps = self.free(start, end, length)
        if not gaps:
            raise TakenError(f"nothing is free for {length}")
        since = gaps[0][0]
        return self.book(since, since + length, who)

    def to_json(self) -> str:
        """A text that holds all of it."""
        rows = [
            {"start": one.start.isoformat(), "end": one.end.isoformat(), "who": one.who, "number": one.number}
            for one in self.bookings()
        ]
        return json.dumps({"last": self._last, "bookings": rows})

    @classmethod
    def from_json(cls, text: str) -> "Diary":
        """The diary that such a text holds."""
        diary = cls()
        try:
            saved = json.loads(text)
            for row in saved["bookings"]:
                times = [datetime.fromisoformat(row[key]) for key in ("start", "end")]
                diary._add(Booking(*times, row["who"], row["number"]))
            diary._last = saved["last"]
            numbers = {0, *(one.number for one in diary._bookings)}
            values = [saved["last"], *numbers]
            is_whole = all(type(value) is int for value in values) and max(numbers) <= diary._last
            if not is_whole or len(numbers) <= len(diary._bookings):
                raise ValueError("these numbers cannot be")
            if not all(isinstance(one.who, str) for one in diary._bookings):
                raise ValueError("a name is a text")
        except (ValueError, TypeError, KeyError, RecursionError, RoomsError) as error:
            raise DamagedError(f"no diary was saved like this: {error}") from error
        return diary

    def _add(self, booking: Booking) -> None:
        if booking.end <= booking.start:
            raise TimesError(f"{booking.end} is not later than {booking.start}")
        for other in self._bookings:
            if other.start < booking.end and booking.start < other.end:
                raise TakenError(f"{other.who} is there from {other.start} to {other.end}")
        self._bookings.append(booking)
