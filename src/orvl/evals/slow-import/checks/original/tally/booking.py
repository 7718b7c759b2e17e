"""What a row does to the sales that are there. Each function says under which word it counts; see loading.py."""

from decimal import Decimal

from tally import dates, money, store
from tally.errors import Problem


def booking_day(path, day):
    """The day that a sale counts for: its own, or, if its month is closed, the first of the next open month."""
    month = dates.month_of(day)
    if not store.is_closed(path, month):
        return day
    while store.is_closed(path, month):
        month = dates.next_month(month)
    return month + "-01"


def content_of(sale):
    """The same of a sale as Row.content() is of a row."""
    return (sale["sold"], sale["venue"], sale["product"], sale["count"], sale["price"], sale["note"])


def enter(path, settings, row):
    """A sale."""
    sale = store.find_sale(path, row.number)
    if sale is not None:
        if content_of(sale) == row.content():
            return "repeated"
        raise Problem("taken")
    day = row.sold[:10]
    booked = booking_day(path, day)
    store.add_sale(path, row, money.total(row.count, row.price, settings.products[row.product]), booked)
    return "new" if booked == day else "late"


def correct(path, settings, row):
    """A correction; None if its sale has not come yet."""
    sale = store.find_sale(path, row.number)
    if sale is None:
        return None
    if sale["state"] == "cancelled":
        raise Problem("cancelled")
    if content_of(sale) == row.content():
        return "repeated"
    if store.is_closed(path, dates.month_of(sale["booked"])):
        raise Problem("closed")
    booked = booking_day(path, row.sold[:10])
    total = money.total(row.count, row.price, settings.products[row.product])
    store.correct_sale(path, sale["id"], row, total, booked)
    return "corrected"


def cancel(path, settings, row):
    """A cancellation; None if its sale has not come yet."""
    sale = store.find_sale(path, row.number)
    if sale is None:
        return None
    if sale["state"] == "cancelled":
        return "repeated"
    if store.is_closed(path, dates.month_of(sale["booked"])):
        raise Problem("closed")
    store.cancel_sale(path, sale["id"])
    return "cancelled"


ACTS = {"S": enter, "C": correct, "X": cancel}


def act(path, settings, row):
    return ACTS[row.kind](path, settings, row)


def total_of(sales):
    result = Decimal("0.00")
    for sale in sales:
        result = result + Decimal(sale["total"])
    return result
