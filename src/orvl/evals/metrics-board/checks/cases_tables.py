"""Orders, sales, visits and conversion: each week has one flaw of real exports more than a quiet one."""

from datetime import date, timedelta

from orvl import checks

from clock import HOUR, change, local, utc_of, week_of
from shop import Story, month_after
from tables import table_case

random = checks.random()
TRAP = str(checks.drawn()["trap"])
NEW_WEEKS = ("2026-W29", "2026-W33", "2026-W36", "2026-W41", "2026-W46", "2026-W49")
OLD_WEEKS = ("2026-W06", "2026-W10", "2026-W15", "2026-W19", "2026-W23")
OUTSIDE = ("Europe/Lisbon", "Europe/Helsinki", "Europe/Athens")


def story(week=None, **more):
    return Story(random, week or random.choice(NEW_WEEKS), trap=TRAP, **more)


def quiet(week=None, **more):
    return story(week, **more).quiet_week()


def clock_week(month):
    return week_of(change(2026, month).date())


# -- orders and sales


def line_breaks():
    tale = quiet()
    for day in random.sample(range(7), 4):
        tale.order(day, note=random.choice(("First line\nsecond line", "Two\r\n\r\nparts", "\nBell is broken\n", "a,b\nc,d,e,f")))
    return tale


def odd_notes():
    tale = quiet(order_of_columns=random.choice((("cents", "note", "number", "at", "status"), ("note", "status", "cents", "number", "at"))))
    for note in ('Say "hello"', '""', "1,2 and 3", 'The "big", red one', "'tis; fine", "cancelled", '"'):
        tale.order(random.randint(0, 6), note=note)
    return tale


def in_the_middle():
    """The header changes within a week."""
    tale = story("2026-W27", header="old")
    tale._header_of = lambda day: "old" if tale.shop.day(day) < date(2026, 7, 1) else "new"
    tale.shop.header = "old"
    return tale.quiet_week(orders=(2, 3))


def exported_again():
    """Orders of one month, changed in the next: other amounts, cancelled, or nothing at all."""
    tale = quiet(random.choice(("2026-W40", "2026-W49", "2026-W32")))
    kept = [one for one in tale.shop.orders if one.status == "paid"]
    chosen = random.sample(kept, 5)
    for order, changes in zip(chosen, ({"cents": 777}, {"status": "cancelled"}, {"status": "shipped"}, {"cents": dearer(chosen[3])}, {})):
        tale.again(order, month_after(tale.shop.day(6)), **changes)
    twice = tale.order(3, cents=4300)
    tale.again(twice, twice.file.split()[0], cents=4150)
    tale.shop.refunds.clear()
    return tale


def dearer(order):
    return order.cents + random.randint(1, 900)


def taken_back(header="new"):
    """Cancelled in small letters or in capitals, one of them cancelled first and then sent after all."""
    tale = quiet(random.choice(OLD_WEEKS if header == "old" else NEW_WEEKS), header=header)
    for day in (0, 2, 5):
        tale.order(day, status="cancelled", note="changed my mind")
    sent = tale.order(4, status="cancelled")
    tale.again(sent, sent.file.split()[0], status="shipped")
    return tale


def big_amounts():
    tale = quiet()
    for day in range(3):
        tale.order(day, cents=random.randint(100_000, 899_999))
    tale.order(3, cents=random.randint(100_000_000, 199_999_999))
    for cents in (1, 9, 110, 2900, 1_015, 1_990):
        tale.order(random.randint(0, 6), cents=cents)
    return tale


def old_header():
    """The wall's clock needs no zone: what is near midnight stays where it is."""
    tale = quiet(random.choice(OLD_WEEKS), header="old", zone=random.choice(("Europe/Berlin", "Europe/Madrid")))
    for day in range(7):
        tale.order(day, hour=random.choice((0, 23)))
    return tale


def near_midnight(week, zone="Europe/Berlin"):
    tale = quiet(week, zone=zone)
    for day in (-1, 0, 3, 5, 6, 7):
        tale.order(day, hour=0, minute=random.randint(0, 25))
        tale.order(day, hour=23, minute=random.randint(35, 59))
    return tale


def clocks(month, zone="Europe/Berlin"):
    """The day of the clock change and those beside it: what comes in near midnight, and around the change."""
    tale = near_midnight(clock_week(month), zone)
    at = change(2026, month)
    for minutes in (-70, -10, 10, 70):
        moment = at + timedelta(minutes=minutes)
        if local(zone, moment).date() != tale.shop.day(6):
            continue
        made = tale.order(6, hour=12)
        tale.shop.orders[-1] = type(made)(made.number, moment, made.cents, "paid", "", made.file)
    return tale


def turn_of_the_year(week):
    return near_midnight(week)


def orders_and_sales():
    years = random.sample(("2026-W01", "2026-W53", "2027-W01", "2027-W24", "2028-W01", "2029-W01"), 3) + ["2027-W38"]
    cases = [
        ("line breaks in notes", line_breaks),
        ("odd notes and other columns", odd_notes),
        ("without the mark", lambda: quiet(has_mark=False, line_end="\n")),
        ("another header in one week", in_the_middle),
        ("exported again", exported_again),
        ("cancelled", lambda: taken_back("old")),
        ("cancelled, in capitals", taken_back),
        ("amounts", big_amounts),
        ("the old header", old_header),
        ("in spring", lambda: clocks(3)),
        ("in autumn", lambda: clocks(10)),
        ("in summer", lambda: near_midnight("2026-W31")),
        *((f"week {week}", lambda week=week: turn_of_the_year(week)) for week in years),
        ("elsewhere", lambda: clocks(random.choice((3, 10)), random.choice(OUTSIDE))),
    ]
    return [table_case(name, tell, "orders", "sales") for name, tell in cases]


# -- visits and conversion


def visited(zone="Europe/Berlin", week=None, more=()):
    tale = quiet(week, zone=zone)
    for day in range(-1, 8):
        for hour in random.sample((0, 1, 22, 23), 3):
            if (day, hour) != (6, 1):
                tale.visit(day, hour)
    return tale


def whole_day(month, zone="Europe/Berlin"):
    """All hours of the Sunday on which the clocks change, and some on either side."""
    tale = quiet(clock_week(month), zone=zone)
    tale.shop.visits = [hour for hour in tale.shop.visits if local(zone, hour.at).date() != tale.shop.day(6)]
    at = utc_of(zone, tale.shop.day(6)) - 3 * HOUR
    for number in range(31):
        tale.visit_at(at + number * HOUR, random.randint(1, 60))
    return tale


def nobody():
    """Days on which nobody came, of which one has an order all the same; and a day of two hours with nobody."""
    tale = quiet()
    for day in (1, 4):
        tale.shop.visits = [hour for hour in tale.shop.visits if local(tale.shop.zone, hour.at).date() != tale.shop.day(day)]
    tale.order(4)
    tale.visit_at(utc_of(tale.shop.zone, tale.shop.day(1), 10), 0)
    return tale


def uneven():
    """The conversion of the week is not the mean of those of its days."""
    tale = quiet()
    for day, (orders, visits) in enumerate(((9, 20), (0, 900), (1, 3), (7, 410), (2, 0), (3, 77), (1, 1200))):
        for _ in range(orders):
            tale.order(day)
        tale.visit(day, 11, visits)
    return tale


def trapped(zone="Europe/Berlin"):
    """What this episode's exports have besides: much of it."""
    tale = visited(zone)
    day = random.randint(0, 6)
    for hour in range(9, 18):
        tale.visit(day, hour, random.randint(60, 90))
    return tale


def visits_and_conversion():
    cases = [
        ("visits", visited),
        ("the trap", trapped),
        ("the trap again", trapped),
        ("in spring", lambda: whole_day(3)),
        ("in autumn", lambda: whole_day(10)),
        ("elsewhere", lambda: visited(random.choice(OUTSIDE), "2026-W31")),
        ("elsewhere in autumn", lambda: whole_day(10, random.choice(OUTSIDE))),
        ("nobody", nobody),
        ("not the mean", uneven),
        ("at the turn of the year", lambda: visited(week="2027-W01")),
    ]
    return [table_case(name, tell, "visits", "conversion") for name, tell in cases]


