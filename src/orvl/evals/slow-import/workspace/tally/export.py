"""What the partner gets for a month: docs/partner-format.md."""

import zlib

from tally import booking, money, settings, store

ENCODING = "cp1252"
END = "\r\n"


def field(text):
    return str(text).replace(";", ",")


def key(sale):
    """By day, then by venue."""
    return (sale["booked"], sale["venue"])


def in_order(sales):
    found = []
    for sale in sales:
        place = 0
        while place < len(found) and key(found[place]) < key(sale):
            place += 1
        found.insert(place, sale)
    return found


def sale_line(db, sale):
    late = "L" if sale["sold"][:10] != sale["booked"] else ""
    fields = (
        "R",
        sale["booked"],
        sale["venue"],
        sale["number"],
        store.product_name(db, sale["product"]),
        sale["count"],
        money.comma(sale["total"]),
        sale["revision"],
        late,
        sale["sold"],
        sale["note"],
    )
    return ";".join(field(one) for one in fields)


def sum_line(db, sales):
    first = sales[0]
    fields = (
        "S", first["booked"], first["venue"], store.venue_name(db, first["venue"]), len(sales),
        money.comma(booking.total_of(sales)),
    )
    return ";".join(field(one) for one in fields)


def lines(db, ini, month):
    sales = in_order([store.sale_by_id(db, id) for id in store.booked_in(db, month)])
    partner = settings.load(ini).partner
    yield ";".join(("H", field(partner), month, str(len(sales)), money.comma(booking.total_of(sales))))
    group = []
    for sale in sales:
        if group and key(group[-1]) != key(sale):
            yield sum_line(db, group)
            group = []
        group.append(sale)
        yield sale_line(db, sale)
    if group:
        yield sum_line(db, group)


def export(db, ini, month, out):
    store.prepare(db, settings.load(ini))
    content = b""
    count = 0
    for line in lines(db, ini, month):
        content = content + (line + END).encode(ENCODING, "replace")
        count += 1
    content = content + ("T;%d;%08x%s" % (count, zlib.crc32(content), END)).encode(ENCODING)
    with open(out, "wb") as file:
        file.write(content)
    return "%s: %d lines" % (out, count + 1)
