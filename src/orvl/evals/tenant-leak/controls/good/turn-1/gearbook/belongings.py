"""What belongs to a workshop. All reading of such tables goes through here, and nobody can read without saying for whom.

In a SELECT that is given to these functions, each table has the rows of that one workshop and no others, in joins and
subselects, too. Whoever changes a row by its id has found it here before.
"""

from gearbook import db as plain

OWNED = ("users", "customers", "vehicles", "jobs", "invoices", "parts", "reports", "search_terms")
LINES = "invoice_lines AS (SELECT * FROM main.invoice_lines WHERE invoice_id IN (SELECT id FROM invoices))"


def rows(db, workshop_id, sql, *values):
    return plain.rows(db, _within(workshop_id) + sql, *values)


def one(db, workshop_id, sql, *values):
    """The first row, or None."""
    return plain.one(db, _within(workshop_id) + sql, *values)


def scalar(db, workshop_id, sql, *values):
    return plain.scalar(db, _within(workshop_id) + sql, *values)


def find(db, workshop_id, table, thing_id):
    """The row with this id, if it is this workshop's; None otherwise."""
    return one(db, workshop_id, f"SELECT * FROM {table} WHERE id = ?", thing_id)


def _within(workshop_id):
    """Names for the workshop's own rows, which hide the tables of the same names."""
    own = (f"{table} AS (SELECT * FROM main.{table} WHERE workshop_id = {int(workshop_id)})" for table in OWNED)
    return f"WITH {', '.join((*own, LINES))} "
