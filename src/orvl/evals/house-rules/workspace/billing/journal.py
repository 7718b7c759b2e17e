# SPDX-License-Identifier: LicenseRef-Papierhof
"""Bookings for the accountant's program."""

from typing import Any

RECEIVABLES = 1200
ROUNDING = 4840
STANDARD_RATES = (1900, 1600, 2000, 1960, 2100, 810, 770)
REDUCED_RATES = (700, 500, 1000, 550, 900, 600, 260, 250)

Booking = tuple[str, str, int, int]


def bookings(document: dict[str, Any]) -> list[Booking]:
    """Gives the bookings of an invoice: day, document, account, cents (debit is positive)."""
    day, number = document["billed"], document["number"]
    rows = [(part["due"], number, RECEIVABLES, part["amount"]) for part in _parts(document)]
    for group in document["taxes"]:
        revenue, tax = _accounts(group["rate"])
        rows.append((day, number, revenue, -group["base"]))
        if group["tax"]:
            rows.append((day, number, tax, -group["tax"]))
    if document["rounding"]:
        rows.append((day, number, ROUNDING, -document["rounding"]))
    return rows


def written_booking(row: Booking) -> str:
    """Gives a booking as a line of the file."""
    return ";".join(str(cell) for cell in row)


def _parts(document: dict[str, Any]) -> list[dict[str, Any]]:
    return document.get("instalments") or [{"due": document["due"], "amount": document["total"]}]


def _accounts(rate: int) -> tuple[int, int]:
    if rate in STANDARD_RATES:
        return 4400, 3806
    if rate in REDUCED_RATES:
        return 4300, 3801
    return 4100, 3800
