"""The diary of a meeting room."""

from .diary import Booking, Diary
from .errors import RoomsError, TakenError, TimesError, UnknownError

__all__ = ["Booking", "Diary", "RoomsError", "TakenError", "TimesError", "UnknownError"]
