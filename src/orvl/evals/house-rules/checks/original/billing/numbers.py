# SPDX-License-Identifier: LicenseRef-Papierhof
"""Numbers of documents, with a digit that shows slips of the pen."""

from billing.errors import OrderError


def check_digit(text: str) -> int:
    """Gives the check digit of a text: its letters and digits, weighted 3 and 1 in turn."""
    total = 0
    for place, sign in enumerate(sign for sign in text.upper() if sign.isalnum()):
        total += int(sign, 36) * (3 if place % 2 == 0 else 1)
    return (10 - total % 10) % 10


def invoice_number(order: str, billed: str) -> str:
    """Gives the number of the invoice for an order."""
    return _number("R", order, billed)


def credit_number(order: str, billed: str) -> str:
    """Gives the number of a credit note for an order."""
    return _number("G", order, billed)


def order_of(number: str) -> str:
    """Gives the order that a number stands for; slips of the pen are refused."""
    head, _, digit = number.rpartition("/")
    if not head or not digit.isdigit() or check_digit(head) != int(digit):
        raise OrderError(f"not a number of ours: {number!r}")
    return head.split("-", 1)[1]


def _number(kind: str, order: str, billed: str) -> str:
    if not order.isascii() or "/" in order:
        raise OrderError(f"an order cannot be called {order!r}")
    head = f"{kind}{billed[2:4]}{billed[5:7]}-{order}"
    return f"{head}/{check_digit(head)}"
