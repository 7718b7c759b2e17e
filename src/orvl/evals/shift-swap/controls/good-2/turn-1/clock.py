"""Times as whole minutes, so that the rest of the program can just count."""

from datetime import datetime

TIME, DAY = "%Y-%m-%dT%H:%M", "%Y-%m-%d"
FIRST = datetime(1900, 1, 1)  # a Monday
MINUTES_A_DAY = 24 * 60


def minutes(text: object) -> int | None:
    """A time of the app in minutes; None if it is not one."""
    return _parse(text, TIME)


def first_minute(day: object) -> int | None:
    """When a day of the app begins; None if it is not one."""
    return _parse(day, DAY)


def text(time: int) -> str:
    return datetime.fromordinal(FIRST.toordinal() + time // MINUTES_A_DAY).strftime(DAY) + "T%02d:%02d" % divmod(
        time % MINUTES_A_DAY, 60
    )


def now() -> int:
    return int((datetime.now() - FIRST).total_seconds() // 60)


def _parse(given: object, form: str) -> int | None:
    try:
        time = datetime.strptime(str(given), form)
    except ValueError:
        return None
    # strptime also takes 2031-5-3T8:0, which the app does not write.
    return int((time - FIRST).total_seconds() // 60) if time.strftime(form) == given else None
