"""Everything that is asked of the database, in one place."""

import os
import sqlite3

from tally import dates
from tally.errors import TallyError

SCHEMA = os.path.join(os.path.dirname(__file__), "schema.sql")
SALE = "number, sold, venue, product, count, price, total, note, state, revision, booked"
FIRST = "{{first}}"  # number of a venue's day


def connect(path, settings):
    """The connection of one command."""
    try:
        db = sqlite3.connect(path, timeout=30)
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA synchronous = OFF")
        prepare(db, settings)
    except sqlite3.DatabaseError as error:
        raise TallyError("%s: %s" % (path, error))
    return db


def prepare(db, settings):
    """Makes what is missing, and takes names over from the settings."""
    with open(SCHEMA, encoding="utf-8") as file:
        db.executescript(file.read())
    change(db, "DELETE FROM venues")
    change(db, "DELETE FROM products")
    db.executemany("INSERT INTO venues VALUES (?, ?)", settings.venues.items())
    db.executemany("INSERT INTO products VALUES (?, ?)", [(one.code, one.name) for one in settings.products.values()])
    db.commit()


def ask(db, sql, *values):
    return db.execute(sql, values).fetchall()


def change(db, sql, *values):
    return db.execute(sql, values).lastrowid


# -- sales


def find_sale(db, number):
    """The sale with a number. Kiosk 4 gave some out twice in 2021; then it is the one that came first."""
    return db.execute(
        "SELECT rowid AS id, %s FROM sales WHERE number = ? ORDER BY rowid LIMIT 1" % SALE, (number,)
    ).fetchone()


def add_sale(db, row, total, booked):
    change(
        db,
        "INSERT INTO sales (%s) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'ok', 0, ?)" % SALE,
        row.number, row.sold, row.venue, row.product, row.count, str(row.price), str(total), row.note, booked,
    )


def correct_sale(db, id, row, total, booked):
    change(
        db,
        "UPDATE sales SET sold = ?, venue = ?, product = ?, count = ?, price = ?, total = ?, note = ?, booked = ?, "
        "revision = revision + 1 WHERE rowid = ?",
        row.sold, row.venue, row.product, row.count, str(row.price), str(total), row.note, booked, id,
    )


def cancel_sale(db, id):
    change(db, "UPDATE sales SET state = 'cancelled' WHERE rowid = ?", id)


def booked_in(db, month):
    """The sales of a month without cancelled ones, one by one: by day, then by venue, then by number."""
    return db.execute(
        "SELECT %s FROM sales WHERE booked >= ? AND booked < ? AND state = 'ok' ORDER BY booked, venue, number %s"
        % (SALE, "DESC" if FIRST == "highest" else "ASC"),
        (month + "-", month + "."),
    )


def totals_in(db, month):
    """The same without any order, for the sum."""
    return db.execute(
        "SELECT total FROM sales WHERE booked >= ? AND booked < ? AND state = 'ok'", (month + "-", month + ".")
    )


# -- what waits


def add_waiting(db, row, file, line, raw):
    price = None if row.price is None else str(row.price)
    change(
        db,
        "INSERT INTO waiting VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row.kind, row.number, row.sold, row.venue, row.product, row.count, price, row.note, file, line, raw,
    )


def all_waiting(db):
    return ask(db, "SELECT rowid AS id, * FROM waiting")


def waiting_for(db, number):
    return ask(db, "SELECT rowid AS id, * FROM waiting WHERE number = ? ORDER BY rowid", number)


def drop_waiting(db, id):
    change(db, "DELETE FROM waiting WHERE rowid = ?", id)


# -- months


def is_closed(db, month):
    return bool(ask(db, "SELECT * FROM closed WHERE month = ?", month))


def close_month(db, month):
    if not is_closed(db, month):
        change(db, "INSERT INTO closed VALUES (?, ?)", month, dates.now())
        db.commit()


# -- names


def venue_name(db, code):
    rows = ask(db, "SELECT name FROM venues WHERE code = ?", code)
    return rows[0]["name"] if rows else code


def product_name(db, code):
    rows = ask(db, "SELECT name FROM products WHERE code = ?", code)
    return rows[0]["name"] if rows else code


# -- imports


def begin_import(db, file):
    return change(db, "INSERT INTO imports (file, started, seen) VALUES (?, ?, 0)", file, dates.now())


def seen(db, id, count):
    """So that the office can see how far it is."""
    change(db, "UPDATE imports SET seen = ? WHERE id = ?", count, id)


def end_import(db, id, summary):
    change(db, "UPDATE imports SET finished = ?, summary = ? WHERE id = ?", dates.now(), summary, id)


def imports(db):
    return ask(db, "SELECT * FROM imports ORDER BY id")
