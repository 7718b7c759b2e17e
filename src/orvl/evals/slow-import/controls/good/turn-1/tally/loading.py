"""Takes in one file."""

import os

from tally import booking, readers, store, waiting
from tally.errors import Problem
from tally.rejects import Rejects

WORDS = ("new", "late", "corrected", "cancelled", "repeated", "waiting", "rejected")
BATCH = 200


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
        lines = readers.data_lines(self.path)
        self.rejects = Rejects(self.path)
        id = store.begin_import(self.db, self.name)
        for number, line in lines:
            self.read += 1
            self.take(number, line)
            if self.read % BATCH == 0:
                store.seen(self.db, id, self.read)
                self.db.commit()
        store.end_import(self.db, id, self.summary())
        self.db.commit()
        self.rejects.finish()
        return self.summary()

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
