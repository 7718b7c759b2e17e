"""What the partner gets for a month: docs/partner-format.md."""

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


def total_of(sales):
    return money.comma(sum((Decimal(sale["total"]) for sale in sales), NOTHING))


def lines(db, settings, month):
    sales = store.booked_in(db, month)
    yield joined("H", settings.partner, month, len(sales), total_of(sales))
    for (day, venue), group in groupby(sales, key):
        group = list(group)
        for sale in group:
            yield sale_line(sale, settings)
        yield joined("S", day, venue, settings.venues.get(venue, venue), len(group), total_of(group))


def export(db, settings, month, out):
    rows = list(lines(db, settings, month))
    content = "".join(row + END for row in rows).encode(ENCODING, "replace")
    content += ("T;%d;%08x%s" % (len(rows), zlib.crc32(content), END)).encode(ENCODING)
    with open(out, "wb") as file:
        file.write(content)
    return "%s: %d lines" % (out, len(rows) + 1)
