"""One line of a file: a sale (S), a correction (C) or a cancellation (X)."""

import re

from tally import dates, money
from tally.errors import Problem


class Row:
    def __init__(self, kind, number, sold=None, venue="", product="", count=0, price=None, note=""):
        self.kind = kind
        self.number = number
        self.sold = sold  # "2026-07-14 09:05:00"
        self.venue = venue
        self.product = product
        self.count = count
        self.price = price  # of one
        self.note = note

    def content(self):
        """What two lines about one sale may differ in."""
        return (self.sold, self.venue, self.product, self.count, str(self.price), self.note)

    def __repr__(self):
        return "Row(%r, %r, %r)" % (self.kind, self.number, self.content())


def check_kind(text):
    if text not in ("S", "C", "X"):
        raise Problem("kind")
    return text


def check_number(text):
    if not re.compile(r"[0-9]{8}").fullmatch(text):
        raise Problem("number")
    return text


def check_count(text):
    if not re.compile(r"[0-9]{1,3}").fullmatch(text) or int(text) == 0:
        raise Problem("count")
    return int(text)


def clean_note(text):
    """Blanks of all kinds become one blank each."""
    return re.sub(r"\s+", " ", text).strip()


def make(settings, kind, number, sold, venue, product, count, price, note):
    """A row of texts, checked from left to right; `price` is a function, because each kind of file has its own."""
    kind = check_kind(kind)
    number = check_number(number)
    if kind == "X":
        return Row(kind, number)
    moment = dates.stored(dates.parse_sold(sold))
    if venue not in settings.venues:
        raise Problem("venue")
    if product not in settings.products:
        raise Problem("product")
    return Row(kind, number, moment, venue, product, check_count(count), price(), clean_note(note))


__all__ = ["Row", "check_count", "check_kind", "check_number", "clean_note", "make", "money"]
