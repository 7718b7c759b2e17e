"""A month at a glance, for the office. Not for the partner."""

from decimal import Decimal

from tally import database, money

WIDTH = 28


def collect(db, month):
    """Per venue and product: how many tickets, and what they came to."""
    found = {}
    for row in db.execute(
        "SELECT venue, product, count, total FROM sales WHERE booked LIKE ? AND state = 'ok'", (month + "-%",)
    ):
        place = (row["venue"], row["product"])
        count, amount = found.get(place, (0, Decimal("0.00")))
        found[place] = (count + row["count"], amount + Decimal(row["total"]))
    return found


def bar(count, most):
    return "#" * max(1, round(20 * count / most)) if most else ""


def text(db, month):
    found = collect(db, month)
    if not found:
        return ["%s: nothing was booked." % month]
    most = max(count for count, _ in found.values())
    rows = ["%s" % month, ""]
    whole = Decimal("0.00")
    for venue in sorted({venue for venue, _ in found}):
        rows.append(database.name_of(db, "venues", venue))
        for place in sorted(found):
            if place[0] != venue:
                continue
            count, amount = found[place]
            whole += amount
            name = database.name_of(db, "products", place[1])
            rows.append("  %-*s %5d %12s  %s" % (WIDTH, name[:WIDTH], count, money.comma(amount), bar(count, most)))
    cancelled = db.execute(
        "SELECT count(*) FROM sales WHERE booked LIKE ? AND state = 'cancelled'", (month + "-%",)
    ).fetchone()[0]
    rows += ["", "Sum %s, %d cancelled, %s." % (money.comma(whole), cancelled, closed_words(db, month))]
    return rows


def closed_words(db, month):
    return "closed" if month in database.closed_months(db) else "still open"


def find(db, number):
    """All that there is about a ticket."""
    rows = []
    for sale in db.execute("SELECT * FROM sales WHERE number = ?", (number,)):
        rows.append(
            "%(number)s  %(sold)s  %(venue)s  %(product)s  %(count)d x %(price)s = %(total)s  %(state)s" % dict(sale)
        )
        if sale["revision"]:
            rows.append("          corrected %d times" % sale["revision"])
        if sale["sold"][:10] != sale["booked"]:
            rows.append("          booked on %s" % sale["booked"])
        if sale["note"]:
            rows.append("          %s" % sale["note"])
    for one in db.execute("SELECT * FROM waiting WHERE number = ?", (number,)):
        rows.append("%s  waits: %s from %s, line %d" % (number, one["kind"], one["file"], one["line"]))
    return rows or ["%s is unknown." % number]


def history(db):
    rows = []
    for one in db.execute("SELECT * FROM imports ORDER BY id"):
        if one["finished"]:
            rows.append("%s  %s" % (one["finished"], one["summary"]))
        else:
            rows.append("%s  %s: %d lines so far" % (one["started"], one["file"], one["seen"]))
    return rows


def waiting(db):
    rows = []
    for one in db.execute("SELECT * FROM waiting"):
        what = "cancellation" if one["kind"] == "X" else "correction"
        rows.append("%s  %s  from %s, line %d" % (one["number"], what, one["file"], one["line"]))
    return rows
