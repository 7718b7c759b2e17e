# SPDX-License-Identifier: LicenseRef-Papierhof
"""Paying in parts."""

from typing import Any

from billing.dates import months_after


def plan(
    total: int, tax: int, count: int, first: str, *, coin: int = 1
) -> list[dict[str, Any]]:
    """Splits a total, and the tax in it, into monthly parts; the first is due on that day."""
    parts = []
    for number in range(count):
        left = count - number
        # Rounded up, so that what cannot be divided is paid first.
        amount, share = -(-total // (coin * left)) * coin, -(-tax // left)
        parts.append({"due": months_after(first, number), "amount": amount, "tax": share})
        total, tax = total - amount, tax - share
    return parts
