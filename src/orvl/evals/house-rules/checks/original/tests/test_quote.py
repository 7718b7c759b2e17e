# SPDX-License-Identifier: LicenseRef-Papierhof
import unittest

from billing.quote import quote
from tests.helpers import order


class QuoteTest(unittest.TestCase):
    def test_by_rate_in_all_countries(self):
        document = quote(order("DE", ("P-101", 1, 13), ("P-102", 1, 13), ("P-103", 1, 13)))
        self.assertEqual((document["net"], document["tax"], document["total"]), (39, 7, 46))

    def test_nobodys_vat_id_counts(self):
        self.assertEqual(quote(order("FR", ("P-101", 1, 1000), vat_id="FR1"))["tax"], 200)

    def test_at_the_newest_rates(self):
        old = quote(order("DE", ("E-301", 1, 1000), delivered="2019-01-01", billed="2019-01-02"))
        self.assertEqual(old["tax"], 70)

    def test_dutch(self):
        document = quote(order("NL", ("P-101", 1, 1000), shipping=210))
        self.assertEqual((document["net"], document["tax"], document["total"]), (1000, 210, 1210))
