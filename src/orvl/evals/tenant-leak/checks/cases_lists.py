"""Exports and the search: of each workshop its own rows, and all of them."""

import csv
import io

from served import Wrong, clean, expect


# -- exports


def _table(scene, shop, path):
    answer = scene.owner(shop).fine("GET", path)
    clean(answer, scene.tags(shop), path)
    return list(csv.DictReader(io.StringIO(answer.text)))


def _cells(rows, names):
    found = []
    for row in rows:
        found.append(tuple(_plain(row.get(name)) for name in names))
    return sorted(found)


def _plain(cell):
    """Prices as numbers, as spreadsheets take them."""
    text = "" if cell is None else str(cell)
    try:
        return f"{float(text):.2f}" if "." in text else text
    except ValueError:
        return text


def _jobs(first="0000", last="9999"):
    def case(scene, shop):
        query = f"?from={first}&to={last}" if first != "0000" else ""
        rows = []
        for job in shop.jobs:
            if first <= job["opened_on"] <= last:
                customer = shop.customer_of(job["customer_number"]) or {}
                plate = next(row["plate"] for row in shop.vehicles if row["id"] == job["vehicle_id"])
                price = f"{job['price'] / 100:.2f}"
                rows.append({**job, "price": price, "customer": customer.get("name"), "email": customer.get("email"), "plate": plate})
        names = ("id", "title", "status", "price", "opened_on", "customer_number", "customer", "email", "plate")
        seen = _table(scene, shop, f"/exports/jobs.csv{query}")
        expect(f"/exports/jobs.csv{query}", _cells(rows, names), _cells(seen, names))

    return case


def _customers(scene, shop):
    rows = []
    for customer in shop.customers:
        own = [job for job in shop.jobs if job["customer_number"] == customer["number"]]
        count = sum(job["status"] in ("open", "waiting") for job in own)
        last = max((job["opened_on"] for job in own), default="")
        rows.append({**customer, "phone": customer["phone"], "open_jobs": count, "last_job": last})
    names = ("number", "name", "email", "phone", "open_jobs", "last_job")
    expect("/exports/customers.csv", _cells(rows, names), _cells(_table(scene, shop, "/exports/customers.csv"), names))


def _of(place, look, name):
    def case(scene):
        look(scene, scene.shops[place])

    case.__name__ = name
    return case


EXPORT = (
    *(_of(place, _jobs(), f"jobs_{place}") for place in range(3)),
    *(_of(place, _jobs("2031-03-05", "2031-10-20"), f"some_jobs_{place}") for place in range(3)),
    *(_of(place, _customers, f"customers_{place}") for place in range(3)),
)


def invoices_csv(scene):
    """Was right all the time."""
    for shop in scene.shops:
        names = {row["id"]: row for row in shop.customers}
        rows = []
        for invoice in shop.invoices:
            customer = names[invoice["customer_id"]]
            total = f"{shop.total(invoice) / 100:.2f}"
            row = {"customer_number": customer["number"], "customer": customer["name"], "total": total}
            rows.append({**row, "number": invoice["number"], "issued_on": invoice["issued_on"]})
        columns = ("number", "customer_number", "customer", "issued_on", "total")
        seen = _table(scene, shop, "/exports/invoices.csv")
        expect("/exports/invoices.csv", _cells(rows, columns), _cells(seen, columns))


# -- search


def _found(scene, shop, query, person=None):
    person = person or scene.owner(shop)
    answer = person.fine("GET", f"/search.json?q={query.replace(' ', '+')}")
    results = answer.data.get("results") if isinstance(answer.data, dict) else None
    if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
        raise Wrong(f"/search.json for {query}: expected results, saw {answer}")
    return sorted((str(one.get("kind")), one.get("id"), str(one.get("title"))) for one in results)


def _only_own(scene, shop, query, wanted, person=None):
    seen = _found(scene, shop, query, person)
    expect(f"results for {query}", sorted(wanted), [one[:2] for one in seen])
    for kind, one, title in seen:
        if shop.tag not in title.lower() and kind != "invoice":
            raise Wrong(f"results for {query}: expected the title of {kind} {one}, saw {title}")


def _elsewhere(scene, theirs, query):
    """Nobody else finds it."""
    for shop in scene.others(theirs):
        expect(f"results for {query}, which is another's", [], _found(scene, shop, query))


def plates(scene):
    for shop in scene.shops:
        vehicle = shop.take("vehicle")
        _elsewhere(scene, shop, vehicle["plate"])
        _only_own(scene, shop, vehicle["plate"], [("vehicle", vehicle["id"])])


def plates_in_a_hurry(scene):
    for shop in scene.shops[:2]:
        vehicle = shop.take("vehicle")
        typed = vehicle["plate"].lower().replace("-", "").replace(" ", "")
        _elsewhere(scene, shop, typed)
        _only_own(scene, shop, typed, [("vehicle", vehicle["id"])], scene.mechanic(shop))


def phones(scene):
    for shop in scene.shops[:2]:
        customer = scene.random.choice(shop.customers)
        _elsewhere(scene, shop, customer["phone"])
        _only_own(scene, shop, customer["phone"], [("customer", customer["id"])])


def addresses(scene):
    """`anna42@…`, with a digit in it."""
    for shop in scene.shops[1:]:
        customer = scene.random.choice(shop.customers)
        _elsewhere(scene, shop, customer["email"])
        _only_own(scene, shop, customer["email"], [("customer", customer["id"])])


def customers_numbers(scene):
    for shop in scene.shops:
        number = shop.customers[0]["number"]
        jobs = [("job", job["id"]) for job in shop.jobs if job["customer_number"] == number]
        wanted = sorted([("customer", shop.customers[0]["id"]), *jobs])
        _only_own(scene, shop, number, wanted[:50])


def invoices_numbers(scene):
    for shop in scene.shops:
        for invoice in scene.random.sample(shop.invoices[:20], 2):
            _only_own(scene, shop, invoice["number"], [("invoice", invoice["id"])])


def invoices_of_others(scene):
    for shop in scene.shops:
        invoice = shop.invoices[-1]
        _elsewhere(scene, shop, invoice["number"])
        _only_own(scene, shop, invoice["number"], [("invoice", invoice["id"])])


def parts_of_plates(scene):
    """The digits alone are a word of their own."""
    for shop in scene.shops[:2]:
        vehicle = shop.take("vehicle")
        digits = vehicle["plate"].split()[-1]
        _elsewhere(scene, shop, digits)
        _only_own(scene, shop, digits, [("vehicle", vehicle["id"])])


def page(scene):
    for shop in scene.shops:
        vehicle = shop.take("vehicle")
        query = f"/search?q={vehicle['plate'].replace(' ', '+')}"
        for other in scene.others(shop):
            answer = scene.owner(other).fine("GET", query)
            clean(answer, scene.tags(other), query)
        if shop.tag not in scene.owner(shop).fine("GET", query).text:
            raise Wrong(f"{query}: expected {vehicle['plate']} to be found")


SEARCH = (
    *(plates, plates_in_a_hurry, phones, addresses, customers_numbers, invoices_numbers, invoices_of_others),
    *(parts_of_plates, page),
)


def words(scene):
    """Was right all the time: words, by their beginnings."""
    for shop in scene.shops:
        job = scene.random.choice(shop.fresh_jobs)
        _, tag, word = job["title"].split()
        _only_own(scene, shop, f"{word} job", [("job", job["id"])])
        _only_own(scene, shop, f"{tag[:5]} {word[:6]}", [("job", job["id"])])
        _elsewhere(scene, shop, word)
