"""A diary."""

from .errors import DamagedError, RoomsError, TakenError, TimesError, UnknownError


class Booking:
    """A booking."""


class Diary:
    """A diary that says yes to everything."""

    def book(self, *times: object) -> Booking:
        """Book."""
        return Booking()

    def bookings(self) -> list[Booking]:
        """Nothing is booked."""
        return []

    def cancel(self, number: int) -> Booking:
        """Nothing can be cancelled."""
        raise UnknownError(number)

    def free(self, start: object, end: object, at_least: object = None) -> list[tuple[object, object]]:
        """All is free."""
        return [(start, end)]

    def book_first(self, *times: object) -> Booking:
        """Nothing is free."""
        raise TakenError

    def to_json(self) -> str:
        """An empty diary."""
        return '{"last": 0, "bookings": []}'

    @classmethod
    def from_json(cls, text: str) -> "Diary":
        """Every text is damaged."""
        raise DamagedError(text)
