"""Reports are asked for, made in the background, and fetched when they are done."""

from gearbook import belongings, clock
from gearbook.db import insert, rows

KINDS = ("revenue", "parts", "mechanics")


def ask(db, workshop_id, kind, month, actor):
    return insert(
        db, "reports", workshop_id=workshop_id, kind=kind, month=month, asked_by=actor, asked_at=clock.now()
    )


def find(db, workshop_id, report_id):
    return belongings.find(db, workshop_id, "reports", report_id)


def listing(db, workshop_id):
    return rows(db, "SELECT * FROM reports WHERE workshop_id = ? ORDER BY id DESC LIMIT 100", workshop_id)


def content(config, report):
    """What was made, or None where it is not there (any more)."""
    path = config.reports / report["file"] if report["file"] else None
    return path.read_text(encoding="utf-8") if path and path.is_file() else None


def as_json(report):
    return {name: report[name] for name in ("id", "kind", "month", "state", "asked_by", "asked_at", "done_at")}
