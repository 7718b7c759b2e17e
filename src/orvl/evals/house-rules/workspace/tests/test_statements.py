# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.errors import OrderError
from billing.numbers import invoice_number
from billing.statements import (
    Open,
    Payment,
    open_documents,
    overpaid,
    read_payment,
    statement,
    strays,
)
from reports.aging import ages
from reports.by_category import by_category
from tests.helpers import order

NUMBER = invoice_number("A-7", "2026-10-09")
OTHER = invoice_number("A-8", "2026-10-10")


def document(number, total, due="2026-10-23", billed="2026-10-09"):
    return {"kind": "invoice", "number": number, "total": total, "due": due, "billed": billed}


class StatementTest(unittest.TestCase):
    def test_payments(self):
        record = {"number": NUMBER, "day": "2026-10-20", "amount": 500}
        self.assertEqual(read_payment(record), Payment(NUMBER, "2026-10-20", 500))
        for wrong in ({"number": "R2610-A-7"}, {"day": "soon"}, {"amount": 0}, {"amount": 1.5}):
            with self.subTest(wrong), self.assertRaises(OrderError):
                read_payment(record | wrong)

    def test_open(self):
        documents = [document(NUMBER, 1000), document(OTHER, 300, due="2026-10-20")]
        paid = [Payment(NUMBER, "2026-10-20", 400), Payment(NUMBER, "2026-12-01", 600)]
        rows = open_documents(documents, paid, "2026-11-01")
        self.assertEqual(rows, [Open(OTHER, "2026-10-20", 300), Open(NUMBER, "2026-10-23", 600)])
        self.assertEqual(open_documents(documents, paid, "2026-10-08"), [])
        self.assertEqual(len(open_documents(documents, paid, "2026-12-01")), 1)

    def test_what_does_not_fit(self):
        paid = [Payment(NUMBER, "2026-10-20", 1200), Payment(OTHER, "2026-10-20", 1)]
        self.assertEqual(overpaid([document(NUMBER, 1000)], paid), [(NUMBER, 200)])
        self.assertEqual(strays([document(NUMBER, 1000)], paid), [paid[1]])

    def test_letters(self):
        rows = [Open(NUMBER, "2026-10-23", 600)]
        self.assertIn("(late)", statement("Fenn", rows, "2026-11-01")[1])
        self.assertNotIn("(late)", statement("Fenn", rows, "2026-10-23")[1])
        self.assertEqual(statement("Fenn", [], "2026-10-23"), [])

    def test_ages(self):
        rows = [
            Open("a", "2026-10-01", 1),
            Open("b", "2026-09-15", 20),
            Open("c", "2026-01-01", 300),
        ]
        self.assertEqual(
            ages(rows, "2026-10-01"),
            [("not due", 1), ("0 days", 20), ("30 days", 0), ("60 days", 0), ("90 days", 300)],
        )

    def test_categories(self):
        rows = by_category([order("DE", ("P-101", 2, 100), ("T-601", 1, 50), ("P-102", 1, 10))])
        self.assertEqual(rows[0], ("paper", 3, 210))
        self.assertEqual(rows[1], ("books", 0, 0))
