"""Fixtures: JSON with rows by table, for demos, staging and whoever moves to us: docs/fixtures.md.

Whoever can run this owns the machine, so nothing is asked about permissions here.
"""

from gearbook import clock
from gearbook.db import connect, insert, transaction
from gearbook.secrets_ import hashed, password_hash
from gearbook.services import file_area, search_index
from gearbook.services.users import normal_email

TABLES = {
    "workshops": ("id", "slug", "name", "plan", "created_at", "payment_secret"),
    "users": ("id", "workshop_id", "email", "name", "role", "password", "active"),
    "customers": ("id", "workshop_id", "number", "name", "email", "phone", "note"),
    "vehicles": ("id", "workshop_id", "customer_id", "plate", "model", "year"),
    "jobs": (
        *("id", "workshop_id", "customer_number", "vehicle_id", "mechanic_id", "title", "status", "price", "note"),
        *("opened_on", "closed_on", "share"),
    ),
    "invoices": (
        *("id", "workshop_id", "number", "customer_id", "job_id", "issued_on", "due_on", "paid_on", "reminders"),
        *("credit_for", "note"),
    ),
    "invoice_lines": ("id", "invoice_id", "text", "quantity", "unit"),
    "parts": ("id", "workshop_id", "sku", "name", "stock", "least", "price"),
}
DEFAULTS = {
    "workshops": lambda row: {"created_at": clock.now()},
    "jobs": lambda row: {"opened_on": clock.today()},
    "invoices": lambda row: {
        "issued_on": clock.today(),
        "due_on": clock.days_after(row.get("issued_on") or clock.today(), 14),
    },
}
OTHERS = ("api_tokens", "files")


class FixtureError(Exception):
    pass


def load(config, data):
    """All or nothing, apart from files. Gives how many rows there were of each table."""
    if not isinstance(data, dict):
        raise FixtureError("a fixture is a JSON object")
    unknown = sorted(set(data) - set(TABLES) - set(OTHERS))
    if unknown:
        raise FixtureError(f"unknown: {', '.join(unknown)}")
    db = connect(config.database)
    try:
        with transaction(db):
            for table in TABLES:
                for row in data.get(table, ()):
                    _insert(db, table, row)
            for row in data.get("api_tokens", ()):
                _token(db, row)
            for kind in search_index.KINDS:
                for row in data.get(f"{kind}s", ()):
                    search_index.renew(db, kind, row["id"])
    finally:
        db.close()
    for row in data.get("files", ()):
        file_area.write(config, row["workshop_id"], row["name"], row["content"].encode())
    return {name: len(content) for name, content in data.items()}


def _insert(db, table, row):
    unknown = sorted(set(row) - set(TABLES[table]))
    if unknown or "id" not in row:
        raise FixtureError(f"{table}: {', '.join(unknown) or 'a row without id'}")
    values = {**(DEFAULTS[table](row) if table in DEFAULTS else {}), **row}
    if table == "users":
        values["password"] = password_hash(row["password"])
        values["email"] = normal_email(row["email"])
    insert(db, table, **values)


def _token(db, row):
    insert(
        db,
        "api_tokens",
        workshop_id=row["workshop_id"],
        user_id=row["user_id"],
        name=row.get("name", "fixture"),
        hash=hashed(row["token"]),
        created_at=clock.now(),
    )
