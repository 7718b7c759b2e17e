"""Tables for the tax adviser: see docs/exports.md, people have built spreadsheets on these columns."""

from gearbook import csvout, money
from gearbook.db import rows

JOBS = ("id", "title", "status", "price", "opened_on", "customer_number", "customer", "email", "plate")
CUSTOMERS = ("number", "name", "email", "phone", "open_jobs", "last_job")
INVOICES = ("number", "customer_number", "customer", "issued_on", "due_on", "paid_on", "total")


def jobs_csv(db, workshop_id, first="", last="9999"):
    """Jobs opened on these days. Customers that were never typed in have no name."""
    found = rows(
        db,
        "SELECT j.id, j.title, j.status, j.price, j.opened_on, j.customer_number, c.name, c.email, v.plate "
        "FROM jobs j "
        "LEFT JOIN customers c ON c.number = j.customer_number "
        "LEFT JOIN vehicles v ON v.id = j.vehicle_id "
        "WHERE j.workshop_id = ? AND j.opened_on BETWEEN ? AND ? ORDER BY j.opened_on, j.id",
        workshop_id,
        first,
        last,
    )
    return csvout.table(JOBS, [_with_money(row, 3) for row in found])


def customers_csv(db, workshop_id):
    found = rows(
        db,
        "SELECT c.number, c.name, c.email, c.phone, "
        "(SELECT count(*) FROM jobs j WHERE j.customer_number = c.number "
        "AND j.status IN ('open', 'waiting')), "
        "(SELECT max(j.opened_on) FROM jobs j WHERE j.customer_number = c.number) "
        "FROM customers c WHERE c.workshop_id = ? ORDER BY c.number",
        workshop_id,
    )
    return csvout.table(CUSTOMERS, found)


def invoices_csv(db, workshop_id, first="", last="9999"):
    found = rows(
        db,
        "SELECT i.number, c.number, c.name, i.issued_on, i.due_on, i.paid_on, "
        "(SELECT coalesce(sum(l.quantity * l.unit), 0) FROM invoice_lines l WHERE l.invoice_id = i.id) "
        "FROM invoices i JOIN customers c ON c.id = i.customer_id "
        "WHERE i.workshop_id = ? AND i.issued_on BETWEEN ? AND ? ORDER BY i.number",
        workshop_id,
        first,
        last,
    )
    return csvout.table(INVOICES, [_with_money(row, 6) for row in found])


def _with_money(row, place):
    """A row with the cents in one place as people write them."""
    values = list(row)
    # A number, so that minus signs of credit notes stay numbers in spreadsheets.
    values[place] = float(money.shown(values[place]))
    return values
