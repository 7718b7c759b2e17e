"""The workshops themselves."""

from gearbook.db import one, rows
from gearbook.secrets_ import new_token


def find(db, workshop_id):
    return one(db, "SELECT * FROM workshops WHERE id = ?", workshop_id)


def by_slug(db, slug):
    return one(db, "SELECT * FROM workshops WHERE slug = ?", slug)


def everyone(db):
    return rows(db, "SELECT id, slug, name, plan FROM workshops ORDER BY name, id")


def renew_payment_secret(db, workshop_id):
    secret = new_token("whs_")
    db.execute("UPDATE workshops SET payment_secret = ? WHERE id = ?", (secret, workshop_id))
    return secret
