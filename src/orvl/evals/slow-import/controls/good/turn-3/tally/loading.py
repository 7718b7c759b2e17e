"""Takes in one file."""

import os
import sys

from tally import booking, dates, readers, store, waiting
from tally.errors import Problem
from tally.rejects import Rejects

WORDS = ("new", "late", "corrected", "cancelled", "repeated", "waiting", "rejected")


class Loading:
    def __init__(self, path, db, settings):
        self.path = path
        self.name = os.path.basename(path)
        self.reader = readers.reader_for(path)
        self.db = db
        self.settings = settings
        self.counts = dict.fromkeys(WORDS, 0)
        self.read = 0

    def run(self):
        """What is said of the file. If it is in already, nothing happens: cron may start us again after a crash."""
        readers.check_complete(self.path)
        digest = readers.digest(self.path)
        said = store.summary_of(self.db, self.name, digest)
        if said is None:
            with store.transaction(self.db):
                self.take_all(digest)
            said = self.summary()
        return said

    def take_all(self, digest):
        """The rejects are whole before the database is: when a file counts as taken in, both are."""
        started = dates.now()
        self.rejects = Rejects(self.path)
        for number, line in readers.data_lines(self.path):
            self.read += 1
            self.take(number, line)
            if self.read % 5000 == 0:
                print("%s: %d lines" % (self.name, self.read), file=sys.stderr)
        store.add_import(self.db, self.name, digest, started, self.read, self.summary())
        self.rejects.finish()

    def take(self, number, line):
        try:
            row = self.reader.parse(line, self.settings)
            word = booking.act(self.db, self.settings, row)
        except Problem as problem:
            self.reject(self.name, number, problem.reason, line)
            return
        if word is None:
            waiting.put_aside(self.db, row, self.name, number, line)
            word = "waiting"
        self.count(word)
        if row.kind == "S" and word != "repeated":
            waiting.apply_to(row.number, self.db, self.settings, self.count, self.reject)

    def count(self, word):
        self.counts[word] += 1

    def reject(self, file, line, reason, raw):
        self.rejects.add(file, line, reason, raw)
        self.count("rejected")

    def summary(self):
        words = ", ".join("%d %s" % (self.counts[word], word) for word in WORDS)
        return "%s: %d read, %s" % (self.name, self.read, words)
