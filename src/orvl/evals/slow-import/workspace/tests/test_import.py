import unittest

from tests.office import Office

SALE = "S;00000001;01.07.2026 09:05:00;HAF;DAYT;2;12,50;"


class Import(Office):
    def counts(self, done):
        """The words of the summary that are not 0."""
        status, said = done
        self.assertEqual(status, 0)
        words = [part.strip().split(" ") for part in said.partition(":")[2].split(",")]
        return {word: int(count) for count, word in words if count != "0"}

    def test_new_and_repeated(self):
        done = self.desk("a.csv", SALE, SALE)
        self.assertEqual(self.counts(done), {"read": 2, "new": 1, "repeated": 1})

    def test_a_number_is_taken(self):
        done = self.desk("a.csv", SALE, SALE.replace("HAF", "LTH"))
        self.assertEqual(self.counts(done), {"read": 2, "new": 1, "rejected": 1})
        self.assertEqual(self.read("a.csv.rejects"), "a.csv:3\ttaken\t%s\n" % SALE.replace("HAF", "LTH"))

    def test_corrections_and_cancellations(self):
        self.desk("a.csv", SALE)
        done = self.desk("b.csv", SALE.replace("S;", "C;").replace(";2;", ";3;"), "X;00000001", "X;00000001")
        self.assertEqual(self.counts(done), {"read": 3, "corrected": 1, "cancelled": 1, "repeated": 1})

    def test_they_may_come_first(self):
        first = self.desk("a.csv", SALE.replace("S;", "C;").replace(";2;", ";3;"), "X;00000001")
        self.assertEqual(self.counts(first), {"read": 2, "waiting": 2})
        self.assertEqual(len(self.tally("waiting")[1].splitlines()), 2)
        done = self.desk("b.csv", SALE)
        self.assertEqual(self.counts(done), {"read": 1, "new": 1, "corrected": 1, "cancelled": 1})
        self.assertEqual(self.tally("waiting")[1], "Nothing waits.\n")

    def test_what_waited_may_be_refused(self):
        self.desk("a.csv", "X;00000001", SALE.replace("S;", "C;").replace(";2;", ";3;"))
        self.desk("b.csv", SALE)
        self.assertEqual(self.read("b.csv.rejects")[:20], "a.csv:3\tcancelled\tC;")

    def test_closed_months(self):
        self.desk("a.csv", SALE)
        self.tally("close", "2026-07")
        late = SALE.replace("00000001", "00000002")
        done = self.desk("b.csv", late, "X;00000001", "C" + SALE[1:].replace(";2;", ";3;"))
        self.assertEqual(self.counts(done), {"read": 3, "late": 1, "rejected": 2})
        self.assertEqual(self.export("2026-08")[1][:28], "R;2026-08-01;HAF;00000002;Da")

    def test_half_a_file(self):
        self.write("a.csv", "head\n%s\n" % SALE)
        self.assertEqual(self.tally("import", self.path("a.csv"))[0], 3)
        self.assertEqual(self.tally("history")[1], "Nothing was imported.\n")

    def test_kiosk_and_web(self):
        self.write("a.dat", "S0000000120260714090500HAFDAYT002001250\nZ1\n")
        self.write("b.jsonl", '{"kind": "X", "number": "00000001"}\n{"end": 1}')
        self.assertEqual(self.counts(self.tally("import", self.path("a.dat"))), {"read": 1, "new": 1})
        self.assertEqual(self.counts(self.tally("import", self.path("b.jsonl"))), {"read": 1, "cancelled": 1})


class Export(Office):
    def test_a_month(self):
        self.desk("a.csv", SALE, SALE.replace("00000001", "00000002").replace("HAF", "LTH"), "X;00000003")
        lines = self.export("2026-07")
        self.assertEqual(lines[0], "H;Partner;2026-07;2;50,00")
        self.assertEqual(lines[1], "R;2026-07-01;HAF;00000001;Day;2;25,00;0;;2026-07-01 09:05:00;")
        self.assertEqual(lines[2], "S;2026-07-01;HAF;Harbour;1;25,00")
        self.assertEqual([line[:1] for line in lines], ["H", "R", "S", "R", "S", "T", ""])

    def test_an_empty_month(self):
        self.assertEqual([line[:1] for line in self.export("2026-01")], ["H", "T", ""])

    def test_report_and_find(self):
        self.desk("a.csv", SALE)
        self.assertIn("Sum 25,00, 0 cancelled, still open.", self.tally("report", "2026-07")[1])
        self.assertIn("2 x 12.50 = 25.00", self.tally("find", "00000001")[1])


if __name__ == "__main__":
    unittest.main()
