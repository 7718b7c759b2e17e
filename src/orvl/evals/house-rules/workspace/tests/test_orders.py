# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.dates import checked, months_after, quarter
from billing.errors import OrderError
from billing.numbers import check_digit, invoice_number, order_of
from billing.orders import read_order
from billing.reminders import fee, letter, level
from tests.helpers import record


class OrderTest(unittest.TestCase):
    def test_reads_what_the_shop_writes(self):
        one = read_order(record("DE", ("P-101", 2, 150), shipping=490))
        self.assertEqual((one.items[0].category, one.items[0].quantity), ("paper", 2))
        self.assertEqual((one.discount, one.shipping, one.instalments), (0, 490, 1))

    def test_the_catalogue_has_the_price(self):
        given = record("DE", ("P-101", 2, 150))
        del given["items"][0]["price"]
        self.assertEqual(read_order(given).items[0].price, 366)

    def test_refuses_nonsense(self):
        good = record("DE", ("P-101", 2, 150))
        for wrong in (
            {"id": ""},
            {"billed": "2026-02-30"},
            {"delivered": "20261009"},
            {"items": []},
            {"items": [{"sku": "X-1", "quantity": 1}]},
            {"items": [{"sku": "P-101", "quantity": 0}]},
            {"discount": 10001},
            {"instalments": 13},
            {"shipping": 4.9},
            {"customer": {"name": "Nobody"}},
        ):
            with self.subTest(wrong), self.assertRaises(OrderError):
                read_order({**good, **wrong})


class DayTest(unittest.TestCase):
    def test_days(self):
        self.assertEqual(checked("2026-11-18"), "2026-11-18")
        self.assertEqual(quarter("2026-11-18"), "2026-4")

    def test_months(self):
        days = [months_after("2026-01-31", count) for count in (0, 1, 2, 12)]
        self.assertEqual(days, ["2026-01-31", "2026-02-28", "2026-03-31", "2027-01-31"])


class NumberTest(unittest.TestCase):
    def test_slips_are_seen(self):
        number = invoice_number("A-1001", "2026-10-02")
        self.assertEqual(order_of(number), "A-1001")
        with self.assertRaises(OrderError):
            order_of(number.replace("1001", "1010"))
        self.assertEqual(check_digit("A-1"), 9)


class ReminderTest(unittest.TestCase):
    document = {"customer": "Fenn & Daughter", "number": "R1", "due": "2026-10-01"}

    def test_levels(self):
        days = ("2026-10-07", "2026-10-08", "2026-10-22", "2027-01-01")
        self.assertEqual([level(self.document, day) for day in days], [0, 1, 2, 3])
        self.assertEqual([fee(self.document, day) for day in days], [0, 0, 500, 1500])

    def test_letters(self):
        self.assertEqual(letter(self.document, "2026-10-02"), [])
        self.assertEqual(len(letter(self.document, "2026-10-08")), 3)
