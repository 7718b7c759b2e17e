"""The search at the top of each page: all words must fit, the beginning of a word is enough.

What looks like a plate, a phone or a number is looked up as a whole first, as that is what people at the counter type.
"""

from gearbook import belongings
from gearbook.services.search_index import squeezed, terms_in

MOST = 50
TITLES = {
    "customer": "SELECT number || ' ' || name FROM customers WHERE id = ?",
    "vehicle": "SELECT plate || ' ' || model FROM vehicles WHERE id = ?",
    "job": "SELECT title FROM jobs WHERE id = ?",
    "invoice": "SELECT number FROM invoices WHERE id = ?",
}


def search(db, workshop_id, query):
    """Rows with `kind`, `id` and `title`."""
    whole = squeezed(query)
    hits = _exact(db, workshop_id, whole) if _is_code(whole) else []
    if not hits:
        hits = _all_words(db, workshop_id, terms_in(query))
    return [_described(db, workshop_id, kind, ref) for kind, ref in sorted(hits)[:MOST]]


def _is_code(text):
    return any(letter.isdigit() for letter in text)


def _exact(db, workshop_id, code):
    found = belongings.rows(db, workshop_id, "SELECT kind, ref FROM search_terms WHERE term = ?", code)
    return [(row["kind"], row["ref"]) for row in found]


def _all_words(db, workshop_id, words):
    hits = None
    for word in words:
        found = _beginning(db, workshop_id, word)
        hits = found if hits is None else hits & found
    return hits or set()


def _beginning(db, workshop_id, word):
    found = belongings.rows(
        db,
        workshop_id,
        "SELECT kind, ref FROM search_terms WHERE term >= ? AND term < ?",
        word,
        word + "\U0010ffff",
    )
    return {(row["kind"], row["ref"]) for row in found}


def _described(db, workshop_id, kind, ref):
    title = belongings.one(db, workshop_id, TITLES[kind], ref)
    return {"kind": kind, "id": ref, "title": title[0] if title else ""}
