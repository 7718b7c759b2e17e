# SPDX-License-Identifier: LicenseRef-Papierhof
"""What rates.json says of a country: kinds of goods, rates, rounding."""

from collections.abc import Callable
from typing import Any

from billing.errors import OrderError
from billing.files import load_json
from billing.money import half_even, half_up

Entry = dict[str, Any]
FOREVER = "9999-12-31"


def entry_of(country: str) -> Entry:
    """Gives the entry of a country that we sell to."""
    table = load_json("billing/rates.json")
    if country not in table:
        raise OrderError(f"we do not sell to {country}")
    return table[country]


def kind_of(entry: Entry, category: str, day: str = FOREVER) -> str | None:
    """Gives the name of the rate of a category on a day; None where there is no tax."""
    if category in entry["exempt"]:
        return None
    return "reduced" if day >= entry["reduced"].get(category, "never") else "standard"


def rate_on(entry: Entry, kind: str | None, day: str = FOREVER) -> int:
    """Gives a rate of a day."""
    if kind is None:
        return 0
    found = entry["periods"][0][kind]
    for period in entry["periods"]:
        if day >= period["from"]:
            found = period[kind]
    return found


def is_summed(entry: Entry) -> bool:
    """Tells whether invoices round the tax of each rate in one go."""
    return entry["rounding"].startswith("invoice")


def tax_on(entry: Entry, amount: int, rate: int, direction: str | None = None) -> int:
    """Gives the tax on an amount, or in it, with the rounding of the country or another one."""
    whole = 10000 + rate if entry["prices"] == "gross" else 10000
    return _ROUNDINGS[direction or entry["rounding"].rpartition("-")[2]](amount * rate, whole)


def without_tax(entry: Entry, amount: int, tax: int) -> int:
    """Gives what is left of an amount for us."""
    return amount - tax if entry["prices"] == "gross" else amount


def _down(numerator: int, denominator: int) -> int:
    return numerator // denominator


_ROUNDINGS: dict[str, Callable[[int, int], int]] = {
    "up": half_up,
    "even": half_even,
    "down": _down,
}
