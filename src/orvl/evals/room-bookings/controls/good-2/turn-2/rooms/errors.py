"""What can go wrong with a diary."""


class RoomsError(Exception):
    """Anything that `rooms` cannot do."""


class TimesError(RoomsError):
    """An end that is not after its start."""


class TakenError(RoomsError):
    """A time at which the room is booked already."""


class UnknownError(RoomsError):
    """A number that no booking has."""


class DamagedError(RoomsError):
    """A text that is not a saved diary."""
