import sys
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import invoice


def order(price, count=1, country="DE", **more):
    items = [{"name": "Pen", "price": price, "count": count}]
    return {"number": "R-1", "customer": "Ann", "country": country, "items": items, **more}


class ReportsTest(unittest.TestCase):
    def test_half_a_cent_is_rounded_upwards(self):
        self.assertEqual(invoice.amounts(order(0.335, 3))["net"], Decimal("1.01"))

    def test_free_from_a_hundred(self):
        self.assertEqual(invoice.amounts(order(100))["shipping"], 0)
        self.assertEqual(invoice.amounts(order(99.99))["shipping"], Decimal("4.90"))
        self.assertEqual(invoice.amounts(order(100, country="CH"))["shipping"], Decimal("19.90"))

    def test_a_coupon_is_at_most_the_net(self):
        self.assertEqual(invoice.amounts(order(3, coupon="FIVER"))["discount"], 3)

    def test_coupons_as_customers_type_them(self):
        self.assertIn("Coupon TEN", invoice.render(order(50, coupon=" ten ")))

    def test_unknown_countries(self):
        with self.assertRaisesRegex(ValueError, "XX"):
            invoice.render(order(1, country="XX"))


if __name__ == "__main__":
    unittest.main()
