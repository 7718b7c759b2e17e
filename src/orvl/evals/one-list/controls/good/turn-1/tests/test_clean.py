import unittest
from dataclasses import replace

from onelist import clean, settings

SETTINGS = replace(settings.load(), country_code="49", nothing=frozenset({"-", "keine"}))


class Cells(unittest.TestCase):
    def test_white_space(self):
        self.assertEqual(clean.text("  Anna \u00a0\n Bei\u200bspiel ", SETTINGS), "Anna Beispiel")

    def test_umlauts_in_two_pieces(self):
        self.assertEqual(clean.text("Ju\u0308rg", SETTINGS), "Jürg")

    def test_nothing(self):
        self.assertEqual([clean.text(raw, SETTINGS) for raw in (" - ", "KEINE", "keiner")], ["", "", "keiner"])

    def test_email(self):
        self.assertEqual(clean.email("mailto:Anna@Beispiel.example"), "anna@beispiel.example")
        for wrong in ("anna", "anna@", "@beispiel.example", "a@b@c.example", "an na@b.example"):
            self.assertEqual(clean.email(wrong), "", wrong)

    def test_phone(self):
        for spelling in ("0761 47110", "+49 (0)761/47110", "0049 761 47110", '="0761 47110"', "0761 47110, 0171 1"):
            self.assertEqual(clean.phone(spelling, "49", lost_zero=False), "+4976147110", spelling)
        self.assertEqual(clean.phone("761 47110", "49", lost_zero=True), "+4976147110")
        for wrong in ("761 47110", "112", "", "+49 1234567890123456"):
            self.assertEqual(clean.phone(wrong, "49", lost_zero=False), "", wrong)

    def test_day(self):
        self.assertEqual(clean.day("2024-03-01 10:20:30", "shop"), "2024-03-01")
        self.assertEqual(clean.day("01.03.2024", "till"), "2024-03-01")
        self.assertEqual(clean.day("3/1/2024 2:05 PM", "news"), "2024-03-01")
        self.assertEqual([clean.day("00.00.0000", "till"), clean.day("2023-02-30", "shop")], ["", ""])


class Names(unittest.TestCase):
    def test_first_last(self):
        self.assertEqual(clean.first_last("Muster, Anna Lena"), "Anna Lena Muster")
        self.assertEqual(clean.first_last("Verein"), "Verein")

    def test_key(self):
        self.assertEqual(clean.name_key("Jörg Großmann-André"), clean.name_key("JOERG GROSSMANN ANDRE"))


if __name__ == "__main__":
    unittest.main()
