# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.errors import OrderError
from billing.invoice import invoice, payment_days
from billing.lines import amount_of, is_reverse_charge, rate_of
from tests.helpers import order


def sums(document):
    return document["net"], document["tax"], document["total"]


class InvoiceTest(unittest.TestCase):
    def test_germany_by_line(self):
        document = invoice(order("DE", ("P-101", 1, 13), ("P-102", 1, 13), ("P-103", 1, 13)))
        self.assertEqual([line["tax"] for line in document["lines"]], [2, 2, 2])
        self.assertEqual(sums(document), (39, 6, 45))

    def test_france_by_invoice(self):
        document = invoice(order("FR", ("P-101", 1, 13), ("P-102", 1, 13), ("P-103", 1, 13)))
        self.assertEqual([line["tax"] for line in document["lines"]], [None, None, None])
        self.assertEqual(sums(document), (39, 8, 47))

    def test_austria_rounds_halves_to_even(self):
        taxes = [
            line["tax"] for line in invoice(order("AT", ("B-201", 1, 5), ("B-202", 1, 15)))["lines"]
        ]
        self.assertEqual(taxes, [0, 2])

    def test_dutch_prices_have_it_in_them(self):
        document = invoice(order("NL", ("P-101", 1, 1210), ("B-201", 1, 1090)))
        self.assertEqual(sums(document), (2000, 300, 2300))

    def test_swiss_coins(self):
        document = invoice(order("CH", ("P-101", 1, 10001)))
        self.assertEqual(
            (document["tax"], document["rounding"], document["total"]), (810, -1, 10810)
        )

    def test_small_swiss_parcels_are_free(self):
        self.assertEqual(invoice(order("CH", ("P-101", 1, 6199)))["tax"], 0)
        self.assertEqual(invoice(order("CH", ("P-101", 1, 6200)))["tax"], 502)

    def test_britain_rounds_down(self):
        self.assertEqual(invoice(order("GB", ("P-101", 1, 999)))["tax"], 199)

    def test_companies_elsewhere_pay_it_themselves(self):
        there = order("AT", ("P-101", 1, 1000), vat_id="ATU1")
        here = order("DE", ("P-101", 1, 1000), vat_id="DE1")
        self.assertTrue(is_reverse_charge(there))
        self.assertFalse(is_reverse_charge(here))
        self.assertEqual((invoice(there)["tax"], invoice(here)["tax"]), (0, 190))
        self.assertIn("reverse charge", invoice(there)["notes"][-1])

    def test_discount(self):
        one = order("DE", ("P-101", 3, 333), discount=750)
        self.assertEqual(amount_of(one.items[0], one.discount), 924)

    def test_shipping_follows_the_main_thing_in_germany(self):
        document = invoice(order("DE", ("B-201", 1, 2000), ("P-101", 1, 1999), shipping=500))
        self.assertEqual(document["shipping"], {"amount": 500, "rate": 700, "tax": 35})

    def test_shipping_of_books_in_austria(self):
        books = invoice(order("AT", ("B-201", 1, 2000), shipping=500))
        mixed = invoice(order("AT", ("B-201", 1, 2000), ("P-101", 1, 10), shipping=500))
        self.assertEqual((books["shipping"]["rate"], mixed["shipping"]["rate"]), (1000, 2000))

    def test_notes_of_the_lawyers(self):
        self.assertEqual(invoice(order("DE", ("P-101", 1, 10)))["notes"], [])
        self.assertEqual(len(invoice(order("CH", ("P-101", 1, 10)))["notes"]), 1)

    def test_days_to_pay(self):
        self.assertEqual([payment_days(country) for country in ("DE", "FR", "XX")], [14, 30, 21])
        self.assertEqual(invoice(order("FR", ("P-101", 1, 10)))["due"], "2026-11-08")

    def test_countries_that_we_do_not_sell_to(self):
        with self.assertRaises(OrderError):
            invoice(order("XX", ("P-101", 1, 10)))


class RateTest(unittest.TestCase):
    def test_rates_change(self):
        days = ("2020-06-30", "2020-07-01", "2020-12-31", "2021-01-01")
        self.assertEqual([rate_of("DE", "paper", day) for day in days], [1900, 1600, 1600, 1900])
        self.assertEqual([rate_of("DE", "books", day) for day in days], [700, 500, 500, 700])
        self.assertEqual(
            [rate_of("CH", "tools", day) for day in ("2023-12-31", "2024-01-01")], [770, 810]
        )

    def test_e_books_became_books(self):
        self.assertEqual(rate_of("DE", "ebooks", "2019-12-17"), 1900)
        self.assertEqual(rate_of("DE", "ebooks", "2019-12-18"), 700)
        self.assertEqual(rate_of("GB", "ebooks", "2020-05-01"), 0)

    def test_courses(self):
        self.assertEqual(
            [rate_of(code, "courses", "2026-01-01") for code in ("AT", "FR")], [0, 2000]
        )
