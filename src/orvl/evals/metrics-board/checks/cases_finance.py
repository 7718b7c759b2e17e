"""Week 43 as finance looked at it, with some orders and refunds more, so that nobody can know the numbers by heart."""

from datetime import timedelta

from autumn import autumn
from build import built
from cases_labels import once
from cases_tables import TRAP, random
from clock import utc_of
from shop import Refund
from tables import compare


def week_43():
    tale = autumn(TRAP)
    shop = tale.shop
    tale.random = random
    tale.number += random.randint(100, 2000)
    for day in range(7):
        order = tale.order(day, note="")
        moments = [utc_of(shop.zone, shop.day(day), 12), utc_of(shop.zone, shop.day(day)) + timedelta(minutes=random.randint(2, 55))]
        shop.refunds += [Refund(order.number, at, random.randint(100, order.cents)) for at in moments]
    return tale


def finance():
    pages = [once(week_43), once(week_43)]

    def one(page, at):
        def case():
            tale, made = page
            compare(made, tale, "orders", "sales", "refunds", "net", by="payout", days=[tale.shop.day(at).isoformat()])

        return case

    def whole():
        tale, made = pages[0]
        compare(made, tale, "orders", "sales", "refunds", "net", by="payout", days=["total"])

    days = [(f"day {at + 1}, {number + 1}", one(page, at)) for number, page in enumerate(pages) for at in range(7)]
    return [*days, ("total", whole)]
