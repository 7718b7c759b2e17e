# SPDX-License-Identifier: LicenseRef-Papierhof
"""Names that the shop imports from here."""

from billing.parts import amount_of, is_reverse_charge
from billing.rates import entry_of, kind_of, rate_on

__all__ = ["amount_of", "is_reverse_charge", "rate_of"]


def rate_of(country: str, category: str, delivered: str) -> int:
    """Gives the rate of a category in hundredths of a percent."""
    entry = entry_of(country)
    return rate_on(entry, kind_of(entry, category, delivered), delivered)
