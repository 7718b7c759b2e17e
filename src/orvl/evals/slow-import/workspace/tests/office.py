"""An office in a temporary folder: settings, a database, files."""

import contextlib
import io
import os
import tempfile
import unittest

from tally.__main__ import main

INI = """[partner]
name = Partner

[venues]
HAF = Harbour
LTH = Lighthouse

[products]
DAYT = Day, 12.5, 10
KIDS = Child, 0, 999
"""
HEAD = "kind;number;sold;venue;product;count;price;note"


class Office(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("tally.ini", INI)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, encoding="utf-8"):
        with open(self.path(name), "w", encoding=encoding, newline="") as file:
            file.write(text)

    def read(self, name, encoding="utf-8"):
        with open(self.path(name), encoding=encoding, newline="") as file:
            return file.read()

    def tally(self, *words):
        """Status and standard output of a command."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            status = main(["--db", self.path("tally.db"), "--ini", self.path("tally.ini"), *words])
        return status, out.getvalue()

    def desk(self, name, *lines):
        """Takes in a file of a desk."""
        self.write(name, "\r\n".join([HEAD, *lines, "#END;%d" % len(lines), ""]), "cp1252")
        return self.tally("import", self.path(name))

    def export(self, month):
        self.tally("export", month, self.path("out.txt"))
        return self.read("out.txt", "cp1252").split("\r\n")
