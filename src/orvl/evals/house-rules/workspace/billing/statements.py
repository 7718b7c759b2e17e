# SPDX-License-Identifier: LicenseRef-Papierhof
"""Statements: what is open with a customer, and what was paid."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from billing.dates import checked
from billing.errors import OrderError
from billing.numbers import order_of


@dataclass(frozen=True)
class Payment:
    """Money that came in for a document."""

    number: str
    day: str
    amount: int


@dataclass(frozen=True)
class Open:
    """A document that is not paid, and how many cents are missing."""

    number: str
    due: str
    missing: int


def read_payment(record: dict[str, Any]) -> Payment:
    """Makes a payment of what the bank's file says."""
    number, amount = record.get("number"), record.get("amount")
    if not isinstance(number, str):
        raise OrderError("a payment without a number")
    order_of(number)
    if type(amount) is not int or amount == 0:
        raise OrderError(f"{number}: nobody can pay {amount!r}")
    return Payment(number, checked(record.get("day")), amount)


def open_documents(
    documents: Iterable[dict[str, Any]], payments: Iterable[Payment], today: str
) -> list[Open]:
    """Gives what is open on a day, the oldest first; credit notes count against nothing here."""
    paid: dict[str, int] = {}
    for payment in payments:
        if payment.day <= today:
            paid[payment.number] = paid.get(payment.number, 0) + payment.amount
    rows = []
    for document in documents:
        if document["kind"] != "invoice" or document["billed"] > today:
            continue
        missing = document["total"] - paid.get(document["number"], 0)
        if missing > 0:
            rows.append(Open(document["number"], document["due"], missing))
    return sorted(rows, key=lambda row: (row.due, row.number))


def strays(documents: Iterable[dict[str, Any]], payments: Iterable[Payment]) -> list[Payment]:
    """Gives payments for documents that nobody knows."""
    known = {document["number"] for document in documents}
    return [payment for payment in payments if payment.number not in known]


def overpaid(
    documents: Iterable[dict[str, Any]], payments: Iterable[Payment]
) -> list[tuple[str, int]]:
    """Gives documents for which too much came in, and how much."""
    paid: dict[str, int] = {}
    for payment in payments:
        paid[payment.number] = paid.get(payment.number, 0) + payment.amount
    rows = []
    for document in documents:
        more = paid.get(document["number"], 0) - document["total"]
        if more > 0:
            rows.append((document["number"], more))
    return rows


def statement(customer: str, rows: Iterable[Open], today: str) -> list[str]:
    """Gives the lines of a letter with all that is open; none where nothing is."""
    lines = []
    for row in rows:
        late = " (late)" if row.due < today else ""
        lines.append(f"{row.number}  due {row.due}{late}  {row.missing} cents")
    if not lines:
        return []
    return [f"Statement for {customer}, {today}", *lines]
