"""What the books must say: the rules of the README once more, in memory and without any hurry to be saved."""

import sqlite3
import tempfile
import zlib
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path

WORDS = ("new", "late", "corrected", "cancelled", "repeated", "waiting", "rejected")
SCHEMA = Path(__file__).with_name("original") / "tally/schema.sql"
CENT = Decimal("0.01")


class Sale:
    def __init__(self, line, total, booked):
        self.number = line.number
        self.state, self.revision = "ok", 0
        self.set(line, total, booked)

    def set(self, line, total, booked):
        self.sold, self.venue, self.product, self.count, self.price, self.note = line.content()
        self.total, self.booked = total, booked

    def content(self):
        return (self.sold, self.venue, self.product, self.count, self.price, self.note)

    def row(self):
        return (self.number, *self.content()[:5], self.total, self.note, self.state, self.revision, self.booked)


class Books:
    """All sales in the order in which they came, what waits for one, and the closed months."""

    def __init__(self, world):
        self.world = world
        self.sales, self.first, self.waiting, self.closed = [], {}, {}, set()

    # -- rules

    def total(self, line):
        _, percent, group = self.world.products[line.product]
        amount = line.count * line.price
        if line.count >= group:
            amount = amount * (100 - Decimal(percent)) / 100
        return str(amount.quantize(CENT, ROUND_HALF_EVEN))

    def booking_day(self, line):
        year, month = line.sold.year, line.sold.month
        day = f"{line.sold:%Y-%m-%d}"
        while day[:7] in self.closed:
            year, month = (year + 1, 1) if month == 12 else (year, month + 1)
            day = f"{year:04}-{month:02}-01"
        return day

    def add(self, line, number=None):
        sale = Sale(line, self.total(line), self.booking_day(line))
        if number is not None:
            sale.number = number
        self.sales.append(sale)
        self.first.setdefault(sale.number, sale)
        return sale

    def act(self, line):
        """The word under which a line counts, whether it was refused; None if it must wait."""
        sale = self.first.get(line.number)
        if line.kind == "S":
            if sale is None:
                return ("new" if self.add(line).booked == f"{line.sold:%Y-%m-%d}" else "late"), True
            return ("repeated", True) if sale.content() == line.content() else ("taken", False)
        if sale is None:
            return None, True
        if line.kind == "X" and sale.state == "cancelled":
            return "repeated", True
        if sale.state == "cancelled":
            return "cancelled", False
        if line.kind == "C" and sale.content() == line.content():
            return "repeated", True
        if sale.booked[:7] in self.closed:
            return "closed", False
        if line.kind == "X":
            sale.state = "cancelled"
            return "cancelled", True
        sale.set(line, self.total(line), self.booking_day(line))
        sale.revision += 1
        return "corrected", True

    # -- a file

    def take(self, name, lines):
        """What is in FILE.rejects and on standard output after a file."""
        counts, rejects = dict.fromkeys(WORDS, 0), []

        def tell(line, file, word, fine):
            counts[word if fine else "rejected"] += 1
            if not fine:
                rejects.append(f"{file}:{line.at}\t{word}\t{line.raw}\n")

        for line in lines:
            word, fine = (line.reason, False) if line.reason else self.act(line)
            if word is None:
                self.waiting.setdefault(line.number, []).append((line, name))
                word = "waiting"
            tell(line, name, word, fine)
            if line.kind == "S" and fine and word != "repeated":
                for waiting, file in self.waiting.pop(line.number, []):
                    tell(waiting, file, *self.act(waiting))
        words = ", ".join(f"{counts[word]} {word}" for word in WORDS)
        return "".join(rejects), f"{name}: {len(lines)} read, {words}\n"

    # -- the export

    def export(self, month, order="last"):
        groups = {}
        for sale in reversed(self.sales):
            if sale.state == "ok" and sale.booked.startswith(month + "-"):
                groups.setdefault((sale.booked, sale.venue), []).append(sale)
        every = [sale for sales in groups.values() for sale in sales]
        rows = [["H", self.world.partner, month, len(every), _sum(every)]]
        for (day, venue), sales in sorted(groups.items()):
            if order != "last":
                sales.sort(key=lambda sale: sale.number, reverse=order == "highest")
            rows += [self._row(sale) for sale in sales]
            rows.append(["S", day, venue, self.world.venues.get(venue, venue), len(sales), _sum(sales)])
        return sealed([";".join(str(one).replace(";", ",") for one in row) for row in rows])

    def _row(self, sale):
        late = "L" if sale.sold[:10] != sale.booked else ""
        name = self.world.products[sale.product][0]
        total = sale.total.replace(".", ",")
        row = ["R", sale.booked, sale.venue, sale.number, name, sale.count, total, sale.revision, late]
        return [*row, sale.sold, sale.note]

    # -- the accountant

    def accounts(self, month):
        sums = {}
        for sale in self.sales:
            if sale.booked.startswith(month):
                entry = sums.setdefault((sale.venue, sale.booked), [0, Decimal("0.00"), 0, 0])
                if sale.state == "ok":
                    entry[0] += sale.count
                    entry[1] += Decimal(sale.total)
                    entry[2] += sale.revision > 0
                else:
                    entry[3] += 1
        rows = [";".join(map(str, (*place, *entry))) for place, entry in sorted(sums.items())]
        return "\n".join(["venue;day;tickets;sum;corrected;cancelled", *rows]) + "\n"

    # -- a database as the program has made them until now

    def database(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "old.db")
            db = sqlite3.connect(path)
            db.executescript(SCHEMA.read_text(encoding="utf-8"))
            db.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [one.row() for one in self.sales])
            for rows in self.waiting.values():
                for line, file in rows:
                    sold, venue, product, count, price, note = line.content() if line.kind == "C" else (None, "", "", 0, None, "")
                    db.execute(
                        "INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        (line.kind, line.number, sold, venue, product, count, price, note, file, line.at, line.raw),
                    )
            db.executemany("INSERT INTO closed VALUES (?, '2026-01-03 10:00:00')", [(one,) for one in sorted(self.closed)])
            db.execute("INSERT INTO imports VALUES (1, 'desk-0101.csv', '2026-01-01', '2026-01-01', 0, 'desk-0101.csv: 0 read')")
            db.commit()
            db.close()
            return path.read_bytes()


def _sum(sales):
    return str(sum((Decimal(sale.total) for sale in sales), Decimal("0.00"))).replace(".", ",")


def sealed(rows):
    """The bytes of an export with these lines, and its last one."""
    content = "".join(row + "\r\n" for row in rows).encode("cp1252", "replace")
    return content + b"T;%d;%08x\r\n" % (len(rows), zlib.crc32(content))


def loosened(content):
    """An export whatever the order of lines with the same day and venue is; None if its last line is wrong."""
    body, _, last = (content or b"").removesuffix(b"\r\n").rpartition(b"\r\n")
    body += b"\r\n"
    if last != b"T;%d;%08x" % (body.count(b"\r\n"), zlib.crc32(body)):
        return None
    groups, found = [], []
    for row in body.split(b"\r\n"):
        if row.startswith(b"R;"):
            groups.append(row)
        else:
            found += [*sorted(groups), row]
            groups = []
    return found + sorted(groups)
