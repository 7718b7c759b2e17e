"""Who has the room, and when."""

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
