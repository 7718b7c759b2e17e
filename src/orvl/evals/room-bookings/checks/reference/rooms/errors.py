"""All errors of this package."""


class RoomsError(Exception):
    """The first of them."""


class UnknownError(RoomsError):
    """There is no such number."""


class DamagedError(RoomsError):
    """That was never saved like this."""


class TakenError(RoomsError):
    """Somebody else is there."""


class TimesError(RoomsError):
    """Times that cannot be."""
