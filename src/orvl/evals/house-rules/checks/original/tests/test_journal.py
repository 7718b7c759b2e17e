# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.instalments import plan
from billing.invoice import invoice
from billing.journal import bookings, written_booking
from tests.helpers import order


class JournalTest(unittest.TestCase):
    def test_accounts(self):
        items = ("P-101", 1, 1000), ("B-201", 1, 1000), ("C-501", 1, 1000)
        rows = bookings(invoice(order("DE", *items)))
        self.assertEqual(
            [(account, cents) for _, _, account, cents in rows],
            [(1200, 3260), (4400, -1000), (3806, -190), (4300, -1000), (3801, -70), (4100, -1000)],
        )

    def test_coins_have_an_account(self):
        rows = bookings(invoice(order("CH", ("P-101", 1, 10001))))
        self.assertIn(4840, [account for _, _, account, _ in rows])
        self.assertEqual(sum(cents for *_, cents in rows), 0)

    def test_as_a_line(self):
        self.assertEqual(written_booking(("2026-10-09", "R1", 1200, 5)), "2026-10-09;R1;1200;5")

    def test_plan(self):
        parts = plan(9000, 1437, 3, "2026-11-30")
        self.assertEqual(
            [part["due"] for part in parts], ["2026-11-30", "2026-12-30", "2027-01-30"]
        )
        self.assertEqual({(part["amount"], part["tax"]) for part in parts}, {(3000, 479)})

    def test_parts_balance(self):
        document = invoice(order("DE", ("P-101", 1, 10000), instalments=3))
        rows = bookings(document)
        self.assertEqual(len(rows), 5)
        self.assertEqual(sum(cents for *_, cents in rows), 0)
