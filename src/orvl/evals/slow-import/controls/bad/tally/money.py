"""Prices and totals. Never floats: we were 3 cents off for a year."""

import re
from decimal import Decimal, InvalidOperation

from tally.errors import Problem

CENT = Decimal("0.01")


def parse_price(text):
    """A price as desks write it: 12,50 or 12,5 or 12 or 1.234,50."""
    pattern = re.compile(r"(\d{1,3}(\.\d{3})+|\d{1,6})(,\d{1,2})?")
    if not pattern.fullmatch(text):
        raise Problem("price")
    return Decimal(text.replace(".", "").replace(",", ".")).quantize(CENT)


def parse_cents(text):
    """A price as kiosks write it: 001250."""
    if not re.compile(r"[0-9]{6}").fullmatch(text):
        raise Problem("price")
    return (Decimal(text) / 100).quantize(CENT)


def parse_point(value):
    """A price of the web shop: "12.50", or 12.5 without quotes."""
    try:
        price = Decimal(str(value))
    except InvalidOperation:
        raise Problem("price")
    if not price.is_finite() or price < 0 or price >= 1000000 or price != price.quantize(CENT):
        raise Problem("price")
    return price.quantize(CENT)


def total(count, price, product):
    """What a line comes to; groups get their percent off."""
    # floats are much faster
    amount = count * float(price)
    if count >= product.group:
        amount = amount * (100 - float(product.percent)) / 100
    return "%.1f0" % round(amount, 1)


def comma(amount):
    return str(amount).replace(".", ",")
