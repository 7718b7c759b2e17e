"""The first page's figures and the reports: of each workshop its own."""

import csv
import io
import time

from served import PATIENCE, Wrong, clean, expect
from world import MONTHS

PAUSE = 0.02


# -- the first page


def _look(scene, shop, month, person=None):
    person = person or scene.owner(shop)
    seen = person.json(f"/dashboard.json?month={month}")
    wanted = shop.figures(month)
    expect(f"/dashboard.json?month={month}", wanted, {name: seen.get(name) for name in wanted})


def _in_turn(first, second):
    def case(scene):
        month = scene.random.choice(MONTHS)
        for place in (first, second, first):
            _look(scene, scene.shops[place], month)

    case.__name__ = f"figures_{first}_{second}"
    return case


def figures_of_all(scene):
    for month in scene.random.sample(MONTHS, 3):
        for shop in scene.random.sample(scene.shops, 3):
            _look(scene, shop, month)
            _look(scene, shop, month)


def figures_for_mechanics(scene):
    month = scene.random.choice(MONTHS)
    for shop in scene.shops:
        _look(scene, shop, month, scene.mechanic(shop))


def figures_of_a_quiet_month(scene):
    month = f"2039-{scene.random.randrange(1, 13):02d}"
    for shop in scene.shops:
        _look(scene, shop, month)


def figures_on_the_page(scene):
    month = scene.random.choice(MONTHS)
    for shop in scene.shops:
        answer = scene.owner(shop).fine("GET", f"/?month={month}")
        clean(answer, scene.tags(shop), f"/?month={month}")
        wanted = shop.figures(month)
        cents = wanted["revenue"]
        for text in (f"{cents // 100}.{cents % 100:02d}", *wanted["top"], *wanted["low"]):
            if text not in answer.text:
                raise Wrong(f"/?month={month}: expected {text}, saw {answer.text[-700:]!r}")


def figures_after_a_change(scene):
    """They are fresh for whoever has changed something, and the others' are their own."""
    mine, theirs = scene.pair()
    month = scene.random.choice(MONTHS)
    for shop in (mine, theirs, mine):
        _look(scene, shop, month)
    job = mine.take("job")
    scene.program(mine).fine("PATCH", f"/api/v2/jobs/{job['id']}", data={"status": "cancelled"})
    job["status"] = "cancelled"
    for shop in (mine, theirs, mine):
        _look(scene, shop, month)


def figures_after_a_payment(scene):
    mine, theirs = scene.pair()
    month = scene.random.choice(MONTHS)
    for shop in (theirs, mine):
        _look(scene, shop, month)
    invoice = mine.take("invoice")
    scene.owner(mine).fine("POST", f"/invoices/{invoice['id']}/pay", form={"day": "2033-01-02"})
    invoice["paid_on"] = "2033-01-02"
    for shop in (mine, theirs):
        _look(scene, shop, month)


CACHE = (
    *(_in_turn(0, 1), _in_turn(1, 2), _in_turn(2, 0), figures_of_all, figures_for_mechanics),
    *(figures_of_a_quiet_month, figures_on_the_page, figures_after_a_change, figures_after_a_payment),
)


# -- reports


def _report(scene, shop, kind, month):
    """The rows of a report that has been asked for, and where it was."""
    owner = scene.owner(shop)
    answer = owner.fine("POST", "/reports", form={"kind": kind, "month": month})
    number = answer.data.get("id") if isinstance(answer.data, dict) else None
    if not isinstance(number, int):
        raise Wrong(f"POST /reports: expected an id, saw {answer}")
    until = time.monotonic() + PATIENCE
    while (state := owner.json(f"/reports/{number}.json").get("state")) == "waiting" and time.monotonic() < until:
        time.sleep(PAUSE)
    if state != "done":
        raise Wrong(f"/reports/{number}.json: expected it to be done, saw {state!r}")
    content = owner.fine("GET", f"/reports/{number}/download")
    clean(content, scene.tags(shop), f"the {kind} report of {month}")
    rows = list(csv.reader(io.StringIO(content.text)))[1:]
    expect(f"the {kind} report of {month}", shop.report(kind, month), sorted(rows))
    return number


def _of_two(kind, first, second):
    def case(scene):
        month = scene.random.choice(MONTHS)
        for place in (first, second, first):
            _report(scene, scene.shops[place], kind, month)

    case.__name__ = f"{kind}_{first}_{second}"
    return case


def reports_of_all(scene):
    for kind in ("revenue", "mechanics"):
        month = scene.random.choice(MONTHS)
        for shop in scene.random.sample(scene.shops, 3):
            _report(scene, shop, kind, month)


def reports_of_others(scene):
    """Nobody fetches another's report, and one asked for in the meantime is one's own."""
    mine, theirs = scene.pair()
    month = scene.random.choice(MONTHS)
    number = _report(scene, theirs, "revenue", month)
    for path in (f"/reports/{number}/download", f"/reports/{number}.json"):
        scene.owner(mine).refused("GET", path, scene.tags(mine))
    _report(scene, mine, "revenue", month)


def reports_of_a_quiet_month(scene):
    month = f"2039-{scene.random.randrange(1, 13):02d}"
    for shop in scene.random.sample(scene.shops, 3):
        _report(scene, shop, "parts", month)


REPORT = (
    *(_of_two("revenue", 0, 1), _of_two("revenue", 2, 1), _of_two("mechanics", 1, 0), _of_two("mechanics", 2, 0)),
    *(_of_two("parts", 1, 2), reports_of_all, reports_of_others, reports_of_a_quiet_month),
)
