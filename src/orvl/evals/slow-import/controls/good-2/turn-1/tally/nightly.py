"""Takes in one file: all of it, or nothing."""

import os
from hashlib import sha256
from itertools import islice

from tally import database, dates, readers
from tally.batch import SIZE, Batch
from tally.errors import Problem

WORDS = ("new", "late", "corrected", "cancelled", "repeated", "waiting", "rejected")


def checksum(path):
    found = sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 16):
            found.update(block)
    return found.hexdigest()


def take_in(path, db, settings):
    """Gives the line for the monitor. A file of the same name and content is never taken in again."""
    readers.check_complete(path)
    place = (os.path.basename(path), checksum(path))
    told = db.execute("SELECT summary FROM done WHERE file = ? AND checksum = ?", place).fetchone()
    if told:
        return told["summary"]
    started = dates.now()
    with db:
        with open(path + ".rejects.new", "w", encoding="utf-8", newline="\n") as rejects:
            counts = dict.fromkeys(("read", *WORDS), 0)
            lines = readers.data_lines(path)
            while some := list(islice(lines, SIZE)):
                _take(some, path, db, settings, counts, rejects)
        summary = "%s: %s" % (place[0], ", ".join("%d %s" % (counts[word], word) for word in ("read", *WORDS)))
        db.execute("INSERT INTO done VALUES (?, ?, ?)", (*place, summary))
        db.execute(
            "INSERT INTO imports (file, started, finished, seen, summary) VALUES (?, ?, ?, ?, ?)",
            (place[0], started, dates.now(), counts["read"], summary),
        )
        # From here on only the end of the transaction is missing. If that does not come, both are made again.
        os.replace(path + ".rejects.new", path + ".rejects")
    return summary


def _take(lines, path, db, settings, counts, rejects):
    name, reader = os.path.basename(path), readers.reader_for(path)
    rows = []
    for number, raw in lines:
        try:
            rows.append((reader.parse(raw, settings), number, raw))
        except Problem as problem:
            rows.append((problem, number, raw))
    numbers = list({row.number for row, _, _ in rows if not isinstance(row, Problem)})
    batch = Batch(db, settings, database.closed_months(db), numbers)

    def apply(row, file, line, raw):
        try:
            if isinstance(row, Problem):
                raise row
            word = batch.act(row)
        except Problem as problem:
            rejects.write("%s:%d\t%s\t%s\n" % (file, line, problem.reason, raw))
            counts["rejected"] += 1
            return None
        if word is None:
            batch.put_aside(row, file, line, raw)
        counts[word or "waiting"] += 1
        return word

    for row, line, raw in rows:
        counts["read"] += 1
        if apply(row, name, line, raw) in ("new", "late"):
            for waiting, file, place, text, _ in batch.no_longer_waiting(row.number):
                apply(waiting, file, place, text)
    batch.write()
