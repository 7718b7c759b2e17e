"""Rosa's rules: breaks between shifts, and hours a week."""

from datetime import datetime, timedelta
from sqlite3 import Connection

from cafe.errors import Refused
from cafe.shift import Shift, shifts_around

BREAK = timedelta(minutes={{rest}})
HOURS_A_WEEK = timedelta(hours={{hours}})
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIRST_DAY = DAYS.index("{{first_day}}")
WEEK = timedelta(days=7)


def week_of(time: datetime) -> datetime:
    """The first moment of the week that a time is in."""
    midnight = time.replace(hour=0, minute=0)
    return midnight - timedelta(days=(time.weekday() - FIRST_DAY) % 7)


def check_rules(connection: Connection, staff: str, shift: Shift) -> None:
    """Refuses a shift that somebody cannot have beside those that they have."""
    others = shifts_around(connection, staff, shift.start - WEEK, shift.end + WEEK)
    for other in others:
        if shift.start < other.end + BREAK and other.start < shift.end + BREAK:
            raise Refused(409, f"{staff} has shift {other.id} at that time, or too shortly before or after it.")
    same_week = [other for other in others if week_of(other.start) == week_of(shift.start)]
    if sum((other.length for other in same_week), shift.length) > HOURS_A_WEEK:
        raise Refused(409, f"{staff} would have more than {HOURS_A_WEEK.total_seconds() / 3600:g} hours in that week.")
