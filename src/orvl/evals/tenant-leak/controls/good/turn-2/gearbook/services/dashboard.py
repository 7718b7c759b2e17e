"""The figures on the first page. They take long with many jobs, so they are kept for a while."""

from gearbook import belongings
from gearbook.cache import Cache
from gearbook.config import CACHE_SECONDS

_cache = Cache(CACHE_SECONDS)


def figures(db, workshop_id, month):
    return _cache.get_or_make(workshop_id, month, lambda: _count(db, workshop_id, month))


def forget(workshop_id):
    """Called after everything that may change the figures."""
    _cache.drop(workshop_id)


def _count(db, workshop_id, month):
    return {
        "month": month,
        "open": belongings.scalar(
            db, workshop_id, "SELECT count(*) FROM jobs WHERE status IN ('open', 'waiting')"
        ),
        "done": _of_month(db, "count(*)", workshop_id, month),
        "revenue": _of_month(db, "coalesce(sum(price), 0)", workshop_id, month),
        "unpaid": belongings.scalar(db, workshop_id, "SELECT count(*) FROM invoices WHERE paid_on IS NULL"),
        "top": _top_customers(db, workshop_id, month),
        "low": [
            row["name"]
            for row in belongings.rows(
                db, workshop_id, "SELECT name FROM parts WHERE stock < least ORDER BY name"
            )
        ],
    }


def _of_month(db, what, workshop_id, month):
    return belongings.scalar(
        db,
        workshop_id,
        f"SELECT {what} FROM jobs WHERE status = 'done' AND substr(closed_on, 1, 7) = ?",
        month,
    )


def _top_customers(db, workshop_id, month):
    """The three who brought most, by name."""
    found = belongings.rows(
        db,
        workshop_id,
        "SELECT c.name, sum(j.price) AS total FROM jobs j JOIN customers c ON c.number = j.customer_number "
        "WHERE j.status = 'done' AND substr(j.closed_on, 1, 7) = ? "
        "GROUP BY c.id ORDER BY total DESC, c.name LIMIT 3",
        month,
    )
    return [row["name"] for row in found]
