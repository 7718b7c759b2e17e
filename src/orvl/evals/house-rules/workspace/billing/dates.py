# SPDX-License-Identifier: LicenseRef-Papierhof
"""Days as ISO text, which is how we keep them everywhere."""

from datetime import date, timedelta

from billing.errors import OrderError


def checked(text: object) -> str:
    """Gives a day back if it is one, as in 2026-11-18."""
    if isinstance(text, str) and len(text) == 10:
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            pass
    raise OrderError(f"not a day: {text!r}")


def days_after(day: str, count: int) -> str:
    """Gives the day so many days later."""
    return (date.fromisoformat(day) + timedelta(days=count)).isoformat()


def months_after(day: str, count: int) -> str:
    """Gives the same day so many months later, or the last one of a shorter month."""
    start = date.fromisoformat(day)
    years, month = divmod(start.month - 1 + count, 12)
    first = date(start.year + years, month + 1, 1)
    following = date(first.year + first.month // 12, first.month % 12 + 1, 1)
    last = (following - timedelta(days=1)).day
    return first.replace(day=min(start.day, last)).isoformat()


def quarter(day: str) -> str:
    """Gives the quarter of a day, as in 2026-4."""
    start = date.fromisoformat(day)
    return f"{start.year}-{(start.month + 2) // 3}"
