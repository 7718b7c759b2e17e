import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import invoice


def bill(*prices, **more):
    items = [{"name": "Thing", "price": price, "count": 1} for price in prices]
    found = invoice.amounts({"number": "1", "customer": "X", "country": "DE", "items": items, **more})
    return {key: str(value) for key, value in found.items()}


class Fixed(unittest.TestCase):
    def test_half_cents(self):
        self.assertEqual(bill("1.005")["net"], "1.01")
        self.assertEqual(bill(0.125, 0.125)["net"], "0.26")

    def test_a_hundred_ships_for_nothing(self):
        self.assertEqual(bill(60, 40)["shipping"], "0.00")
        self.assertEqual(bill(110, coupon="TEN")["shipping"], "4.90")

    def test_coupons(self):
        self.assertEqual(bill(3, coupon="FIVER")["discount"], "3.00")
        self.assertEqual(bill(3, coupon=" Ten ")["discount"], "0.30")
        self.assertEqual(bill(3, coupon="NONE")["discount"], "0.00")

    def test_countries(self):
        with self.assertRaises(ValueError) as raised:
            bill(1, country="ATLANTIS")
        self.assertIn("ATLANTIS", str(raised.exception))

    def test_no_such_file(self):
        command = [sys.executable, str(ROOT / "invoice.py"), "nowhere.json"]
        done = subprocess.run(command, capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (2, b""))
