# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.errors import OrderError
from billing.invoice import invoice
from billing.tax import Country, country_of
from tests.helpers import order

ENTRY = {
    "prices": "net",
    "periods": [{"from": "2020-01-01", "standard": 2500, "reduced": 500}],
    "reduced": {"books": "2021-01-01"},
    "exempt": ["courses"],
    "rounding": "line-even",
}


class CountryTest(unittest.TestCase):
    def test_kinds(self):
        country = Country("XX", ENTRY)
        days = ("2020-12-31", "2021-01-01")
        self.assertEqual([country.kind("books", day) for day in days], ["standard", "reduced"])
        self.assertEqual(country.kind("courses", days[0]), "exempt")
        self.assertEqual(country.rate("standard", "1999-01-01"), 2500)

    def test_rounding(self):
        amounts = (2, 6, -2, -6)
        for rounding, taxes in {
            "line-up": [1, 2, -1, -2],
            "line-even": [0, 2, 0, -2],
            "line-down": [0, 1, -1, -2],
        }.items():
            country = Country("XX", {**ENTRY, "rounding": rounding})
            self.assertEqual([country.tax(amount, 2500) for amount in amounts], taxes)

    def test_unknown(self):
        with self.assertRaises(OrderError):
            country_of("XX")

    def test_shipping_has_the_rate_of_the_bill(self):
        days = {"delivered": "2023-12-30", "billed": "2024-01-02"}
        document = invoice(order("CH", ("P-101", 1, 9000), shipping=1000, **days))
        self.assertEqual((document["lines"][0]["rate"], document["shipping"]["rate"]), (770, 810))
