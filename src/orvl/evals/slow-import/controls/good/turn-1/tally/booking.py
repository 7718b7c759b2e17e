"""What a row does to the sales that are there. Each function says under which word it counts; see loading.py."""

from tally import dates, money, store
from tally.errors import Problem


def booking_day(db, day):
    """The day that a sale counts for: its own, or, if its month is closed, the first of the next open month."""
    month = dates.month_of(day)
    if not store.is_closed(db, month):
        return day
    while store.is_closed(db, month):
        month = dates.next_month(month)
    return month + "-01"


def content_of(sale):
    """The same of a sale as Row.content() is of a row."""
    return (sale["sold"], sale["venue"], sale["product"], sale["count"], sale["price"], sale["note"])


def enter(db, settings, row):
    """A sale."""
    sale = store.find_sale(db, row.number)
    if sale is not None:
        if content_of(sale) == row.content():
            return "repeated"
        raise Problem("taken")
    day = row.sold[:10]
    booked = booking_day(db, day)
    store.add_sale(db, row, money.total(row.count, row.price, settings.products[row.product]), booked)
    return "new" if booked == day else "late"


def correct(db, settings, row):
    """A correction; None if its sale has not come yet."""
    sale = store.find_sale(db, row.number)
    if sale is None:
        return None
    if sale["state"] == "cancelled":
        raise Problem("cancelled")
    if content_of(sale) == row.content():
        return "repeated"
    if store.is_closed(db, dates.month_of(sale["booked"])):
        raise Problem("closed")
    booked = booking_day(db, row.sold[:10])
    total = money.total(row.count, row.price, settings.products[row.product])
    store.correct_sale(db, sale["id"], row, total, booked)
    return "corrected"


def cancel(db, settings, row):
    """A cancellation; None if its sale has not come yet."""
    sale = store.find_sale(db, row.number)
    if sale is None:
        return None
    if sale["state"] == "cancelled":
        return "repeated"
    if store.is_closed(db, dates.month_of(sale["booked"])):
        raise Problem("closed")
    store.cancel_sale(db, sale["id"])
    return "cancelled"


ACTS = {"S": enter, "C": correct, "X": cancel}


def act(db, settings, row):
    return ACTS[row.kind](db, settings, row)
