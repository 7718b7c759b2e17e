# SPDX-License-Identifier: LicenseRef-Papierhof
"""Bookings for the accountant's program."""

from typing import Any

from billing.rates import entry_of

RECEIVABLES = 1200
ROUNDING = 4840

Booking = tuple[str, str, int, int]


def bookings(document: dict[str, Any]) -> list[Booking]:
    """Gives the bookings of an invoice: day, document, account, cents (debit is positive)."""
    day, number = document["billed"], document["number"]
    rows = [(part["due"], number, RECEIVABLES, part["amount"]) for part in _parts(document)]
    for group in document["taxes"]:
        revenue, tax = _accounts(document["country"], group["rate"])
        levy = _levy(document, group["rate"])
        rows.append((day, number, revenue, levy - group["base"]))
        if levy:
            rows.append((day, number, 3820, -levy))
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


def _levy(document: dict[str, Any], rate: int) -> int:
    levy = document.get("levy")
    return levy["amount"] if levy and levy["rate"] == rate else 0


def _accounts(country: str, rate: int) -> tuple[int, int]:
    if rate == 0:
        return 4100, 3800
    standards = {period["standard"] for period in entry_of(country)["periods"]}
    return (4400, 3806) if rate in standards else (4300, 3801)
