"""The audit log of each workshop: who did what, and when. Owners read it, nobody edits it."""

from gearbook import clock
from gearbook.db import insert, rows


def note(db, workshop_id, actor, action, detail=""):
    """Never put anything in here that opens a door: see docs/security.md."""
    insert(db, "audit", workshop_id=workshop_id, at=clock.now(), actor=actor, action=action, detail=str(detail)[:400])


def entries(db, workshop_id, most=200):
    """The latest first."""
    found = rows(
        db,
        "SELECT at, actor, action, detail FROM audit WHERE workshop_id = ? ORDER BY id DESC LIMIT ?",
        workshop_id,
        most,
    )
    return [dict(row) for row in found]
