"""Some hundred lines at once: what is known of their numbers is fetched, changed here, and written back."""

from decimal import Decimal

from tally import dates, money
from tally.errors import Problem
from tally.row import Row

SIZE = 400
KEPT = "sold, venue, product, count, price, total, note, state, revision, booked"


class Entry:
    """A sale, as it is in the database or will be."""

    def __init__(self, number, values=None, id=None):
        self.number = number
        self.id = id
        self.values = dict(values or {"state": "ok", "revision": 0})
        self.is_changed = False

    def content(self):
        return tuple(self.values[name] for name in ("sold", "venue", "product", "count", "price", "note"))

    def fill(self, row, total, booked):
        names = ("sold", "venue", "product", "count", "price", "note")
        self.values.update(zip(names, row.content()), total=str(total), booked=booked)
        self.is_changed = True


class Batch:
    def __init__(self, db, settings, closed, numbers):
        self.db = db
        self.settings = settings
        self.closed = closed
        # Always as many marks, so that it is one statement: each has memory of its own.
        numbers = numbers + [None] * (SIZE - len(numbers))
        marks = ", ".join("?" * SIZE)
        self.entries = {}
        for row in db.execute("SELECT rowid AS id, * FROM sales WHERE number IN (%s) ORDER BY rowid DESC" % marks, numbers):
            self.entries[row["number"]] = Entry(row["number"], row, row["id"])
        self.waiting = {}
        for row in db.execute("SELECT rowid AS id, * FROM waiting WHERE number IN (%s) ORDER BY rowid" % marks, numbers):
            price = None if row["price"] is None else Decimal(row["price"])
            texts = (row["kind"], row["number"], row["sold"], row["venue"], row["product"], row["count"], price, row["note"])
            self.waiting.setdefault(row["number"], []).append((Row(*texts), row["file"], row["line"], row["raw"], row["id"]))
        self.new = []

    def act(self, row):
        """The word under which a row counts; None if its sale has not come."""
        entry = self.entries.get(row.number)
        if entry is None:
            return self.add(row) if row.kind == "S" else None
        if row.kind == "S":
            if entry.content() != row.content():
                raise Problem("taken")
            return "repeated"
        if entry.values["state"] == "cancelled":
            if row.kind == "C":
                raise Problem("cancelled")
            return "repeated"
        if row.kind == "C" and entry.content() == row.content():
            return "repeated"
        if entry.values["booked"][:7] in self.closed:
            raise Problem("closed")
        if row.kind == "X":
            entry.values["state"] = "cancelled"
            entry.is_changed = True
            return "cancelled"
        self.fill(entry, row)
        entry.values["revision"] += 1
        return "corrected"

    def add(self, row):
        entry = Entry(row.number)
        self.fill(entry, row)
        self.entries[row.number] = entry
        self.new.append(entry)
        return "new" if entry.values["booked"] == row.sold[:10] else "late"

    def fill(self, entry, row):
        day = row.sold[:10]
        month = day[:7]
        while month in self.closed:
            month = dates.next_month(month)
        total = money.total(row.count, row.price, self.settings.products[row.product])
        entry.fill(row, total, day if month == day[:7] else month + "-01")

    def put_aside(self, row, file, line, raw):
        price = None if row.price is None else str(row.price)
        texts = (row.kind, row.number, row.sold, row.venue, row.product, row.count, price, row.note, file, line, raw)
        marks = ", ".join("?" * len(texts))
        id = self.db.execute("INSERT INTO waiting VALUES (%s)" % marks, texts).lastrowid
        self.waiting.setdefault(row.number, []).append((row, file, line, raw, id))

    def no_longer_waiting(self, number):
        """What waited for a sale, in the order in which it came."""
        rows = self.waiting.pop(number, [])
        self.db.executemany("DELETE FROM waiting WHERE rowid = ?", [(row[-1],) for row in rows])
        return rows

    def write(self):
        names = KEPT.split(", ")
        sets = ", ".join("%s = :%s" % (name, name) for name in names)
        changed = [one for one in self.entries.values() if one.is_changed and one.id is not None]
        self.db.executemany("UPDATE sales SET %s WHERE rowid = :id" % sets, [{**one.values, "id": one.id} for one in changed])
        marks = ", ".join(":" + name for name in ["number", *names])
        self.db.executemany(
            "INSERT INTO sales (number, %s) VALUES (%s)" % (KEPT, marks),
            [{**one.values, "number": one.number} for one in self.new],
        )
