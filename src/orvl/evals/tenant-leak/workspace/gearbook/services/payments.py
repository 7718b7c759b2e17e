"""What the payment provider tells us. Each workshop has a secret of its own with it."""

from gearbook import audit, clock
from gearbook.db import insert, one, transaction
from gearbook.services import dashboard


def take(db, workshop, event, invoice_number, day):
    """`paid`, `already`, `again` (an event that was taken before) or `unknown`."""
    with transaction(db):
        if one(
            db, "SELECT 1 FROM payment_events WHERE workshop_id = ? AND event = ?", workshop["id"], event
        ):
            return "again"
        invoice = one(
            db, "SELECT * FROM invoices WHERE workshop_id = ? AND number = ?", workshop["id"], invoice_number
        )
        if invoice is None:
            return "unknown"
        insert(db, "payment_events", workshop_id=workshop["id"], event=event, at=clock.now())
        if invoice["paid_on"]:
            return "already"
        db.execute("UPDATE invoices SET paid_on = ? WHERE id = ?", (day, invoice["id"]))
        audit.note(db, workshop["id"], "payments", "invoice.paid", invoice_number)
    dashboard.forget(workshop["id"])
    return "paid"
