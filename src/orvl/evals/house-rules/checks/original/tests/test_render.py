# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.invoice import invoice
from billing.money import half_even, half_up, percent, to_step, written
from billing.render import invoice_text
from tests.helpers import order


class TextTest(unittest.TestCase):
    def test_text(self):
        text = invoice_text(
            invoice(order("FR", ("B-201", 2, 1000), ("P-101", 1, 100), shipping=490))
        )
        self.assertIn("TVA 5,5 %", text)
        self.assertIn("TVA 20 %", text)
        self.assertIn("Shipping", text)

    def test_free(self):
        self.assertIn("VAT free", invoice_text(invoice(order("GB", ("B-201", 1, 1000)))))

    def test_all_rows_are_as_wide(self):
        text = invoice_text(invoice(order("DE", ("P-101", 1, 1000))))
        self.assertEqual({len(row) for row in text.splitlines()[4:-1]}, {64})


class MoneyTest(unittest.TestCase):
    def test_half_up(self):
        self.assertEqual([half_up(n, 10) for n in (4, 5, 14, 15, -5, -15)], [0, 1, 1, 2, -1, -2])

    def test_half_even(self):
        self.assertEqual([half_even(n, 10) for n in (5, 15, 25, 16, -5, -15)], [0, 2, 2, 2, 0, -2])

    def test_to_step(self):
        self.assertEqual([to_step(n, 5) for n in (1, 2, 3, 7, 8)], [0, 0, 5, 5, 10])

    def test_written(self):
        self.assertEqual([written(n) for n in (5, -5, 12345)], ["0.05", "-0.05", "123.45"])

    def test_percent(self):
        self.assertEqual([percent(n, ",") for n in (550, 1900, 1960)], ["5,5 %", "19 %", "19,6 %"])
