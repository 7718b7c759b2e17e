import unittest
from decimal import Decimal

from tally import dates, money
from tally.errors import Problem
from tally.readers import csvfile, datfile, jsonfile
from tally.settings import Product, Settings

SETTINGS = Settings("Partner", {"HAF": "Harbour"}, {"DAYT": Product("DAYT", "Day", Decimal("12.5"), 10)})


class Csv(unittest.TestCase):
    def test_fields(self):
        self.assertEqual(csvfile.split_fields('a;"b;""c""";;d'), ["a", 'b;"c"', "", "d"])

    def test_half_quotes_are_a_problem(self):
        for line in ('a;"b', 'a;b"c;d', 'a;"b"c;d'):
            with self.assertRaises(Problem) as caught:
                csvfile.split_fields(line)
            self.assertEqual(caught.exception.reason, "quotes")

    def test_row(self):
        row = csvfile.parse("S;00481533;1.7.2026 9:05;HAF;DAYT;2;12,5;  two \t men ", SETTINGS)
        self.assertEqual(row.content(), ("2026-07-01 09:05:00", "HAF", "DAYT", 2, "12.50", "two men"))

    def test_reasons(self):
        good = ["S", "00481533", "01.07.2026 09:05:00", "HAF", "DAYT", "2", "12,50", ""]
        for place, text, reason in (
            (0, "T", "kind"), (1, "481533", "number"), (2, "31.06.2026 09:05", "date"), (3, "XXX", "venue"),
            (4, "day", "product"), (5, "0", "count"), (6, "12.50", "price"), (7, "a;b", "fields"),
        ):
            line = ";".join(good[:place] + [text] + good[place + 1 :])
            with self.assertRaises(Problem) as caught:
                csvfile.parse(line, SETTINGS)
            self.assertEqual(caught.exception.reason, reason)

    def test_end(self):
        self.assertEqual(csvfile.end_count("#END;12"), 12)
        self.assertIsNone(csvfile.end_count("X;00481533"))


class Dat(unittest.TestCase):
    def test_row(self):
        row = datfile.parse("S0048153320260714090500HAFDAYT002001250  school ", SETTINGS)
        self.assertEqual(row.content(), ("2026-07-14 09:05:00", "HAF", "DAYT", 2, "12.50", "school"))

    def test_short_lines(self):
        self.assertEqual(datfile.parse("X00481533", SETTINGS).kind, "X")
        with self.assertRaises(Problem):
            datfile.parse("S0048153320260714090500HAFDAYT002", SETTINGS)


class Json(unittest.TestCase):
    def test_row(self):
        row = jsonfile.parse(
            '{"kind": "S", "number": "00481533", "sold": "2026-07-14T09:05:00", "venue": "HAF", "product": "DAYT",'
            ' "count": 2, "price": 12.5, "note": null}',
            SETTINGS,
        )
        self.assertEqual(row.content(), ("2026-07-14 09:05:00", "HAF", "DAYT", 2, "12.50", ""))

    def test_no_json(self):
        with self.assertRaises(Problem):
            jsonfile.parse("{", SETTINGS)


class Parts(unittest.TestCase):
    def test_prices(self):
        for text, wanted in (("12,5", "12.50"), ("12", "12.00"), ("1.234,50", "1234.50")):
            self.assertEqual(str(money.parse_price(text)), wanted)

    def test_totals(self):
        product = SETTINGS.products["DAYT"]
        self.assertEqual(str(money.total(9, Decimal("1.10"), product)), "9.90")
        self.assertEqual(str(money.total(10, Decimal("1.10"), product)), "9.62")
        self.assertEqual(str(money.total(10, Decimal("0.02"), product)), "0.18")

    def test_months(self):
        self.assertEqual(dates.next_month("2026-12"), "2027-01")
        self.assertEqual(dates.next_month("2026-08"), "2026-09")


if __name__ == "__main__":
    unittest.main()
