"""Corrections and cancellations that came before their sale.

Kiosks send their day when they find a network, so the desk may cancel a ticket hours before we hear that it was sold.
"""

from decimal import Decimal

from tally import booking, store
from tally.errors import Problem
from tally.row import Row


def put_aside(path, row, file, line, raw):
    store.add_waiting(path, row, file, line, raw)


def row_of(waiting):
    price = None if waiting["price"] is None else Decimal(waiting["price"])
    return Row(
        waiting["kind"], waiting["number"], waiting["sold"], waiting["venue"], waiting["product"], waiting["count"],
        price, waiting["note"],
    )


def apply_to(number, path, settings, count, reject):
    """Does what waits for a sale, in the order in which it came. Called after each sale."""
    rows = [(one, row_of(one)) for one in store.all_waiting(path)]
    for one, row in rows:
        if row.number != number:
            continue
        try:
            word = booking.act(path, settings, row)
        except Problem as problem:
            reject(one["file"], one["line"], problem.reason, one["raw"])
            store.drop_waiting(path, one["id"])
            continue
        count(word)
        store.drop_waiting(path, one["id"])


def listing(path):
    """For `python3 -m tally waiting`."""
    found = []
    for one in store.all_waiting(path):
        what = "cancellation" if one["kind"] == "X" else "correction"
        found.append("%s  %s  from %s, line %d" % (one["number"], what, one["file"], one["line"]))
    return found
