import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


class InvoiceTest(unittest.TestCase):
    def test_the_invoices_of_our_orders(self):
        for order in sorted(HERE.glob("orders/*.json")):
            command = [sys.executable, "-X", "utf8", str(HERE / "invoice.py"), str(order)]
            done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout, order.with_suffix(".txt").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
