"""Opens the database. What else is asked of it stands where it is needed."""

import os
import sqlite3

from tally.errors import TallyError

SCHEMA = os.path.join(os.path.dirname(__file__), "schema.sql")


def opened(path, settings):
    try:
        db = sqlite3.connect(path, timeout=30)
        with open(SCHEMA, encoding="utf-8") as file:
            db.executescript(file.read())
    except sqlite3.DatabaseError as error:
        raise TallyError("%s: %s" % (path, error))
    db.row_factory = sqlite3.Row
    with db:
        db.execute("DELETE FROM venues")
        db.execute("DELETE FROM products")
        db.executemany("INSERT INTO venues VALUES (?, ?)", list(settings.venues.items()))
        db.executemany("INSERT INTO products VALUES (?, ?)", [(p.code, p.name) for p in settings.products.values()])
    return db


def closed_months(db):
    return {month for (month,) in db.execute("SELECT month FROM closed")}


def name_of(db, table, code):
    row = db.execute("SELECT name FROM %s WHERE code = ?" % table, (code,)).fetchone()
    return row["name"] if row else code
