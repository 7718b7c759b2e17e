# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.credit import credit
from billing.invoice import invoice
from billing.journal import bookings
from billing.quote import quote
from billing.render import invoice_text
from tests.helpers import order, record

CODE, STANDARD, REDUCED, FREE, LEVY = "NO", {{standard}}, {{reduced}}, {{free}}, {{levy}}
LOW = {"books": "B-201", "maps": "M-401"}["{{low}}"]
LEVIED, OTHER = ("P-101", "T-601") if "{{levied}}" == "paper" else ("T-601", "P-101")


def taxes(*amounts):
    """The tax on amounts at the standard rate, by hand."""
    products = [amount * STANDARD for amount in amounts]
    whole = [product // 10000 for product in products]
    return {
        "invoice-up": (sum(products) + 5000) // 10000,
        "line-up": sum((product + 5000) // 10000 for product in products),
        "line-even": sum(round(product / 10000) for product in products),
        "line-down": sum(whole),
    }["{{rounding}}"]


class NewCountryTest(unittest.TestCase):
    def tax(self, *items, **more):
        return invoice(order(CODE, *items, **more))["tax"]

    def test_rates(self):
        self.assertEqual(self.tax((OTHER, 1, 10000)), STANDARD)
        self.assertEqual(self.tax((LOW, 1, 10000)), REDUCED)
        self.assertEqual(self.tax(("C-501", 1, 10000)), 0)
        self.assertEqual(self.tax(("E-301", 1, 10000), delivered="2022-07-01"), REDUCED)
        self.assertEqual(self.tax(("E-301", 1, 10000), delivered="2022-06-30"), STANDARD)
        self.assertEqual(self.tax((OTHER, 1, 10000), vat_id="X1"), STANDARD)

    def test_rounding(self):
        for first in range(10000, 10060):
            amounts = (first, first + 7, first + 11)
            items = [(OTHER, 1, amount) for amount in amounts]
            self.assertEqual(self.tax(*items), taxes(*amounts))

    def test_shipping(self):
        rates = {
            "standard": (STANDARD, STANDARD),
            "largest": (REDUCED, REDUCED),
            "all-reduced": (REDUCED, STANDARD),
        }["{{shipping}}"]
        alone = order(CODE, (LOW, 1, 10000), shipping=100)
        mixed = order(CODE, (LOW, 1, 10000), (OTHER, 1, 9000), shipping=100)
        found = tuple(invoice(one)["shipping"]["rate"] for one in (alone, mixed))
        self.assertEqual(found, rates)

    def test_small_parcels(self):
        self.assertEqual(self.tax((LEVIED, 1, FREE - 1)), 0)
        self.assertGreater(self.tax((LEVIED, 1, FREE)), 0)

    def test_form(self):
        document = invoice(order(CODE, (OTHER, 1, 10001)))
        self.assertEqual((document["currency"], document["rounding"]), ("EUR", 0))
        self.assertIn("VAT ", invoice_text(document))
        self.assertIn("100.01", invoice_text(document))
        self.assertIn("duties", document["notes"][0])

    def test_levy(self):
        document = invoice(order(CODE, (LEVIED, 100, 100)))
        self.assertEqual(document["levy"]["amount"], 100 * LEVY)
        self.assertEqual(document["net"], 10000 + 100 * LEVY)
        self.assertEqual(document["tax"], taxes(10000, 100 * LEVY))
        accounts = {account: cents for _, _, account, cents in bookings(document)}
        self.assertEqual((accounts[3820], accounts[4400]), (-100 * LEVY, -10000))
        self.assertEqual(sum(accounts.values()), 0)
        self.assertIn("Levy ", invoice_text(document))
        self.assertIsNone(invoice(order(CODE, (OTHER, 1, 10000)))["levy"])
        self.assertEqual(quote(order(CODE, (LEVIED, 100, 100)))["net"], 10000)

    def test_levy_comes_back(self):
        given = record(CODE, (LEVIED, 200, 100))
        back = {"invoice": given, "billed": "2026-11-02", "items": [{"line": 0, "quantity": 100}]}
        document = credit(back)
        self.assertEqual(document["levy"]["amount"], -100 * LEVY)
        self.assertEqual(document["net"], -10000 - 100 * LEVY)
