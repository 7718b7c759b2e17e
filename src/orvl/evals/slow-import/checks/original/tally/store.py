"""Everything that is asked of the database, in one place."""

import os
import sqlite3

from tally import dates
from tally.errors import TallyError

SCHEMA = os.path.join(os.path.dirname(__file__), "schema.sql")
SALE = "number, sold, venue, product, count, price, total, note, state, revision, booked"


def connect(path):
    """A new connection each time, so that nothing stays locked while the office looks something up."""
    try:
        db = sqlite3.connect(path, timeout=30)
        db.row_factory = sqlite3.Row
        # 2023-11: a bit faster. Did not help much.
        db.execute("PRAGMA synchronous = OFF")
        db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        raise TallyError("%s: %s" % (path, error))
    return db


def prepare(path, settings):
    """Makes what is missing, and takes names over from the settings."""
    db = connect(path)
    with open(SCHEMA, encoding="utf-8") as file:
        db.executescript(file.read())
    db.execute("DELETE FROM venues")
    db.execute("DELETE FROM products")
    for code, name in settings.venues.items():
        db.execute("INSERT INTO venues VALUES (?, ?)", (code, name))
    for product in settings.products.values():
        db.execute("INSERT INTO products VALUES (?, ?)", (product.code, product.name))
    db.commit()
    db.close()


def ask(path, sql, *values):
    db = connect(path)
    rows = db.execute(sql, values).fetchall()
    db.close()
    return rows


def change(path, sql, *values):
    db = connect(path)
    cursor = db.execute(sql, values)
    db.commit()
    db.close()
    return cursor.lastrowid


# -- sales


def find_sale(path, number):
    """The sale with a number. Kiosk 4 gave some out twice in 2021; then it is the one that came first."""
    rows = ask(path, "SELECT rowid AS id, %s FROM sales WHERE number = ?" % SALE, number)
    return rows[0] if rows else None


def sale_by_id(path, id):
    return ask(path, "SELECT rowid AS id, %s FROM sales WHERE rowid = ?" % SALE, id)[0]


def add_sale(path, row, total, booked):
    change(
        path,
        "INSERT INTO sales (%s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'ok', 0, ?)" % SALE,
        row.number, row.sold, row.venue, row.product, row.count, str(row.price), str(total), row.note, booked,
    )


def correct_sale(path, id, row, total, booked):
    change(
        path,
        "UPDATE sales SET sold = ?, venue = ?, product = ?, count = ?, price = ?, total = ?, note = ?, booked = ?, "
        "revision = revision + 1 WHERE rowid = ?",
        row.sold, row.venue, row.product, row.count, str(row.price), str(total), row.note, booked, id,
    )


def cancel_sale(path, id):
    change(path, "UPDATE sales SET state = 'cancelled' WHERE rowid = ?", id)


def booked_in(path, month):
    """The ids of the sales of a month, without cancelled ones."""
    rows = ask(path, "SELECT rowid AS id FROM sales WHERE booked LIKE ? AND state = 'ok'", month + "-%")
    return [row["id"] for row in rows]


# -- what waits


def add_waiting(path, row, file, line, raw):
    price = None if row.price is None else str(row.price)
    change(
        path,
        "INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.kind, row.number, row.sold, row.venue, row.product, row.count, price, row.note, file, line, raw,
    )


def all_waiting(path):
    return ask(path, "SELECT rowid AS id, * FROM waiting")


def drop_waiting(path, id):
    change(path, "DELETE FROM waiting WHERE rowid = ?", id)


# -- months


def is_closed(path, month):
    return bool(ask(path, "SELECT * FROM closed WHERE month = ?", month))


def close_month(path, month):
    if not is_closed(path, month):
        change(path, "INSERT INTO closed VALUES (?, ?)", month, dates.now())


# -- names


def venue_name(path, code):
    rows = ask(path, "SELECT name FROM venues WHERE code = ?", code)
    return rows[0]["name"] if rows else code


def product_name(path, code):
    rows = ask(path, "SELECT name FROM products WHERE code = ?", code)
    return rows[0]["name"] if rows else code


# -- imports


def begin_import(path, file):
    return change(path, "INSERT INTO imports (file, started, seen) VALUES (?, ?, 0)", file, dates.now())


def seen(path, id, count):
    """So that the office can see how far it is."""
    change(path, "UPDATE imports SET seen = ? WHERE id = ?", count, id)


def end_import(path, id, summary):
    change(path, "UPDATE imports SET finished = ?, summary = ? WHERE id = ?", dates.now(), summary, id)


def imports(path):
    return ask(path, "SELECT * FROM imports ORDER BY id")
