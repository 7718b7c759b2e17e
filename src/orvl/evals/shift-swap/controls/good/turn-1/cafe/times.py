"""Times and days as the app writes them."""

import re
from datetime import date, datetime

from cafe.errors import Refused

TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def parse_time(text: object) -> datetime:
    if isinstance(text, str) and TIME.fullmatch(text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    raise Refused(400, f"{text!r} is not a time such as 2031-05-03T08:00.")


def parse_day(text: str) -> date:
    if DAY.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    raise Refused(400, f"{text!r} is not a day such as 2031-05-03.")


def write_time(time: datetime) -> str:
    return time.isoformat(timespec="minutes")
