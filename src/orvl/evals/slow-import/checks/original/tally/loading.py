"""Takes in one file."""

import os
import sys

from tally import booking, readers, rejects, settings, store, waiting
from tally.errors import Problem

WORDS = ("new", "late", "corrected", "cancelled", "repeated", "waiting", "rejected")


class Loading:
    def __init__(self, path, db, ini):
        self.path = path
        self.name = os.path.basename(path)
        self.db = db
        self.ini = ini
        self.counts = dict.fromkeys(WORDS, 0)
        self.read = 0

    def run(self):
        readers.check_complete(self.path)
        store.prepare(self.db, settings.load(self.ini))
        rejects.begin(self.path)
        id = store.begin_import(self.db, self.name)
        for number, line in readers.data_lines(self.path):
            self.read += 1
            self.take(number, line)
            store.seen(self.db, id, self.read)
            if self.read % 500 == 0:
                self.progress()
        store.end_import(self.db, id, self.summary())
        return self.summary()

    def take(self, number, line):
        # The prices may have been changed meanwhile.
        current = settings.load(self.ini)
        raw = readers.raw_line(self.path, number)
        try:
            row = readers.reader_for(self.path).parse(line, current)
            word = booking.act(self.db, current, row)
        except Problem as problem:
            self.reject(self.name, number, problem.reason, raw)
            return
        if word is None:
            waiting.put_aside(self.db, row, self.name, number, raw)
            word = "waiting"
        self.count(word)
        if row.kind == "S" and word != "repeated":
            waiting.apply_to(row.number, self.db, current, self.count, self.reject)

    def count(self, word):
        self.counts[word] += 1

    def reject(self, file, line, reason, raw):
        rejects.add(self.path, file, line, reason, raw)
        self.count("rejected")

    def progress(self):
        print("%s: %d of %d" % (self.name, self.read, readers.count_lines(self.path)), file=sys.stderr)

    def summary(self):
        words = ", ".join("%d %s" % (self.counts[word], word) for word in WORDS)
        return "%s: %d read, %s" % (self.name, self.read, words)
