"""The diary of a meeting room."""

from .diary import Booking, Diary
from .errors import DamagedError, RoomsError, TakenError, TimesError, UnknownError

__all__ = [
    "Booking",
    "DamagedError",
    "Diary",
    "RoomsError",
    "TakenError",
    "TimesError",
    "UnknownError",
]
