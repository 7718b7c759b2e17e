# SPDX-License-Identifier: LicenseRef-Papierhof
"""Tax: all that is different from country to country, by rates.json (docs/rates.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from billing.errors import OrderError
from billing.files import load_json
from billing.money import half_even, half_up

STANDARD, REDUCED, EXEMPT = "standard", "reduced", "exempt"


@dataclass(frozen=True)
class Country:
    """A country that we sell to, with its entry in the table."""

    code: str
    entry: Mapping[str, Any]

    @property
    def is_gross(self) -> bool:
        """Tells whether prices have the tax in them."""
        return self.entry["prices"] == "gross"

    @property
    def is_by_line(self) -> bool:
        """Tells whether tax is rounded line by line in invoices."""
        return self.entry["rounding"] != "invoice-up"

    def kind(self, category: str, delivered: str) -> str:
        """Tells which rate a category had on a day: standard, reduced or exempt."""
        if category in self.entry["exempt"]:
            return EXEMPT
        since = self.entry["reduced"].get(category)
        return STANDARD if since is None or delivered < since else REDUCED

    def newest_kind(self, category: str) -> str:
        """Tells which rate a category has by the whole table."""
        if category in self.entry["exempt"]:
            return EXEMPT
        return REDUCED if category in self.entry["reduced"] else STANDARD

    def rate(self, kind: str, day: str) -> int:
        """Gives a rate of a day, in hundredths of a percent."""
        periods = self.entry["periods"]
        current = [period for period in periods if period["from"] <= day] or periods[:1]
        return current[-1].get(kind, 0)

    def newest_rate(self, kind: str) -> int:
        """Gives a rate of the last period."""
        return self.entry["periods"][-1].get(kind, 0)

    def is_reduced(self, rate: int) -> bool:
        """Tells whether a rate is, or was, the reduced one."""
        return rate in [period["reduced"] for period in self.entry["periods"]]

    def tax(self, amount: int, rate: int) -> int:
        """Gives the tax on an amount (or in it), rounded as the country wants it."""
        divisor = self._divisor(rate)
        if self.entry["rounding"] == "line-even":
            return half_even(amount * rate, divisor)
        if self.entry["rounding"] == "line-down":
            return amount * rate // divisor
        return half_up(amount * rate, divisor)

    def tax_to_nearest(self, amount: int, rate: int) -> int:
        """Gives the tax as quotes and price tags have it, which all round in one way."""
        return half_up(amount * rate, self._divisor(rate))

    def _divisor(self, rate: int) -> int:
        return 10000 + rate if self.is_gross else 10000


@cache
def country_of(code: str) -> Country:
    """Gives a country by its code."""
    table = load_json("billing/rates.json")
    if code not in table:
        raise OrderError(f"we do not sell to {code}")
    return Country(code, table[code])
