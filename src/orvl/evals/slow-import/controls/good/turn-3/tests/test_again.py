import unittest

from tests.office import Office

SALE = "S;00000001;01.07.2026 09:05:00;HAF;DAYT;2;12,50;"
LINES = (
    SALE,
    "C" + SALE[1:].replace(";2;", ";3;"),
    "C" + SALE[1:].replace(";2;", ";4;"),
    SALE.replace("00000001", "00000002"),
    "T;",
)


class Again(Office):
    def test_a_file_counts_once(self):
        first = self.desk("a.csv", *LINES)
        rejects, export = self.read("a.csv.rejects"), self.export("2026-07")
        self.assertEqual(self.desk("a.csv", *LINES), first)
        self.assertEqual((self.read("a.csv.rejects"), self.export("2026-07")), (rejects, export))

    def test_with_more_lines_it_is_another_file(self):
        self.desk("a.csv", *LINES)
        self.assertIn(" 1 new", self.desk("a.csv", *LINES, SALE.replace("00000001", "00000003"))[1])

    def test_the_last_one_comes_first(self):
        self.desk("a.csv", *LINES, SALE.replace("00000001", "00000003"))
        numbers = [line.split(";")[3] for line in self.export("2026-07") if line.startswith("R;")]
        self.assertEqual(numbers, ["00000003", "00000002", "00000001"])


if __name__ == "__main__":
    unittest.main()
