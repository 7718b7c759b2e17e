import tempfile
import unittest
from pathlib import Path

from onelist import shop

EXPORT = """\
id,first,last,mail,phone,street,zip,town,news,registered,changed
7,Anna,Beispiel,anna@beispiel.example,0761 47110,Am Bach 3,79098,Freiburg,1,2020-01-02,2024-01-02
8,Bert,Muster,,,,,,,2020-01-03,
7,Anna,Beispiel,anna@beispiel.example,0761 47110,Am Bach 3,79098,Freiburg,1,2020-01-02,2024-01-02
"""


class Shop(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "shop.csv")
            path.write_text(text, encoding="utf-8")
            return shop.read(path)

    def test_rows(self):
        people = self.read(EXPORT)
        self.assertEqual([p["key"] for p in people], ["shop:7", "shop:8"])
        self.assertEqual(people[0]["name"], "Anna Beispiel")
        self.assertEqual(people[0]["mail"], "yes")

    def test_empty_cells(self):
        self.assertEqual(self.read(EXPORT)[1]["phone"], "")


if __name__ == "__main__":
    unittest.main()
