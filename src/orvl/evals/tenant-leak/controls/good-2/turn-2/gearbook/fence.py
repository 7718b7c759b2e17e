"""The fence around a workshop: a connection behind it cannot read other workshops' rows, whatever is asked.

A temporary view hides each table, and views come before tables of the same name. Statements that write name the table
itself (`main.jobs`), with an id that was read behind the fence.
"""

OWNED = ("customers", "vehicles", "jobs", "invoices", "parts", "reports", "search_terms")
LINES = "SELECT l.* FROM main.invoice_lines l JOIN main.invoices i ON i.id = l.invoice_id WHERE i.workshop_id = "


def put_up(db, workshop_id):
    for table in OWNED:
        _hide(db, table, f"SELECT * FROM main.{table} WHERE workshop_id = {int(workshop_id)}")
    _hide(db, "invoice_lines", f"{LINES}{int(workshop_id)}")


def _hide(db, table, rows):
    db.execute(f"DROP VIEW IF EXISTS temp.{table}")
    db.execute(f"CREATE TEMP VIEW {table} AS {rows}")
