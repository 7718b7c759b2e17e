# SPDX-License-Identifier: LicenseRef-Papierhof
import subprocess
import sys
import unittest
from contextlib import redirect_stdout
from io import StringIO

from billing.__main__ import main
from billing.files import HOME, load_records
from billing.orders import read_order
from reports.top_customers import top_customers
from reports.vat_return import vat_return
from tests.helpers import order


def run(*words):
    return subprocess.run(
        [sys.executable, *words], cwd=HOME, capture_output=True, text=True, check=False
    )


class ReturnTest(unittest.TestCase):
    def test_german_form_has_no_cents(self):
        rows = vat_return(
            [order("DE", ("P-101", 1, 1099)), order("DE", ("P-101", 1, 1099))], "2026-4"
        )
        self.assertEqual(rows, [("DE", 1900, 2100, 399)])

    def test_sums_elsewhere(self):
        rows = vat_return(
            [order("AT", ("P-101", 1, 1099)), order("AT", ("P-101", 1, 1099))], "2026-4"
        )
        self.assertEqual(rows, [("AT", 2000, 2198, 440)])

    def test_other_quarters(self):
        self.assertEqual(vat_return([order("DE", ("P-101", 1, 1099))], "2026-3"), [])

    def test_october(self):
        orders = [read_order(one) for one in load_records(HOME / "data/orders-2026-10.jsonl")]
        self.assertIn(("FR", 2000, 3767, 753), vat_return(orders, "2026-4"))


class ProgramsTest(unittest.TestCase):
    def test_tags(self):
        tags = run("scripts/price_tags.py", "FR").stdout.splitlines()
        self.assertEqual(tags[0], "P-101;Ivory paper A4;4.39")

    def test_documents(self):
        for kind in ("invoice", "quote", "text", "journal"):
            with self.subTest(kind), redirect_stdout(StringIO()) as said:
                self.assertEqual(main([kind, str(HOME / "data/orders-2026-10.jsonl")]), 0)
            self.assertGreaterEqual(len(said.getvalue().splitlines()), 44)

    def test_mistakes_are_told(self):
        ended = run("-m", "billing", "invoice", "nowhere.jsonl")
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        self.assertIn("nowhere.jsonl", ended.stderr)

    def test_best_customers(self):
        best = top_customers(load_records(HOME / "data/orders-2026-10.jsonl"))
        self.assertEqual(best, sorted(best, key=lambda row: -row[1]))

    def test_house_rules(self):
        ended = run("tools/house.py")
        self.assertEqual(ended.stdout, "The house is in order.\n")
