"""What happened in a shop, as exports and as the numbers that the page must show. The numbers come from what happened, never from
a text that was read."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from clock import DAY, HOUR, local, monday_of, utc_of, winter_time

MARK = "\ufeff"
COLUMNS = ("day", "orders", "sales", "refunds", "net", "visits", "conversion")
NAMES = {
    "old": {"number": "Order", "at": "Created", "cents": "Gross", "status": "Status", "note": "Note"},
    "new": {"number": "Order ID", "at": "Placed (UTC)", "status": "State", "note": "Customer note", "cents": "Total (EUR)"},
}


@dataclass(frozen=True)
class Order:
    number: str
    at: datetime
    cents: int
    status: str = "paid"
    note: str = ""
    file: str = ""
    """Where it is exported, and with which header: `2026-07 new`."""


@dataclass(frozen=True)
class Refund:
    order: str
    at: datetime
    cents: int
    status: str = "done"


@dataclass(frozen=True)
class Hour:
    at: datetime
    visits: int
    bots: int = 0


@dataclass
class Figures:
    """The numbers of a day, or of the week; amounts are cents."""

    orders: int = 0
    sales: int = 0
    refunds: int = 0
    visits: int = 0

    @property
    def net(self):
        return self.sales - self.refunds

    @property
    def conversion(self):
        return 100 * self.orders / self.visits if self.visits else None

    def __add__(self, other):
        return Figures(
            self.orders + other.orders, self.sales + other.sales, self.refunds + other.refunds, self.visits + other.visits
        )


@dataclass
class Shop:
    week: str
    zone: str
    trap: str
    name: str = "Tea"
    header: str = "new"
    orders: list = field(default_factory=list)
    refunds: list = field(default_factory=list)
    visits: list = field(default_factory=list)
    has_mark: bool = True
    line_end: str = "\r\n"
    order_of_columns: tuple = ()

    @property
    def monday(self):
        return monday_of(self.week)

    def day(self, number):
        return self.monday + number * DAY

    @property
    def days(self):
        return [self.day(number) for number in range(7)]

    # -- the numbers

    def figures(self, by="order"):
        """Of each day: refunds count on the day of their order, or when they were paid out."""
        found = {day: Figures() for day in self.days}
        nowhere = Figures()
        last = {}
        for order in sorted(self.orders, key=lambda order: order.file.split()[0]):
            last[order.number] = order
        for order in last.values():
            if order.status != "cancelled":
                day = found.get(local(self.zone, order.at).date(), nowhere)
                day.orders, day.sales = day.orders + 1, day.sales + order.cents
        for refund in self.refunds:
            order = last.get(refund.order)
            is_lost = order is None and by == "order"
            if refund.status == "failed" or is_lost or (order is not None and order.status == "cancelled"):
                continue
            at = refund.at if by == "payout" else order.at
            found.get(local(self.zone, at).date(), nowhere).refunds += refund.cents
        for hour in {hour.at: hour for hour in self.visits}.values():
            found.get(local(self.zone, hour.at).date(), nowhere).visits += hour.visits - hour.bots
        return list(found.values())

    # -- the exports

    def files(self):
        shop = {"name": self.name, "zone": self.zone, "offset": "+01:00"}
        made = {"shop.json": json.dumps(shop, ensure_ascii=False, indent=2) + "\n"}
        for file in sorted({order.file for order in self.orders} | {f"{self.day(0):%Y-%m} {self.header}"}):
            month, header = file.split()
            made[f"orders-{month}.csv"] = self._orders([one for one in self.orders if one.file == file], header)
        return made | {"refunds.csv": self._refunds(), "visits.csv": self._visits()}

    def _orders(self, rows, header):
        names = NAMES[header]
        keys = [key for key in self.order_of_columns if key in names] or list(names)
        lines = [",".join(names[key] for key in keys)]
        lines += [",".join(quoted(self._text(row, key, header)) for key in keys) for row in rows]
        mark = MARK if self.has_mark and header == "new" else ""
        return mark + self.line_end.join([*lines, ""])

    def _text(self, order, key, header):
        if key == "at":
            return f"{local(self.zone, order.at):%Y-%m-%d %H:%M}" if header == "old" else f"{order.at:%Y-%m-%dT%H:%M:%SZ}"
        if key == "cents":
            return f"{order.cents / 100:.2f}" if header == "old" else f"{order.cents / 100:,.2f}"
        if key == "status":
            return order.status if header == "old" else order.status.upper()
        return getattr(order, key)

    def _refunds(self):
        lines = ["Refund;Order;Paid out;Amount;Status"]
        for number, one in enumerate(self.refunds, 1):
            lines.append(
                f"R{number};{one.order};{winter_time(self.zone, one.at):%d.%m.%Y %H:%M};{with_comma(one.cents)};{one.status}"
            )
        if self.trap == "title":
            total = sum(one.cents for one in self.refunds)
            lines = [f"PayLane payouts of {self.name.replace(';', ' ')}", "", *lines, f"Total;;;{with_comma(total)};"]
        return "\n".join([*lines, ""])

    def _visits(self):
        bots = self.trap == "bots"
        rows = [f"{one.at:%Y-%m-%dT%H:%MZ},{one.visits}" + f",{one.bots}" * bots for one in self.visits]
        return "\n".join(["hour,visits" + ",bots" * bots, *rows, ""])


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n\r') else text


def with_comma(cents):
    return f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,"))


# -- weeks in which something happens


NOTES = ("", "", "", "Please ring", "For Ada", "no plastic please", "3rd floor")
FIRST_NUMBER = 40_000


class Story:
    """Fills a shop with what happens in a week; times are those at the shop."""

    def __init__(self, random, week, zone="Europe/Berlin", trap="", header="new", **more):
        self.random, self.shop = random, Shop(week, zone, trap, header=header, **more)
        self.number = FIRST_NUMBER + random.randint(1, 20_000)

    def order(self, day, hour=None, minute=None, cents=None, header=None, month=None, **more):
        """An order on the n-th day of the week; days below 0 and above 6 are in other weeks."""
        chance, shop = self.random, self.shop
        self.number += chance.randint(1, 9)
        hour = chance.randint(8, 19) if hour is None else hour
        minute = chance.randint(0, 59) if minute is None else minute
        at = utc_of(shop.zone, shop.day(day), hour, minute)
        file = f"{month or local(shop.zone, at).strftime('%Y-%m')} {header or shop.header}"
        more.setdefault("note", chance.choice(NOTES))
        made = Order(str(self.number), at, chance.randint(600, 19_999) if cents is None else cents, file=file, **more)
        shop.orders.append(made)
        return made

    def refund(self, order, day, hour=15, minute=None, cents=None, **more):
        at = utc_of(self.shop.zone, self.shop.day(day), hour, self.random.randint(0, 59) if minute is None else minute)
        share = self.random.randint(100, max(101, (order.cents if isinstance(order, Order) else 9000) - 1))
        number = order.number if isinstance(order, Order) else order
        self.shop.refunds.append(Refund(number, at, share if cents is None else cents, **more))

    def visit(self, day, hour, visits=None):
        at = utc_of(self.shop.zone, self.shop.day(day), hour)
        self.visit_at(at, self.random.randint(20, 190) if visits is None else visits)

    def visit_at(self, at, visits):
        """With the traps of this episode: hours that are counted again, and bots."""
        shop, chance = self.shop, self.random
        bots = chance.randint(0, visits // 3) if shop.trap == "bots" else 0
        if shop.trap == "again" and chance.random() < 0.3:
            shop.visits.append(Hour(at, visits + chance.randint(1, 40)))
        shop.visits.append(Hour(at, visits, bots))

    def quiet_week(self, orders=(1, 3), refunds=0.4):
        """Orders and visits on all days but one, and refunds on the day of their order, whichever clock one goes by."""
        chance = self.random
        empty = chance.randint(1, 5)
        for day in (-2, *range(7), 8):
            for _ in range(0 if day == empty else chance.randint(*orders)):
                made = self.order(day, header=self._header_of(day), hour=chance.randint(8, 13))
                if chance.random() < refunds:
                    self.refund(made, day)
            for hour in chance.sample(range(7, 21), 2):
                self.visit(day, hour)
        return self

    def _header_of(self, day):
        return self.shop.header

    def again(self, order, month, **changes):
        """The same order in a later export."""
        header = order.file.split()[1]
        values = {name: getattr(order, name) for name in ("number", "at", "cents", "status", "note")}
        self.shop.orders.append(Order(**values | changes, file=f"{month} {header}"))


def month_after(day):
    return (day.replace(day=1) + timedelta(days=32)).strftime("%Y-%m")
