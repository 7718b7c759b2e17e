"""Times are UTC, as texts like `2031-04-09T08:30:00Z`. Days and months are their beginnings."""

import re
from datetime import UTC, date, datetime, timedelta

FORMAT = "%Y-%m-%dT%H:%M:%SZ"
MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


def now():
    return datetime.now(UTC).strftime(FORMAT)


def today():
    return now()[:10]


def this_month():
    return now()[:7]


def ago(**parts):
    """The time that was `hours=2` or `minutes=5` ago."""
    return (datetime.now(UTC) - timedelta(**parts)).strftime(FORMAT)


def is_month(text):
    return isinstance(text, str) and MONTH.fullmatch(text) is not None


def is_day(text):
    try:
        return isinstance(text, str) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def days_after(day, days):
    return (date.fromisoformat(day) + timedelta(days=days)).isoformat()
