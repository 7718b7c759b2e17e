# SPDX-License-Identifier: LicenseRef-Papierhof
"""Reminders for those who forget."""

from datetime import date
from typing import Any

from billing.files import load_json


def level(document: dict[str, Any], today: str) -> int:
    """Gives how often a customer should have been reminded by a day: 0 to 3."""
    late = (date.fromisoformat(today) - date.fromisoformat(document["due"])).days
    steps = load_json("billing/settings.json")["reminder_days"]
    return sum(late >= step for step in steps)


def fee(document: dict[str, Any], today: str) -> int:
    """Gives the fee in cents for the last reminder by a day; nobody pays one for the first."""
    reached = level(document, today)
    fees = load_json("billing/settings.json")["reminder_fees"]
    return fees[reached - 1] if reached else 0


def letter(document: dict[str, Any], today: str) -> list[str]:
    """Gives the lines of a reminder; none where there is nothing to say."""
    reached = level(document, today)
    if not reached:
        return []
    opening = (
        "Perhaps this slipped your mind:",
        "We have not heard from you about this:",
        "This is our last letter before the lawyers write:",
    )[reached - 1]
    about = f"{document['number']}, due {document['due']}."
    rows = [f"Dear {document['customer']},", opening, about]
    charged = fee(document, today)
    if charged:
        rows.append(f"We add {charged} cents for our trouble.")
    return rows
