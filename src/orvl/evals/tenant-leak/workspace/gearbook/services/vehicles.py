"""Vehicles: bicycles have frame numbers where cars have plates."""

from gearbook.db import insert, one, rows
from gearbook.services import search_index


def find(db, workshop_id, vehicle_id):
    return one(db, "SELECT * FROM vehicles WHERE workshop_id = ? AND id = ?", workshop_id, vehicle_id)


def of_customer(db, workshop_id, customer_id):
    return rows(
        db,
        "SELECT * FROM vehicles WHERE workshop_id = ? AND customer_id = ? ORDER BY plate, id",
        workshop_id,
        customer_id,
    )


def create(db, workshop_id, customer_id, plate, model="", year=None):
    vehicle_id = insert(
        db, "vehicles", workshop_id=workshop_id, customer_id=customer_id, plate=plate, model=model, year=year
    )
    search_index.renew(db, "vehicle", vehicle_id)
    return vehicle_id


def update(db, vehicle_id, values):
    for name in ("plate", "model", "year"):
        if name in values:
            db.execute(f"UPDATE vehicles SET {name} = ? WHERE id = ?", (values[name], vehicle_id))
    search_index.renew(db, "vehicle", vehicle_id)


def remove(db, vehicle_id):
    """Its jobs stay, without a vehicle."""
    db.execute("UPDATE jobs SET vehicle_id = NULL WHERE vehicle_id = ?", (vehicle_id,))
    db.execute("DELETE FROM vehicles WHERE id = ?", (vehicle_id,))
    search_index.forget(db, "vehicle", vehicle_id)


def as_json(row):
    return {name: row[name] for name in ("id", "customer_id", "plate", "model", "year")}
