# SPDX-License-Identifier: LicenseRef-Papierhof
"""Paying in parts."""

from typing import Any

from billing.dates import months_after


def plan(total: int, tax: int, count: int, first: str, coin: int = 1) -> list[dict[str, Any]]:
    """Splits a total, and the tax in it, into monthly parts; the first is due on that day."""
    amounts, taxes = _split(total, count, coin), _split(tax, count, 1)
    return [
        {"due": months_after(first, number), "amount": amounts[number], "tax": taxes[number]}
        for number in range(count)
    ]


def _split(cents: int, count: int, coin: int) -> list[int]:
    each, left = divmod(cents // coin, count)
    return [(each + (number < left)) * coin for number in range(count)]
