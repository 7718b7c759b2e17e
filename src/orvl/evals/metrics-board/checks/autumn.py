"""What happened in the shop until week 43 of 2026: the exports in the workspace, and what finance looked at."""

from datetime import date, datetime, timedelta
from random import Random

from clock import local, utc_of
from shop import Order, Refund, Story

SEED = 20261026
WEEK = "2026-W43"
FIRST = date(2026, 6, 1)
CHANGED = date(2026, 7, 1)
NOTES = (
    *("", "", "", "", "", "", "", ""),
    "Please leave it with the neighbours, thanks",
    "Happy birthday, Ada!\r\nYours, Tom",
    'It says "fragile" on the last one, but it was not',
    "2 x Sencha, not Assam; sorry",
    "Back door\r\n\r\n(the bell is broken)",
)
MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY = range(7)


def autumn(trap):
    tale = Story(Random(SEED), WEEK, trap=trap, name="Ostwind Tea")
    chance, shop = tale.random, tale.shop
    shop.line_end = "\r\n"
    _summer(tale)
    _week(tale)
    start = utc_of(shop.zone, shop.day(-7))
    for hour in range(24 * 14 + 1):
        wall = local(shop.zone, start + timedelta(hours=hour)).hour
        tale.visit_at(start + timedelta(hours=hour), chance.randint(1, 9) + 4 * min(wall, 24 - wall))
    shop.refunds.sort(key=lambda refund: refund.at)
    return tale


def _summer(tale):
    chance = tale.random
    for day in range((FIRST - tale.shop.monday).days, 0):
        then = tale.shop.day(day)
        for _ in range(chance.choice((0, 1, 1, 2)) if day < -14 else chance.randint(2, 4)):
            order = tale.order(
                day,
                cents=chance.choice((chance.randint(690, 9_000), chance.randint(690, 9_000), chance.randint(100_000, 180_000))) if day % 9 == 0 else chance.randint(690, 9_000),
                header="old" if then < CHANGED else "new",
                status=chance.choice(("paid", "shipped", "shipped", "shipped", "shipped", "cancelled")),
                note=chance.choice(NOTES),
            )
            if chance.random() < 0.12:
                tale.refund(order, day + chance.randint(1, 6))
            if chance.random() < 0.06 and then.month < 10:
                tale.shop.orders.append(
                    Order(order.number, order.at, order.cents, "cancelled", order.note, file=f"2026-{then.month + 1:02} new")
                )


def _week(tale):
    """Few orders a day, so that everybody can follow them, and what finance's rows reveal."""
    chance, shop = tale.random, tale.shop
    days = [
        [tale.order(day, cents=chance.randint(790, 8_900), status=chance.choice(("paid", "shipped")), note=chance.choice(NOTES)) for _ in range(chance.randint(3, 5))]
        for day in range(7)
    ]
    last_week = [order for order in shop.orders if order.at.date() >= shop.day(-7) and order.status != "cancelled" and order.at.date() < shop.monday]
    tale.refund(last_week[2], MONDAY, 10, 12)
    tale.refund(last_week[-2], TUESDAY, 16, 40)
    tale.refund(days[MONDAY][1], TUESDAY, 9, 5)
    _paid_out(tale, days[TUESDAY][0], datetime(2026, 10, 21, 22, 25))
    cancelled = tale.order(THURSDAY, 11, 20, cents=4_650, status="cancelled", note="ordered twice, sorry")
    tale.refund(cancelled, FRIDAY, 9, 30, cents=4_650)
    tale.refund(days[WEDNESDAY][1], FRIDAY, 13, 10, status="failed")
    tale.refund("31877", FRIDAY, 14, 55, cents=1_990)
    _paid_out(tale, days[THURSDAY][2], datetime(2026, 10, 24, 22, 45))
    tale.order(SUNDAY, 23, 40, cents=3_120, note="")
    tale.order(SUNDAY, 0, 20, cents=2_480, note="")
    _paid_out(tale, days[SATURDAY][0], datetime(2026, 10, 25, 22, 35))


def _paid_out(tale, order, at):
    """At a moment, UTC."""
    tale.shop.refunds.append(Refund(order.number, at, tale.random.randint(200, order.cents)))


if __name__ == "__main__":
    import sys
    from pathlib import Path

    for name, content in autumn(sys.argv[1]).shop.files().items():
        Path(sys.argv[2], name).write_bytes(content.encode())
    for day, figures in zip(autumn("").shop.days, autumn("").shop.figures("payout")):
        print(day, figures.orders, figures.sales / 100, figures.refunds / 100, figures.net / 100)
