"""Who has the room, and when."""

from dataclasses import dataclass
from datetime import datetime

from .errors import TakenError, TimesError


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
        if end <= start:
            raise TimesError(f"{end} is not after {start}")
        for other in self._bookings:
            if start < other.end and other.start < end:
                raise TakenError(f"{other.who} has the room from {other.start} to {other.end}")
        self._last += 1
        booking = Booking(start, end, who, self._last)
        self._bookings.append(booking)
        self._bookings.sort()
        return booking

    def bookings(self) -> list[Booking]:
        """Return all bookings, the earliest first."""
        return list(self._bookings)
