"""Time at the shop: zones that go by the rule of the European Union, written down once more so that no database is needed."""

from datetime import date, datetime, timedelta

WINTER = {
    "Europe/Lisbon": 0,
    "Europe/Dublin": 0,
    "Europe/Berlin": 1,
    "Europe/Prague": 1,
    "Europe/Madrid": 1,
    "Europe/Helsinki": 2,
    "Europe/Athens": 2,
}
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def change(year, month):
    """The moment at which the clocks change: one in the morning, UTC, on the last Sunday of the month, which has 31 days."""
    last = date(year, month, 31)
    last -= DAY * ((last.weekday() + 1) % 7)
    return datetime(last.year, last.month, last.day, 1)


def winter_time(zone, utc):
    return utc + WINTER[zone] * HOUR


def local(zone, utc):
    summer = change(utc.year, 3) <= utc < change(utc.year, 10)
    return winter_time(zone, utc) + summer * HOUR


def utc_of(zone, day, hour=0, minute=0):
    """The moment of a time at the shop; of an hour that comes twice, the first."""
    wall = datetime(day.year, day.month, day.day, hour, minute)
    for shift in (1, 0):
        utc = wall - (WINTER[zone] + shift) * HOUR
        if local(zone, utc) == wall:
            return utc
    raise AssertionError(f"{wall} does not exist in {zone}")


def monday_of(week):
    year, number = week.split("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def week_of(day):
    year, number, _ = day.isocalendar()
    return f"{year}-W{number:02}"
