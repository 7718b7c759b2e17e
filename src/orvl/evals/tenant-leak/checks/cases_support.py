"""Support: first outside of all workshops, then inside again, to look and not to touch, and each look is noted."""

import hashlib
import time
from datetime import UTC, datetime
from urllib.parse import unquote

from served import Somebody, Wrong, clean, expect, same
from world import MONTHS, shown

VIEW = "support.view"
PATIENCE, AFTERWARDS = 3.0, 0.1
"""Seconds until a look is noted; less once one was missing."""


def _enter(support, shop):
    return support.post(f"/support/enter/{shop.id}")


def _inside(scene, shop):
    support = scene.support()
    answer = _enter(support, shop)
    if not answer.is_fine:
        raise Wrong(f"/support/enter/{shop.id}: expected support to get in, saw {answer}")
    return support


# -- outside


def _stays_out(look):
    def case(scene):
        shop, support = scene.random.choice(scene.shops), scene.support()
        path, text = look(scene, shop)
        expect(f"/support/enter/{shop.id}", 403, _enter(support, shop).status)
        clean(support.get(path), [one.tag for one in scene.shops], f"support at {path}")
        listed = support.fine("GET", "/support")
        if not all(one.row["name"] in listed.text for one in scene.shops):
            raise Wrong(f"/support: expected the list of workshops, saw {listed}")
        seen = scene.owner(shop).fine("GET", path)
        if text not in seen.text:
            raise Wrong(f"{path}: expected {text} for the owner, saw {seen}")

    return case


def _first_page(scene, shop):
    month = scene.random.choice(MONTHS)
    return f"/?month={month}", shown(shop.figures(month)["revenue"])


def _figures(scene, shop):
    month = scene.random.choice(MONTHS)
    return f"/dashboard.json?month={month}", str(shop.figures(month)["revenue"])


def _customer(scene, shop):
    row = scene.random.choice(shop.customers)
    return f"/customers/{row['id']}", row["phone"]


def _customers(scene, shop):
    return "/customers", scene.random.choice(shop.customers)["name"]


def _job(scene, shop):
    row = scene.random.choice(shop.jobs)
    return f"/jobs/{row['id']}", row["title"]


def _jobs(scene, shop):
    return "/jobs", scene.random.choice(shop.jobs)["title"]


def _invoice(scene, shop):
    row = scene.random.choice(shop.invoices)
    return f"/invoices/{row['id']}", row["number"]


def _printed(scene, shop):
    row = scene.random.choice(shop.invoices)
    return f"/invoices/{row['id']}/print", shown(shop.total(row))


def _export(scene, shop):
    return "/exports/customers.csv", scene.random.choice(shop.customers)["phone"]


def _search(scene, shop):
    row = scene.random.choice(shop.vehicles)
    return f"/search.json?q={row['plate'].replace(' ', '+')}", row["plate"]


def _file(scene, shop):
    row = shop.take("file")
    return f"/files/{row['name']}".replace(" ", "%20"), row["content"]


def _files(scene, shop):
    return "/files.json", scene.random.choice(shop.files)["name"]


def _parts(scene, shop):
    return "/parts", scene.random.choice(shop.parts)["name"]


LOOKS = (
    *(_first_page, _figures, _customer, _customers, _job, _jobs, _invoice, _printed, _export, _search, _file, _files),
    _parts,
)


def _all_of(make):
    made = []
    for look in LOOKS:
        case = make(look)
        case.__name__ = look.__name__[1:]
        made.append(case)
    return made


def enter_before(scene):
    """Before the server was brought up to date, somebody of support had entered a workshop."""
    shop, token = scene.random.choice(scene.shops), scene.world.secret()
    scene.server.change_database(
        "INSERT INTO sessions (hash, user_id, workshop_id, created_at) VALUES (?, ?, ?, ?)",
        hashlib.sha256(token.encode()).hexdigest(),
        scene.world.support["id"],
        shop.id,
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    scene.entered = shop, Somebody(scene.server, "support, from before", [("Cookie", f"gb_session={token}")])


def was_inside(scene):
    """Sessions go on, but not in there."""
    shop, support = scene.entered
    for look in scene.random.sample(LOOKS[2:9], 3):
        path, text = look(scene, shop)
        clean(support.get(path), [one.tag for one in scene.shops], f"support, who had been in there before, at {path}")
        if text not in scene.owner(shop).fine("GET", path).text:
            raise Wrong(f"{path}: expected {text} for the owner")


OUTSIDE = (*_all_of(_stays_out)[:10], was_inside)


# -- inside, looking


def _plain(path):
    return unquote(path.partition("?")[0])


def _noted(scene, shop, path):
    """How often the audit log has it that support has looked at a path."""
    email = scene.world.support["email"]
    wanted = (email, VIEW, _plain(path))
    seen = [(e.get("actor"), e.get("action"), unquote(str(e.get("detail")))) for e in scene.audit(shop)]
    return seen.count(wanted)


def _looks(look):
    def case(scene):
        shop = scene.random.choice(scene.shops)
        support = _inside(scene, shop)
        path, text = look(scene, shop)
        before = _noted(scene, shop, path)
        times = scene.random.randrange(1, 4)
        for _ in range(times):
            answer = support.fine("GET", path)
            if text not in answer.text:
                raise Wrong(f"support at {path}: expected {text}, saw {answer}")
            clean(answer, scene.tags(shop), f"support at {path}")
        _expect_noted(scene, shop, path, before + times)

    return case


def _expect_noted(scene, shop, path, wanted):
    until = time.monotonic() + getattr(scene, "audit_patience", PATIENCE)
    while (seen := _noted(scene, shop, path)) < wanted and time.monotonic() < until:
        time.sleep(0.05)
    if seen < wanted:
        scene.audit_patience = AFTERWARDS
    expect(f"entries about {path}", wanted, seen)


def one_after_the_other(scene):
    """Each workshop's log has the looks at that workshop, and no others."""
    first, second = scene.pair()
    support = scene.support()
    for shop in (first, second, first):
        answer = _enter(support, shop)
        if not answer.is_fine:
            raise Wrong(f"/support/enter/{shop.id}: expected support to get in, saw {answer}")
        row = scene.random.choice(shop.fresh_jobs)
        counts = [_noted(scene, one, f"/jobs/{row['id']}") for one in (first, second)]
        if row["title"] not in support.fine("GET", f"/jobs/{row['id']}").text:
            raise Wrong(f"support at /jobs/{row['id']}: expected {row['title']}")
        counts[0 if shop is first else 1] += 1
        for one, count in zip((first, second), counts):
            _expect_noted(scene, one, f"/jobs/{row['id']}", count)


def leaves_again(scene):
    shop = scene.random.choice(scene.shops)
    support = _inside(scene, shop)
    support.fine("GET", "/jobs")
    support.fine("POST", "/support/leave", form={})
    before = scene.audit(shop)
    clean(support.get("/jobs"), [one.tag for one in scene.shops], "/jobs after leaving")
    expect("the audit log after leaving", before, scene.audit(shop))
    support.fine("GET", "/support")
    expect("looks of today", True, _noted(scene, shop, "/jobs") >= 1)


def owners_are_not_noted(scene):
    shop = scene.random.choice(scene.shops)
    support = _inside(scene, shop)
    row = shop.take("customer")
    path = f"/customers/{row['id']}"
    for person in (scene.owner(shop), scene.mechanic(shop), support, scene.owner(shop)):
        person.fine("GET", path)
    entries = [entry for entry in scene.audit(shop) if entry.get("action") == VIEW and entry.get("detail") == path]
    expect("who has looked", [scene.world.support["email"]], [entry.get("actor") for entry in entries])


def others_stay_out(scene):
    """Only support gets into other workshops."""
    mine, theirs = scene.pair()
    for person in (scene.new_session(mine.owner), scene.new_session(mine.mechanic)):
        person.refused("POST", f"/support/enter/{theirs.id}", scene.tags(mine), form={})
        clean(person.fine("GET", "/customers"), scene.tags(mine), "/customers")
    support = _inside(scene, theirs)
    before = _noted(scene, theirs, "/customers")
    if theirs.tag not in support.fine("GET", "/customers").text:
        raise Wrong("/customers: expected support to see them")
    _expect_noted(scene, theirs, "/customers", before + 1)


LOOKING = (*_all_of(_looks), one_after_the_other, leaves_again, owners_are_not_noted, others_stay_out)


# -- inside, touching


def _touches(name, wish, look, status=403):
    """Support is refused and nothing changes; the owner can do the very same."""

    def case(scene):
        shop = scene.random.choice(scene.shops)
        support = _inside(scene, shop)
        support.fine("GET", "/jobs")
        method, path, more = wish(scene, shop)

        def do():
            answer = support.ask(method, path, **more)
            if answer.status != status and (status or 200 <= answer.status < 300 or answer.status >= 500):
                raise Wrong(f"support {method} {path}: expected {status or 'a refusal'}, saw {answer}")

        same(f"{method} {path} by support", lambda: look(scene, shop), do)
        before = look(scene, shop)
        scene.owner(shop).fine(method, path, **more)
        if look(scene, shop) == before:
            raise Wrong(f"{method} {path}: expected the owner to be able to")

    case.__name__ = f"touches_{name}"
    return case


def _see(path):
    return lambda scene, shop: scene.program(shop).json(path)


def _done(scene, shop):
    return "POST", f"/jobs/{shop.take('job')['id']}/status", {"form": {"status": "done"}}


def _job_note(scene, shop):
    return "POST", f"/jobs/{shop.take('job')['id']}/note", {"form": {"note": shop.text("call")}}


def _new_job(scene, shop):
    form = {"customer_number": "K-1001", "title": shop.text("job"), "price": "100"}
    return "POST", "/jobs", {"form": form}


def _new_customer(scene, shop):
    return "POST", "/customers", {"form": {"name": shop.text("customer")}}


def _pay(scene, shop):
    return "POST", f"/invoices/{shop.take('invoice')['id']}/pay", {"form": {}}


def _remind(scene, shop):
    return "POST", f"/invoices/{shop.take('invoice')['id']}/remind", {"form": {}}


def _remind_by_link(scene, shop):
    return "GET", f"/invoices/{shop.take('invoice')['id']}/remind", {}


def _credit(scene, shop):
    return "POST", f"/invoices/{shop.take('invoice')['id']}/credit", {"form": {}}


def _book(scene, shop):
    return "POST", f"/parts/{shop.parts[3]['sku']}/book", {"form": {"change": "2"}}


def _write(scene, shop):
    return "PUT", f"/files/{shop.word()}.txt", {"body": shop.text("scan").encode()}


def _erase(scene, shop):
    return "DELETE", f"/files/{shop.take('file')['name']}".replace(" ", "%20"), {}


def _make_token(scene, shop):
    return "POST", "/settings/tokens", {"form": {"name": shop.word()}}


def _deactivate(scene, shop):
    return "POST", f"/settings/users/{shop.team[3]['id']}/active", {"form": {"active": "0"}}


def _own_files(scene, shop):
    return scene.files(shop)


def _settings(scene, shop):
    return scene.owner(shop).fine("GET", "/settings").text


TOUCHING = (
    _touches("a_status", _done, _see("/api/v2/jobs")),
    _touches("a_note", _job_note, _see("/api/v2/jobs")),
    _touches("jobs", _new_job, _see("/api/v2/jobs")),
    _touches("customers", _new_customer, _see("/api/v2/customers")),
    _touches("payment", _pay, _see("/api/v2/invoices")),
    _touches("reminders", _remind, _see("/api/v2/invoices")),
    _touches("reminders_by_link", _remind_by_link, _see("/api/v2/invoices")),
    _touches("credit", _credit, _see("/api/v2/invoices")),
    _touches("parts", _book, _see("/api/v2/parts")),
    _touches("new_files", _write, _own_files),
    _touches("files", _erase, _own_files),
    _touches("tokens", _make_token, _settings),
    _touches("colleagues", _deactivate, _settings),
)
