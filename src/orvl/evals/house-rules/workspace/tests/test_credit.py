# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.credit import credit
from billing.errors import OrderError
from tests.helpers import record


def back(country, count, price, sku="P-101", returned=None, **more):
    return credit(
        {
            "invoice": record(country, (sku, count, price), **more),
            "billed": "2026-11-02",
            "items": [{"line": 0, "quantity": returned or count}],
        }
    )


class CreditTest(unittest.TestCase):
    def test_line_by_line(self):
        document = back("DE", 3, 1000, returned=2)
        self.assertEqual(
            (document["net"], document["tax"], document["total"]), (-2000, -380, -2380)
        )

    def test_in_pieces(self):
        self.assertEqual(back("DE", 3, 333, returned=1, discount=1000)["net"], -300)

    def test_britain(self):
        self.assertEqual(back("GB", 1, 999)["tax"], -200)

    def test_austria(self):
        self.assertEqual(back("AT", 1, 25, sku="B-201")["tax"], -2)

    def test_dutch(self):
        document = back("NL", 1, 1210)
        self.assertEqual(
            (document["net"], document["tax"], document["total"]), (-1000, -210, -1210)
        )

    def test_small_swiss_parcels(self):
        self.assertEqual(back("CH", 1, 1000)["tax"], -81)

    def test_companies(self):
        self.assertEqual(back("FR", 1, 1000, vat_id="FR1")["tax"], 0)

    def test_more_than_there_was(self):
        with self.assertRaises(OrderError):
            back("DE", 1, 100, returned=2)
