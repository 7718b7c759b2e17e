"""A diary of a room, done right: what new tests must be content with."""

from .diary import Booking, Diary
from .errors import DamagedError, RoomsError, TakenError, TimesError, UnknownError

__all__ = ["Booking", "DamagedError", "Diary", "RoomsError", "TakenError", "TimesError", "UnknownError"]
