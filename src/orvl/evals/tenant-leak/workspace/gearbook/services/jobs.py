"""Jobs: what is repaired, for whom, by whom, and for how much."""

from gearbook import clock
from gearbook.db import insert, one, rows
from gearbook.secrets_ import new_token
from gearbook.services import search_index

STATUSES = ("open", "waiting", "done", "cancelled")
FINAL = ("done", "cancelled")


def find(db, workshop_id, job_id):
    return one(db, "SELECT * FROM jobs WHERE workshop_id = ? AND id = ?", workshop_id, job_id)


def by_share(db, token):
    """For the customer's link, which opens one job and needs no login."""
    return one(db, "SELECT * FROM jobs WHERE share = ?", token) if token else None


def listing(db, workshop_id, status=None):
    if status:
        return rows(
            db,
            "SELECT * FROM jobs WHERE workshop_id = ? AND status = ? ORDER BY opened_on, id",
            workshop_id,
            status,
        )
    return rows(db, "SELECT * FROM jobs WHERE workshop_id = ? ORDER BY opened_on, id", workshop_id)


def create(db, workshop_id, customer_number, title, price=0, vehicle_id=None, mechanic_id=None):
    job_id = insert(
        db,
        "jobs",
        workshop_id=workshop_id,
        customer_number=customer_number,
        vehicle_id=vehicle_id,
        mechanic_id=mechanic_id,
        title=title,
        price=price,
        opened_on=clock.today(),
    )
    search_index.renew(db, "job", job_id)
    return job_id


def set_status(db, job_id, status):
    """Jobs that are over have a day on which they were closed; those that are opened again have none."""
    closed_on = clock.today() if status in FINAL else None
    db.execute("UPDATE jobs SET status = ?, closed_on = ? WHERE id = ?", (status, closed_on, job_id))


def set_mechanic(db, job_id, mechanic_id):
    db.execute("UPDATE jobs SET mechanic_id = ? WHERE id = ?", (mechanic_id, job_id))


def set_note(db, job_id, note):
    db.execute("UPDATE jobs SET note = ? WHERE id = ?", (note, job_id))
    search_index.renew(db, "job", job_id)


def remove(db, job_id):
    db.execute("DELETE FROM jobs WHERE id = ?", (job_id,))
    search_index.forget(db, "job", job_id)


def is_billed(db, job_id):
    return one(db, "SELECT 1 FROM invoices WHERE job_id = ?", job_id) is not None


def share(db, job_id):
    """A new link; the old one stops to work."""
    token = new_token()
    db.execute("UPDATE jobs SET share = ? WHERE id = ?", (token, job_id))
    return token


def as_json(row):
    names = ("id", "customer_number", "vehicle_id", "mechanic_id", "title", "status", "price", "note")
    return {name: row[name] for name in (*names, "opened_on", "closed_on")}
