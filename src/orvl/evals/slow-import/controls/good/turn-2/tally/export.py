"""What the partner gets for a month: docs/partner-format.md. Lines are made one by one; a month may be long."""

import os
import zlib
from decimal import Decimal
from itertools import groupby

from tally import money, store

ENCODING = "cp1252"
END = "\r\n"
NOTHING = Decimal("0.00")


def field(text):
    return str(text).replace(";", ",")


def joined(*fields):
    return ";".join(field(one) for one in fields)


def key(sale):
    """By day, then by venue."""
    return (sale["booked"], sale["venue"])


def sale_line(sale, settings):
    product = settings.products.get(sale["product"])
    late = "L" if sale["sold"][:10] != sale["booked"] else ""
    return joined(
        "R",
        sale["booked"],
        sale["venue"],
        sale["number"],
        product.name if product else sale["product"],
        sale["count"],
        money.comma(sale["total"]),
        sale["revision"],
        late,
        sale["sold"],
        sale["note"],
    )


def lines(db, settings, month):
    count, whole = 0, NOTHING
    for sale in store.totals_in(db, month):
        count += 1
        whole += Decimal(sale["total"])
    yield joined("H", settings.partner, month, count, money.comma(whole))
    for (day, venue), sales in groupby(store.booked_in(db, month), key):
        count, amount = 0, NOTHING
        for sale in sales:
            count += 1
            amount += Decimal(sale["total"])
            yield sale_line(sale, settings)
        yield joined("S", day, venue, settings.venues.get(venue, venue), count, money.comma(amount))


def export(db, settings, month, out):
    crc = count = 0
    with open(out + ".part", "wb") as file:
        for line in lines(db, settings, month):
            content = (line + END).encode(ENCODING, "replace")
            crc = zlib.crc32(content, crc)
            count += 1
            file.write(content)
        file.write(("T;%d;%08x%s" % (count, crc, END)).encode(ENCODING))
    os.replace(out + ".part", out)
    return "%s: %d lines" % (out, count + 1)
