"""Bars in proportion to the numbers, the zero line, the goal, and what the charts are called."""

from orvl import checks

from build import built
from cases import Wrong, expect
from cases_tables import quiet, random

IN_A_HUNDRED = 1.6
"""So many hundredths of the highest bar may be lost by rounding to whole units."""
STORED_GOAL = 100 * int(checks.drawn()["goal"])


def heights(made, name, values):
    """Checks the bars of a chart; the zero line and the units that one of a value takes."""
    bars = made.page.bars(name)
    top = max(range(7), key=lambda at: abs(values[at]))
    highest = bars[top][3]
    if not values[top]:
        expect(f"heights of a week of nothing in {name}", [0.0] * 7, [bar[3] for bar in bars])
        return None, 0.0
    if highest <= 0:
        raise Wrong(f"the highest bar of {name} has the height {highest}")
    scale, slack = highest / abs(values[top]), highest * IN_A_HUNDRED / 100
    zero = zero_line(bars, values, top)
    for at, (value, (_, y, width, height)) in enumerate(zip(values, bars)):
        wanted = abs(value) * scale
        if abs(height - wanted) > slack or (value == 0 and height != 0):
            raise Wrong(f"bar {at + 1} of {name} for {value}: expected a height of {wanted:.2f}, saw {height}")
        end = y + height if value > 0 else y
        if value and abs(end - zero) > slack:
            raise Wrong(f"bar {at + 1} of {name} for {value}: expected it to begin at {zero:.2f}, saw {end:.2f}")
        if width <= 0:
            raise Wrong(f"bar {at + 1} of {name} has no width")
    expect_side_by_side(name, bars)
    return zero, scale


def zero_line(bars, values, top):
    _, y, _, height = bars[top]
    return y + height if values[top] > 0 else y


def expect_side_by_side(name, bars):
    for one, other in zip(bars, bars[1:]):
        if other[0] < one[0] + one[2] - 0.01:
            raise Wrong(f"bars of {name} are not side by side")


def net_of(tale):
    return [day.net for day in tale.shop.figures()]


def visits_of(tale):
    return [day.visits for day in tale.shop.figures()]


def below_zero(*days):
    def tell():
        tale = quiet()
        for day in days:
            order = tale.order(day, hour=9)
            tale.refund(order, day, cents=order.cents + tale.shop.figures()[day].sales + random.randint(2_000, 30_000))
        return tale

    return tell


def of_very_different_days():
    tale = quiet()
    tale.order(random.randint(0, 6), cents=random.randint(300_000, 700_000))
    tale.visit(random.randint(0, 6), 12, random.randint(4_000, 9_000))
    return tale


def of_nothing():
    tale = quiet()
    tale.shop.orders.clear()
    tale.shop.refunds.clear()
    tale.shop.visits.clear()
    return tale


def bars_case(name, tell, chart="net"):
    tale = tell()
    made = built(tale)
    return f"{name}, {chart}", lambda: heights(made, chart, net_of(tale) if chart == "net" else visits_of(tale))


def nothing_case():
    """Credited only beside a week in which something happened."""
    weeks = [(tale, built(tale)) for tale in (quiet(), of_nothing())]

    def case():
        for tale, made in weeks:
            heights(made, "net", net_of(tale))
            heights(made, "visits", visits_of(tale))

    return "nothing", case


def goal_case(name, tell, goal=None):
    tale = tell()
    cents = STORED_GOAL if goal is None else round(goal * 100)
    made = built(tale, *(() if goal is None else ("--goal", f"{goal:.10g}")))

    def case():
        zero, scale = heights(made, "net", net_of(tale))
        one, other = made.page.goal()
        wanted = zero - cents * scale
        slack = max(cents, *map(abs, net_of(tale))) * scale * IN_A_HUNDRED / 100
        if one != other or abs(one - wanted) > slack:
            raise Wrong(f"the goal of {cents / 100}: expected a level line at {wanted:.2f}, saw {one} and {other}")

    return f"goal, {name}", case


def bars_and_goal():
    return [
        bars_case("quiet", quiet),
        bars_case("quiet", quiet, "visits"),
        bars_case("very different", of_very_different_days),
        bars_case("very different", of_very_different_days, "visits"),
        bars_case("a day below zero", below_zero(random.randint(0, 6))),
        bars_case("days below zero", below_zero(*random.sample(range(7), 3))),
        bars_case("all below zero", below_zero(*range(7))),
        nothing_case(),
        goal_case("of the house", quiet),
        goal_case("below the bars", of_very_different_days, random.randint(50, 190)),
        goal_case("above all bars", quiet, random.randint(2_000, 4_000)),
        goal_case("with days below zero", below_zero(1, 4), random.randint(100, 500) + 0.5),
    ]
