"""Parts on the shelf."""

from gearbook.db import one, rows


def listing(db, workshop_id):
    return rows(db, "SELECT * FROM parts WHERE workshop_id = ? ORDER BY sku", workshop_id)


def by_sku(db, workshop_id, sku):
    return one(db, "SELECT * FROM parts WHERE workshop_id = ? AND sku = ?", workshop_id, sku)


def book(db, workshop_id, sku, change):
    """Puts parts on the shelf or takes some off; False where there are not enough, None where there is no such part."""
    part = by_sku(db, workshop_id, sku)
    if part is None:
        return None
    if part["stock"] + change < 0:
        return False
    db.execute("UPDATE main.parts SET stock = stock + ? WHERE id = ?", (change, part["id"]))
    return True


def as_json(row):
    return {name: row[name] for name in ("sku", "name", "stock", "least", "price")}
