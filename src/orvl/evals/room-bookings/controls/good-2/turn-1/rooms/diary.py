"""Who has the room, and when."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from .errors import TakenError, TimesError, UnknownError


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
        self._by_number: dict[int, Booking] = {}
        self._given = 0

    def book(self, start: datetime, end: datetime, who: str) -> Booking:
        """Book the room, or raise TakenError."""
        if not start < end:
            raise TimesError(f"{start} is not before {end}")
        if taken := self._in_the_way(start, end):
            raise TakenError(f"{taken.who} is there until {taken.end}")
        self._given += 1
        self._by_number[self._given] = Booking(start, end, who, self._given)
        return self._by_number[self._given]

    def bookings(self) -> list[Booking]:
        """Return all bookings, the earliest first."""
        return sorted(self._by_number.values())

    def cancel(self, number: int) -> Booking:
        """Take a booking out and return it, or raise UnknownError."""
        if number not in self._by_number:
            raise UnknownError(f"nobody has booked with the number {number}")
        return self._by_number.pop(number)

    def free(
        self, start: datetime, end: datetime, at_least: timedelta = timedelta(0)
    ) -> list[tuple[datetime, datetime]]:
        """Return the times between *start* and *end* that nobody has booked, as pairs."""
        if not start < end:
            raise TimesError(f"{start} is not before {end}")
        return [gap for gap in self._gaps(start, end) if gap[1] - gap[0] >= at_least]

    def _gaps(self, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
        edges = [start]
        for booking in self.bookings():
            edges += [min(max(edge, start), end) for edge in (booking.start, booking.end)]
        edges.append(end)
        pairs = zip(edges[::2], edges[1::2], strict=True)
        return (pair for pair in pairs if pair[0] < pair[1])

    def _in_the_way(self, start: datetime, end: datetime) -> Booking | None:
        """The booking that these times overlap, if there is one."""
        others = self.bookings()
        later = bisect_left([booking.start for booking in others], end)
        before = others[later - 1] if later else None
        return before if before and before.end > start else None
