# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.instalments import plan
from billing.invoice import invoice
from tests.helpers import order


class PartsTest(unittest.TestCase):
    def test_what_is_left_goes_to_the_first(self):
        parts = plan(1001, 8, 3, "2026-01-31")
        self.assertEqual([part["amount"] for part in parts], [334, 334, 333])
        self.assertEqual([part["tax"] for part in parts], [3, 3, 2])

    def test_swiss_parts_are_coins(self):
        document = invoice(order("CH", ("P-101", 1, 10001), instalments=4))
        amounts = [part["amount"] for part in document["instalments"]]
        self.assertEqual(amounts, [2705, 2705, 2700, 2700])
