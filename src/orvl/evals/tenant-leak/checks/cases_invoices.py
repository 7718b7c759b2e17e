"""Nobody sees or changes another workshop's invoice, and all can do with their own what they could."""

from served import clean, expect, same, Wrong
from world import shown


def printed(scene):
    mine, theirs = scene.pair()
    _print(scene, scene.owner(mine), mine, theirs)
    _print(scene, scene.owner(theirs), theirs, mine)


def printed_by_mechanic(scene):
    mine, theirs = scene.pair()
    _print(scene, scene.mechanic(mine), mine, theirs)
    _print(scene, scene.mechanic(theirs), theirs, mine)


def _print(scene, person, mine, theirs):
    person.refused("GET", f"/invoices/{theirs.take('invoice')['id']}/print", scene.tags(mine))
    person.refused("GET", f"/invoices/{theirs.take('invoice')['id']}", scene.tags(mine))
    own = mine.take("invoice")
    text = person.fine("GET", f"/invoices/{own['id']}/print").text
    if own["number"] not in text or shown(mine.total(own)) not in text or mine.tag not in text:
        raise Wrong(f"/invoices/{own['id']}/print: expected the own invoice, saw {text!r}")
    page = person.fine("GET", f"/invoices/{own['id']}")
    if own["number"] not in page.text or mine.tag not in page.text:
        raise Wrong(f"/invoices/{own['id']}: expected the own invoice, saw {page}")


def paid(scene):
    mine, theirs = scene.pair()
    person, day = scene.owner(mine), f"2033-02-{scene.random.randrange(10, 28)}"
    other, own = theirs.take("invoice"), mine.take("invoice")
    _hidden(scene, person, mine, theirs, other, "pay", {"day": day})
    person.fine("POST", f"/invoices/{own['id']}/pay", form={"day": day})
    expect("paid_on", day, scene.invoice(mine, own)["paid_on"])
    scene.mechanic(theirs).fine("POST", f"/invoices/{other['id']}/pay", form={"day": day})
    expect("paid_on", day, scene.invoice(theirs, other)["paid_on"])


def noted(scene):
    mine, theirs = scene.pair()
    person, note = scene.mechanic(mine), mine.text("about it")
    other, own = theirs.take("invoice"), mine.take("invoice")
    _hidden(scene, person, mine, theirs, other, "note", {"note": note})
    person.fine("POST", f"/invoices/{own['id']}/note", form={"note": note})
    expect("note", note, scene.invoice(mine, own)["note"])


def _hidden(scene, person, mine, theirs, other, action, form):
    """Another's invoice stays as it is."""
    tags = scene.tags(mine)
    path = f"/invoices/{other['id']}/{action}"
    same(
        f"{path} by another workshop",
        lambda: scene.invoice(theirs, other),
        lambda: person.refused("POST", path, tags, form=form),
    )


def reminded(scene):
    mine, theirs = scene.pair()
    person = scene.owner(mine)
    other, own = theirs.take("invoice"), mine.take("invoice")
    customer = next(row for row in theirs.customers if row["id"] == other["customer_id"])
    mails = len(scene.server.mails_to(customer["email"]))
    _hidden(scene, person, mine, theirs, other, "remind", {})
    expect("mails to another's customer", mails, len(scene.server.mails_to(customer["email"])))
    person.fine("POST", f"/invoices/{own['id']}/remind", form={})
    expect("reminders", 1, scene.invoice(mine, own)["reminders"])


def reminded_by_link(scene):
    mine, theirs = scene.pair()
    person = scene.mechanic(mine)
    other, own = theirs.take("invoice"), mine.take("invoice")
    path = f"/invoices/{other['id']}/remind"
    tags = scene.tags(mine)
    same(path, lambda: scene.invoice(theirs, other), lambda: person.refused("GET", path, tags))
    person.fine("GET", f"/invoices/{own['id']}/remind")
    expect("reminders", 1, scene.invoice(mine, own)["reminders"])
    customer = next(row for row in mine.customers if row["id"] == own["customer_id"])
    if not any(own["number"] in text for text in scene.server.mails_to(customer["email"])):
        raise Wrong(f"expected mail about {own['number']}")


def credited(scene):
    mine, theirs = scene.pair()
    person = scene.owner(mine)
    other, own = theirs.take("invoice"), mine.take("invoice")

    def look():
        return scene.program(theirs).json("/api/v2/invoices")

    path, tags = f"/invoices/{other['id']}/credit", scene.tags(mine)
    same(path, look, lambda: person.refused("POST", path, tags))
    answer = person.fine("POST", f"/invoices/{own['id']}/credit")
    found = scene.program(mine).json("/api/v2/invoices")["invoices"]
    if not any(row["total"] == -mine.total(own) for row in found):
        raise Wrong(f"expected a credit note over {-mine.total(own)}, saw {answer}")


def read_by_program(scene):
    for mine, theirs in (scene.pair(), scene.pair()):
        program, other, own = scene.program(mine), theirs.take("invoice"), mine.take("invoice")
        program.refused("GET", f"/api/v2/invoices/{other['id']}", scene.tags(mine))
        seen = scene.invoice(mine, own)
        expect("total", mine.total(own), seen.get("total"))
        expect("number", own["number"], seen.get("number"))
        expect("lines", len(mine.lines_of(own)), len(seen.get("lines")))


def changed_by_program(scene):
    mine, theirs = scene.pair()
    program, note = scene.program(mine), mine.text("seen")
    other, own = theirs.take("invoice"), mine.take("invoice")
    path = f"/api/v2/invoices/{other['id']}"
    tags = scene.tags(mine)
    same(
        path,
        lambda: scene.invoice(theirs, other),
        lambda: program.refused("PATCH", path, tags, data={"note": note}),
    )
    expect("note", note, program.fine("PATCH", f"/api/v2/invoices/{own['id']}", data={"note": note}).data.get("note"))
    expect("note", note, scene.invoice(mine, own)["note"])


def scanned(scene):
    """The same number in each workshop is an invoice of its own in each."""
    for shop in scene.shops:
        own = shop.take("invoice")
        while own["number"] not in {row["number"] for row in scene.others(shop)[0].invoices}:
            own = shop.take("invoice")
        answer = scene.owner(shop).ask("GET", f"/invoices/number/{own['number']}")
        if answer.status in (301, 302, 303, 307, 308):
            if not (answer.header("Location") or "").endswith(f"/invoices/{own['id']}"):
                raise Wrong(f"/invoices/number/{own['number']}: expected the own one, saw {answer.headers}")
        elif shop.tag not in answer.text or not answer.is_fine:
            raise Wrong(f"/invoices/number/{own['number']}: expected the own invoice, saw {answer}")
        clean(answer, scene.tags(shop), "a number")


def scanned_elsewhere(scene):
    for mine, theirs in (scene.pair(), scene.pair()):
        number, own = theirs.invoices[-1]["number"], mine.invoices[-1]
        answer = scene.mechanic(mine).ask("GET", f"/invoices/number/{number}")
        expect(f"/invoices/number/{number}, which is another's", 404, answer.status)
        scene.mechanic(mine).fine("GET", f"/invoices/number/{own['number']}")


def as_if_unknown(scene):
    """Somebody else's is answered as what does not exist."""
    mine, theirs = scene.pair()
    other, own, unknown = theirs.take("invoice"), mine.take("invoice"), scene.world.new_id()
    person = scene.owner(mine)
    for path in ("/invoices/{}/print", "/invoices/{}", "/api/v2/invoices/{}"):
        who = scene.program(mine) if path.startswith("/api") else person
        seen = [who.get(path.format(one)).status for one in (other["id"], unknown, own["id"])]
        expect(f"statuses of {path} for another's, none, and the own", [404, 404, 200], seen)
    seen = [person.post(f"/invoices/{one}/note", {"note": "x"}).status for one in (other["id"], unknown)]
    expect("statuses of notes on another's and on none", [404, 404], seen)


INVOICES = (
    *(printed, printed_by_mechanic, paid, noted, reminded, reminded_by_link, credited),
    *(read_by_program, changed_by_program, scanned, scanned_elsewhere, as_if_unknown),
)
