import contextlib
import io
import sqlite3
import tempfile
import unittest
from pathlib import Path

from onelist import readers, settings
from onelist.__main__ import main

SETTINGS = settings.load()


def entry(source, **cells):
    columns = SETTINGS.headers[readers.SECTIONS[source]]
    return readers.Entry(source, dict.fromkeys(columns, "") | cells, columns, SETTINGS)


class Cells(unittest.TestCase):
    def test_phones(self):
        code = SETTINGS.country_code
        for source, text, wanted in (
            ("shop", f"+{code} (0)761 47110", f"+{code}76147110"),
            ("till", '="0761 47110"', f"+{code}76147110"),
            ("till", "761 47110", f"+{code}76147110"),
            ("shop", "761 47110", ""),
            ("news", "0761 47110, 0171 99", f"+{code}76147110"),
            ("news", "112", ""),
        ):
            with self.subTest(text=text, source=source):
                self.assertEqual(entry(source, phone=text).phone(), wanted)

    def test_days(self):
        self.assertEqual(entry("news", since="3/31/2024 2:05 PM").day("since"), "2024-03-31")
        self.assertEqual(entry("till", since="00.00.0000").day("since"), "")

    def test_addresses(self):
        said = {field: value for field, value, _ in entry("till", address="Am Bach 3, 12345 Sankt Peter").statements()}
        self.assertEqual((said["street"], said["zip"], said["city"]), ("Am Bach 3", "12345", "Sankt Peter"))


class Import(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.db = str(self.folder / "customers.db")

    def write(self, **exports):
        for name, lines in exports.items():
            source = {"newsletter": "news"}.get(name, name)
            headers = SETTINGS.headers[name]
            rows = [list(headers.values()), *([line.get(column, "") for column in headers] for line in lines)]
            rows = [["Export"], *rows, ["Total", "1"]] if source == "till" else rows
            text = "".join(readers.SEPARATORS[source].join(row) + "\r\n" for row in rows)
            (self.folder / f"{name}.csv").write_bytes(text.encode(readers.ENCODINGS[source]))

    def rows(self, query):
        with contextlib.closing(sqlite3.connect(self.db)) as connection:
            return connection.execute(query).fetchall()

    def test_one_customer(self):
        self.write(
            shop=[{"id": "1", "first": "Anna", "last": "Muster", "email": "A@b.example", "changed": "2024-01-01"}],
            newsletter=[{"id": "7a", "name": "Anna", "email": "mailto:a@b.example", "status": "subscribed"}],
        )
        self.assertEqual(main(["--db", self.db, "import", str(self.folder)]), 0)
        once = self.rows("SELECT no, name, email, mail FROM customers")
        self.assertEqual(once, [(1, "Anna Muster", "a@b.example", "yes")])
        self.assertEqual(self.rows("SELECT DISTINCT record FROM origins ORDER BY record"), [("news:7a",), ("shop:1",)])
        main(["--db", self.db, "import", str(self.folder)])
        self.assertEqual(self.rows("SELECT no, name, email, mail FROM customers"), once)

    def test_a_missing_header(self):
        (self.folder / "shop.csv").write_text("nothing\n", encoding="utf-8-sig")
        errors = io.StringIO()
        with contextlib.redirect_stderr(errors):
            self.assertEqual(main(["--db", self.db, "import", str(self.folder)]), 1)
        self.assertIn("shop.csv", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
