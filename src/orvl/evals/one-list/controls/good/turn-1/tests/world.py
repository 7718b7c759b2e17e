"""Exports of made-up customers, in a folder of their own."""

import csv
import io
import sqlite3
import tempfile
import unittest
from contextlib import closing, redirect_stderr
from pathlib import Path

from onelist import settings
from onelist.__main__ import main
from onelist.exports import FORMS

HEADERS = settings.load().headers
ANNA = {"email": "anna@muster.example", "phone": "0761 47110"}


class WithExports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def export(self, without="", **rows):
        """Writes exports: rows are dicts of cells by our names for the columns."""
        for form in FORMS:
            if form.source in rows:
                headers = [header for header in HEADERS[form.name].values() if header != without]
                columns = {header: column for column, header in HEADERS[form.name].items()}
                lines = [[row.get(columns[header], "") for header in headers] for row in rows[form.source]]
                lines = [headers, *lines] if not form.has_title else [["Title"], headers, *lines, ["Total", "9"]]
                text = io.StringIO()
                csv.writer(text, delimiter=form.delimiter).writerows(lines)
                (self.folder / f"{form.name}.csv").write_bytes(text.getvalue().encode(form.encoding))

    def onelist(self, *words):
        """The status and what was said on stderr."""
        said = io.StringIO()
        with redirect_stderr(said):
            status = main(["--db", str(self.folder / "customers.db"), *words])
        return status, said.getvalue()

    def import_(self, **rows):
        self.export(**rows)
        self.assertEqual(self.onelist("import", str(self.folder)), (0, ""))

    def query(self, sql):
        with closing(sqlite3.connect(self.folder / "customers.db")) as database:
            return database.execute(sql).fetchall()

    def records(self):
        return dict(self.query("SELECT no, records FROM customers"))
