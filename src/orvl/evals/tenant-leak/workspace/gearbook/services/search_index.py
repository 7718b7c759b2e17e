"""The search index: the words of each thing, in a table. `manage.py reindex` makes it anew."""

import re

from gearbook.db import one, rows, transaction

WORD = re.compile(r"[^\s,;/|]+")
SEPARATORS = re.compile(r"[^\w]|_")
KINDS = ("customer", "vehicle", "job", "invoice")
SOURCES = {
    "customer": "SELECT workshop_id, number, name, email, phone FROM customers WHERE id = ?",
    "vehicle": "SELECT workshop_id, plate, model FROM vehicles WHERE id = ?",
    "job": "SELECT workshop_id, title, customer_number FROM jobs WHERE id = ?",
    "invoice": "SELECT workshop_id, number FROM invoices WHERE id = ?",
}
WHOLE = ("plate", "phone", "number", "customer_number", "email")
"""These are one term each, however people type blanks and dashes."""


def squeezed(text):
    """`HH-AB 123` and `hh ab123` are the same."""
    return SEPARATORS.sub("", text).lower()


def terms_in(text):
    return [term for word in WORD.findall(text) if (term := squeezed(word))]


def renew(db, kind, ref):
    forget(db, kind, ref)
    row = one(db, SOURCES[kind], ref)
    if row is None:
        return
    terms = set()
    for name in row.keys():
        if name in WHOLE:
            terms.add(squeezed(row[name]))
        if name != "workshop_id":
            terms.update(terms_in(row[name]))
    db.executemany(
        "INSERT OR IGNORE INTO search_terms (workshop_id, term, kind, ref) VALUES (?, ?, ?, ?)",
        [(row["workshop_id"], term, kind, ref) for term in sorted(terms - {""})],
    )


def forget(db, kind, ref):
    db.execute("DELETE FROM search_terms WHERE kind = ? AND ref = ?", (kind, ref))


def renew_all(db):
    """How many things are in the index then."""
    count = 0
    with transaction(db):
        db.execute("DELETE FROM search_terms")
        for kind in KINDS:
            for row in rows(db, f"SELECT id FROM {kind}s"):
                renew(db, kind, row["id"])
                count += 1
    return count
