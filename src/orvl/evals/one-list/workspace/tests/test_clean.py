import unittest

from onelist import clean

CC = "+" + clean.SETTINGS.country_code


class Cells(unittest.TestCase):
    def test_white_space(self):
        self.assertEqual(clean.text("  Anna   Beispiel "), "Anna Beispiel")

    def test_entities(self):
        self.assertEqual(clean.text("J&ouml;rg"), "Jörg")

    def test_nothing(self):
        self.assertEqual(clean.text(" - "), "")
        self.assertEqual(clean.text(None), "")

    def test_email(self):
        self.assertEqual(clean.email(" Anna@Beispiel.example"), "anna@beispiel.example")
        self.assertEqual(clean.email("anna"), "")

    def test_phone(self):
        self.assertEqual(clean.phone("0761 47110"), CC + "76147110")
        self.assertEqual(clean.phone("+33 1 2345678"), "+3312345678")
        self.assertEqual(clean.phone("0033 1 2345678"), "+3312345678")
        self.assertEqual(clean.phone(""), "")

    def test_day(self):
        self.assertEqual(clean.day("2024-03-01"), "2024-03-01")
        self.assertEqual(clean.day("2024-03-01 10:20:30"), "2024-03-01")
        self.assertEqual(clean.day("01.03.2024"), "2024-03-01")
        self.assertEqual(clean.day("5/5/2024"), "2024-05-05")
        self.assertEqual(clean.day("soon"), "")


class Names(unittest.TestCase):
    def test_name(self):
        self.assertEqual(clean.name("Anna", "Beispiel"), "Anna Beispiel")
        self.assertEqual(clean.name("", "Beispiel"), "Beispiel")

    def test_key(self):
        self.assertEqual(clean.name_key("Jörg Großmann-André"), clean.name_key("JOERG GROSSMANN ANDRE"))


if __name__ == "__main__":
    unittest.main()
