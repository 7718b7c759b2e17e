"""The figures on the first page. They take long with many jobs, so they are kept for a while."""

from gearbook.cache import Cache
from gearbook.config import CACHE_SECONDS
from gearbook.db import rows, scalar

_cache = Cache(CACHE_SECONDS)


def figures(db, workshop_id, month):
    return _cache.get_or_make(f"{workshop_id}/{month}", lambda: _count(db, workshop_id, month))


def forget(workshop_id):
    """Called after everything that may change the figures."""
    _cache.drop(f"{workshop_id}/")


def _count(db, workshop_id, month):
    return {
        "month": month,
        "open": scalar(
            db, "SELECT count(*) FROM jobs WHERE workshop_id = ? AND status IN ('open', 'waiting')", workshop_id
        ),
        "done": _of_month(db, "count(*)", workshop_id, month),
        "revenue": _of_month(db, "coalesce(sum(price), 0)", workshop_id, month),
        "unpaid": scalar(
            db, "SELECT count(*) FROM invoices WHERE workshop_id = ? AND paid_on IS NULL", workshop_id
        ),
        "top": _top_customers(db, workshop_id, month),
        "low": [
            row["name"]
            for row in rows(
                db, "SELECT name FROM parts WHERE workshop_id = ? AND stock < least ORDER BY name", workshop_id
            )
        ],
    }


def _of_month(db, what, workshop_id, month):
    return scalar(
        db,
        f"SELECT {what} FROM jobs WHERE workshop_id = ? AND status = 'done' AND substr(closed_on, 1, 7) = ?",
        workshop_id,
        month,
    )


def _top_customers(db, workshop_id, month):
    """The three who brought most, by name."""
    found = rows(
        db,
        "SELECT c.name, sum(j.price) AS total FROM jobs j "
        "JOIN customers c ON c.workshop_id = j.workshop_id AND c.number = j.customer_number "
        "WHERE j.workshop_id = ? AND j.status = 'done' AND substr(j.closed_on, 1, 7) = ? "
        "GROUP BY c.id ORDER BY total DESC, c.name LIMIT 3",
        workshop_id,
        month,
    )
    return [row["name"] for row in found]
