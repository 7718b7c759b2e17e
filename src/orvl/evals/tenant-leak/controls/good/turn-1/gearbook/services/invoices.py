"""Invoices: made from jobs, paid, reminded of, credited. Their numbers are given by each workshop."""

from gearbook import belongings, clock, mail, money
from gearbook.config import LATE_AFTER_DAYS
from gearbook.db import insert, rows, scalar, transaction
from gearbook.services import search_index


def find(db, workshop_id, invoice_id):
    return belongings.find(db, workshop_id, "invoices", invoice_id)


def by_number(db, workshop_id, number):
    """Numbers as they are printed, such as 2031-0042."""
    return belongings.one(db, workshop_id, "SELECT * FROM invoices WHERE number = ?", number)


def lines(db, invoice_id):
    return rows(db, "SELECT * FROM invoice_lines WHERE invoice_id = ? ORDER BY id", invoice_id)


def total(db, invoice_id):
    return scalar(db, "SELECT coalesce(sum(quantity * unit), 0) FROM invoice_lines WHERE invoice_id = ?", invoice_id)


def customer_of(db, invoice):
    return belongings.find(db, invoice["workshop_id"], "customers", invoice["customer_id"])


def listing(db, workshop_id, unpaid=False):
    more = " AND i.paid_on IS NULL" if unpaid else ""
    return rows(
        db,
        "SELECT i.*, c.name AS customer, coalesce(sum(l.quantity * l.unit), 0) AS total FROM invoices i "
        "JOIN customers c ON c.id = i.customer_id LEFT JOIN invoice_lines l ON l.invoice_id = i.id "
        f"WHERE i.workshop_id = ?{more} GROUP BY i.id ORDER BY i.number",
        workshop_id,
    )


def next_number(db, workshop_id):
    year = clock.today()[:4]
    used = scalar(
        db,
        "SELECT max(CAST(substr(number, 6) AS INTEGER)) FROM invoices WHERE workshop_id = ? AND number LIKE ?",
        workshop_id,
        f"{year}-%",
    )
    return f"{year}-{(used or 0) + 1:04d}"


def bill(db, workshop_id, job, customer):
    """An invoice with one line for a job."""
    with transaction(db):
        invoice_id = _new(db, workshop_id, customer["id"], job["id"])
        insert(db, "invoice_lines", invoice_id=invoice_id, text=job["title"], quantity=1, unit=job["price"])
        search_index.renew(db, "invoice", invoice_id)
    return invoice_id


def credit(db, invoice):
    """An invoice over the same with the sign turned."""
    with transaction(db):
        invoice_id = _new(db, invoice["workshop_id"], invoice["customer_id"], None, credit_for=invoice["id"])
        for line in lines(db, invoice["id"]):
            insert(
                db,
                "invoice_lines",
                invoice_id=invoice_id,
                text=line["text"],
                quantity=line["quantity"],
                unit=-line["unit"],
            )
        search_index.renew(db, "invoice", invoice_id)
    return invoice_id


def _new(db, workshop_id, customer_id, job_id, **more):
    today = clock.today()
    return insert(
        db,
        "invoices",
        workshop_id=workshop_id,
        number=next_number(db, workshop_id),
        customer_id=customer_id,
        job_id=job_id,
        issued_on=today,
        due_on=clock.days_after(today, LATE_AFTER_DAYS),
        **more,
    )


def pay(db, invoice_id, day):
    """Whether it was unpaid until now."""
    done = db.execute("UPDATE invoices SET paid_on = ? WHERE id = ? AND paid_on IS NULL", (day, invoice_id))
    return done.rowcount == 1


def set_note(db, invoice_id, note):
    db.execute("UPDATE invoices SET note = ? WHERE id = ?", (note, invoice_id))


def remind(db, config, invoice):
    """Sends a reminder, and counts it."""
    customer = customer_of(db, invoice)
    db.execute("UPDATE invoices SET reminders = reminders + 1 WHERE id = ?", (invoice["id"],))
    amount = money.shown(total(db, invoice["id"]))
    text = f"Dear {customer['name']},\n\ninvoice {invoice['number']} over {amount} was due on {invoice['due_on']}."
    mail.send(config, customer["email"], f"Invoice {invoice['number']}", text)


def as_text(db, invoice):
    """How it is printed: 40 columns, for the printers on the counters."""
    customer = customer_of(db, invoice)
    out = [f"INVOICE {invoice['number']}", f"{customer['number']} {customer['name']}", f"issued {invoice['issued_on']}"]
    out += [f"{line['quantity']:>3} x {line['text'][:22]:<22} {money.shown(line['unit']):>11}" for line in lines(db, invoice["id"])]
    out += ["-" * 40, f"{'total':<10}{money.shown(total(db, invoice['id'])):>30}"]
    out += [f"paid {invoice['paid_on']}" if invoice["paid_on"] else f"due {invoice['due_on']}"]
    out += [invoice["note"]] if invoice["note"] else []
    return "\n".join(out) + "\n"


def as_json(db, invoice):
    names = ("id", "number", "customer_id", "job_id", "issued_on", "due_on", "paid_on", "reminders", "note")
    found = {name: invoice[name] for name in names}
    found["lines"] = [{name: line[name] for name in ("text", "quantity", "unit")} for line in lines(db, invoice["id"])]
    found["total"] = total(db, invoice["id"])
    return found
