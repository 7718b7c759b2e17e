"""What the partner gets for a month: docs/partner-format.md."""

import os
import zlib
from decimal import Decimal

from tally import money

ENCODING = "cp1252"
IN_MONTH = "FROM sales WHERE booked BETWEEN :month || '-00' AND :month || '-99' AND state = 'ok'"
ORDER = "booked, venue, rowid DESC"


class Writer:
    """Writes lines and knows their number and checksum."""

    def __init__(self, file):
        self.file = file
        self.count = self.crc = 0

    def line(self, *fields):
        text = ";".join(str(one).replace(";", ",") for one in fields) + "\r\n"
        content = text.encode(ENCODING, "replace")
        self.count += 1
        self.crc = zlib.crc32(content, self.crc)
        self.file.write(content)


class Sum:
    def __init__(self):
        self.count, self.amount = 0, Decimal("0.00")

    def add(self, sale):
        self.count += 1
        self.amount += Decimal(sale["total"])

    def fields(self):
        return self.count, money.comma(self.amount)


def write_month(db, settings, month, writer):
    whole = Sum()
    for sale in db.execute("SELECT total " + IN_MONTH, {"month": month}):
        whole.add(sale)
    writer.line("H", settings.partner, month, *whole.fields())
    part, last = Sum(), None

    def end_of_part():
        if last:
            writer.line("S", *last, settings.venues.get(last[1], last[1]), *part.fields())

    for sale in db.execute("SELECT * %s ORDER BY %s" % (IN_MONTH, ORDER), {"month": month}):
        if (sale["booked"], sale["venue"]) != last:
            end_of_part()
            part, last = Sum(), (sale["booked"], sale["venue"])
        part.add(sale)
        product = settings.products.get(sale["product"])
        writer.line(
            *("R", *last, sale["number"], product.name if product else sale["product"], sale["count"]),
            *(money.comma(sale["total"]), sale["revision"], "" if sale["sold"].startswith(last[0]) else "L"),
            *(sale["sold"], sale["note"]),
        )
    end_of_part()
    writer.line("T", writer.count, "%08x" % writer.crc)


def export(db, settings, month, out):
    with open(out + ".new", "wb") as file:
        writer = Writer(file)
        write_month(db, settings, month, writer)
    os.replace(out + ".new", out)
    return "%s: %d lines" % (out, writer.count)
