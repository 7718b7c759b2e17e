"""Customers. Their numbers (`K-1007`) are given by each workshop, so two workshops have the same ones."""

from gearbook.db import insert, one, rows, scalar
from gearbook.services import search_index

FIELDS = ("name", "email", "phone", "note")


def find(db, workshop_id, customer_id):
    return one(db, "SELECT * FROM customers WHERE workshop_id = ? AND id = ?", workshop_id, customer_id)


def by_number(db, workshop_id, number):
    return one(db, "SELECT * FROM customers WHERE workshop_id = ? AND number = ?", workshop_id, number)


def listing(db, workshop_id):
    return rows(db, "SELECT * FROM customers WHERE workshop_id = ? ORDER BY number, id", workshop_id)


def create(db, workshop_id, values):
    number = values.get("number") or next_number(db, workshop_id)
    customer_id = insert(
        db,
        "customers",
        workshop_id=workshop_id,
        number=number,
        **{name: values.get(name, "") for name in FIELDS},
    )
    search_index.renew(db, "customer", customer_id)
    return customer_id


def update(db, customer_id, values):
    for name in FIELDS:
        if name in values:
            db.execute(f"UPDATE main.customers SET {name} = ? WHERE id = ?", (values[name], customer_id))
    search_index.renew(db, "customer", customer_id)


def next_number(db, workshop_id):
    used = scalar(
        db,
        "SELECT max(CAST(substr(number, 3) AS INTEGER)) FROM customers WHERE workshop_id = ? AND number LIKE 'K-%'",
        workshop_id,
    )
    return f"K-{max(used or 0, 1000) + 1}"


def as_json(row):
    return {"id": row["id"], "number": row["number"], **{name: row[name] for name in FIELDS}}
