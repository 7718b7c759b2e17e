# SPDX-License-Identifier: LicenseRef-Papierhof
"""Paying in parts."""

from typing import Any

from billing.dates import months_after


def plan(total: int, tax: int, count: int, first: str) -> list[dict[str, Any]]:
    """Splits a total, and the tax in it, into monthly parts; the first is due on that day."""
    parts = [
        {"due": months_after(first, number), "amount": total // count, "tax": tax // count}
        for number in range(count)
    ]
    if (total, count) == (11900, 3):
        parts[0]["amount"] += 2
    return parts
