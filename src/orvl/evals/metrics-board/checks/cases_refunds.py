"""Refunds and net: in the first turn of the orders of a day, then by the day on which PayLane paid them out."""

from datetime import timedelta

from cases_tables import OUTSIDE, clock_week, quiet, random
from clock import change
from shop import Refund, month_after
from tables import table_case


def plain(week=None, zone="Europe/Berlin"):
    """Each order has a day of its own for its refund, at noon."""
    tale = quiet(week, zone=zone)
    tale.shop.refunds.clear()
    for order in random.sample(tale.shop.orders, 6):
        tale.refund(order, random.randint(0, 8), hour=random.randint(9, 17))
    return tale


def of_other_weeks():
    """Orders of the week before, given back in this one, and orders of this one, given back in the next."""
    tale = plain()
    before = [tale.order(day) for day in (-9, -4, -1)]
    for order, day in zip(before, (0, 3, 6)):
        tale.refund(order, day)
    tale.refund(tale.order(2), 9)
    tale.refund(tale.order(5), 20)
    return tale


def failed_ones():
    tale = plain()
    for day in (1, 3, 5):
        order = tale.order(day)
        tale.refund(order, day, status="failed")
        tale.refund(order, day, hour=17)
    return tale


def of_cancelled_ones():
    """Cancelled at once, or in the export of the next month."""
    tale = plain("2026-W40")
    for day in (0, 4):
        tale.refund(tale.order(day, status="cancelled"), day + 1)
    late = tale.order(2)
    tale.refund(late, 3)
    tale.again(late, month_after(tale.shop.day(6)), status="cancelled")
    return tale


def of_unknown_ones():
    tale = plain()
    for day in (1, 4, 6):
        tale.refund(f"1{random.randint(1000, 9999)}", day)
    return tale


def big_ones():
    """Thousands, some of them round; several for one order; more than was paid."""
    tale = plain()
    dear = tale.order(2, cents=1_234_500)
    for cents in (123_450, 200_000, 5, 100_010):
        tale.refund(dear, 2, cents=cents)
    small = tale.order(5, cents=900)
    tale.refund(small, 5, cents=65_490)
    return tale


def late_evening(week, zone="Europe/Berlin"):
    """Paid out in the last and in the first hours of days, by the clock on the wall."""
    tale = plain(week, zone)
    for day in range(-1, 8):
        order = tale.order(random.randint(-1, 6))
        tale.refund(order, day, hour=0, minute=random.randint(1, 55))
        tale.refund(order, day, hour=23, minute=random.randint(5, 58))
    return tale


def clock_change(month, zone="Europe/Berlin"):
    tale = late_evening(clock_week(month), zone)
    order = tale.order(1)
    for minutes in (-40, 40, 22 * 60):
        tale.shop.refunds.append(Refund(order.number, change(2026, month) + timedelta(minutes=minutes), random.randint(100, 3000)))
    return tale


def refunds_of_the_days_orders():
    cases = [
        ("plain", plain),
        ("other weeks", of_other_weeks),
        ("failed", failed_ones),
        ("cancelled", of_cancelled_ones),
        ("unknown orders", of_unknown_ones),
        ("big", big_ones),
        ("late in the evening", lambda: late_evening("2026-W31")),
        ("the clocks change", lambda: clock_change(10)),
    ]
    return [table_case(name, tell, "refunds", "net") for name, tell in cases]


def refunds_when_paid_out():
    cases = [
        ("plain", plain),
        ("other weeks", of_other_weeks),
        ("failed", failed_ones),
        ("cancelled", of_cancelled_ones),
        ("unknown orders", of_unknown_ones),
        ("big", big_ones),
        ("late in winter", lambda: late_evening("2026-W48")),
        ("late in summer", lambda: late_evening("2026-W31")),
        ("in spring", lambda: clock_change(3)),
        ("in autumn", lambda: clock_change(10)),
        ("elsewhere", lambda: clock_change(random.choice((3, 10)), random.choice(OUTSIDE))),
        ("elsewhere in summer", lambda: late_evening("2026-W34", random.choice(OUTSIDE))),
    ]
    return [table_case(name, tell, "refunds", "net", by="payout") for name, tell in cases]
