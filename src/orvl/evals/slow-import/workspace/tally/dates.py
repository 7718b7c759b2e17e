"""Times as the desks, the kiosks and the web shop write them."""

from datetime import date, datetime

from tally.errors import Problem, TallyError

# desks (two versions of their program), web shop, kiosks
FORMATS = ("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y%m%d%H%M%S")


def parse_sold(text):
    """Any of the formats will do in any file, the partner has mixed them before."""
    for form in FORMATS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            pass
    raise Problem("date")


def stored(moment):
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def day_of(moment):
    return moment.strftime("%Y-%m-%d")


def month_of(day):
    """2026-07-14 -> 2026-07"""
    return day[:7]


def next_month(month):
    year, number = int(month[:4]), int(month[5:])
    if number == 12:
        return "%04d-01" % (year + 1)
    return "%04d-%02d" % (year, number + 1)


def check_month(text):
    try:
        date.fromisoformat(text + "-01")
    except ValueError:
        raise TallyError("%s is not a month such as 2026-07" % text)
    return text


def now():
    return datetime.now().strftime("%Y-%m-%d %H:%M:%S")
