"""What people could do before, they still can; and what nobody could do then, nobody can now."""

import hashlib
import hmac
import json

from orvl import checks

import cases_calls
import cases_doors
import cases_figures
import cases_lists
from served import Wrong, expect, log_in

KINDS = {
    "lists": {"export": cases_lists.EXPORT, "search": cases_lists.SEARCH},
    "figures": {"cache": cases_figures.CACHE, "report": cases_figures.REPORT},
    "calls": {"batch": cases_calls.BATCH, "v1": cases_calls.V1},
    "doors": {"files": cases_doors.FILES, "reset": cases_doors.RESET},
}


def present(drawn, key):
    """The cases of the leak that this episode has."""
    return KINDS[key][drawn[key]]


def absent(drawn):
    """The cases of each leak that this episode does not have."""
    return [case for key, kinds in KINDS.items() for name, cases in kinds.items() if name != drawn[key] for case in cases]


def customers(scene):
    shop, text = scene.random.choice(scene.shops), "phone"
    owner, name = scene.owner(shop), shop.text("customer")
    answer = owner.fine("POST", "/customers", form={"name": name, "phone": "040 1"})
    path = answer.header("Location") or ""
    owner.fine("POST", path, form={"name": name, text: "040 2"})
    owner.fine("POST", f"{path}/vehicles", form={"plate": "OD-X 99", "model": shop.text("model")})
    page = owner.fine("GET", path).text
    if name not in page or "040 2" not in page or "OD-X 99" not in page:
        raise Wrong(f"{path}: expected {name} with a phone and a vehicle")
    if name not in str(scene.program(shop).json("/api/v2/customers")):
        raise Wrong(f"/api/v2/customers: expected {name}")


def jobs_and_invoices(scene):
    shop = scene.random.choice(scene.shops)
    owner, title = scene.owner(shop), shop.text("job")
    form = {"customer_number": shop.customers[0]["number"], "title": title, "price": "1250"}
    path = owner.fine("POST", "/jobs", form=form).header("Location") or ""
    owner.fine("POST", f"{path}/mechanic", form={"mechanic_id": shop.mechanic["id"]})
    owner.fine("POST", f"{path}/status", form={"status": "done"})
    invoice = owner.fine("POST", "/invoices", form={"job_id": path.rpartition("/")[2]}).header("Location") or ""
    text = owner.fine("GET", f"{invoice}/print").text
    if "12.50" not in text or shop.customers[0]["name"] not in text:
        raise Wrong(f"{invoice}/print: expected 12.50 for {shop.customers[0]['name']}, saw {text!r}")


def others_jobs(scene):
    """Was right all the time."""
    for mine, theirs in (scene.pair(), scene.pair()):
        own, other = mine.take("job"), theirs.take("job")
        scene.mechanic(mine).refused("GET", f"/jobs/{other['id']}", scene.tags(mine))
        scene.program(mine).refused("GET", f"/api/v2/jobs/{other['id']}", scene.tags(mine))
        scene.owner(mine).refused("POST", f"/jobs/{other['id']}/status", scene.tags(mine), form={"status": "done"})
        expect("status", other["status"], scene.job(theirs, other)["status"])
        if own["title"] not in scene.mechanic(mine).fine("GET", f"/jobs/{own['id']}").text:
            raise Wrong(f"/jobs/{own['id']}: expected {own['title']}")


def parts(scene):
    shop = scene.random.choice(scene.shops)
    sku, stock = shop.parts[4]["sku"], shop.parts[4]["stock"]
    scene.mechanic(shop).fine("POST", f"/parts/{sku}/book", form={"change": "3"})
    scene.mechanic(shop).fine("POST", f"/parts/{sku}/book", form={"change": "-1"})
    expect("far too many", 409, scene.mechanic(shop).post(f"/parts/{sku}/book", {"change": "-999"}).status)
    seen = {row["sku"]: row["stock"] for row in scene.program(shop).json("/api/v2/parts")["parts"]}
    expect("stock", stock + 2, seen[sku])


def payments(scene):
    """Each workshop's provider settles its own invoice of that number."""
    for shop in scene.shops:
        invoice = shop.take("invoice")
        body = json.dumps({"event": shop.word(), "invoice": invoice["number"], "day": "2033-05-06"}).encode()
        path = f"/hooks/payments/{shop.row['slug']}"
        for secret, status in ((scene.others(shop)[0].row["payment_secret"], 401), (shop.row["payment_secret"], 200)):
            signed = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            seen = scene.nobody().ask("POST", path, body=body, headers=[("X-Signature", signed)]).status
            expect(f"POST {path}", status, seen)
        expect("paid_on", "2033-05-06", scene.invoice(shop, invoice)["paid_on"])


def links_for_customers(scene):
    shop = scene.random.choice(scene.shops)
    job = shop.take("job")
    if job["title"] not in scene.nobody().fine("GET", f"/status/{job['share']}").text:
        raise Wrong(f"/status/…: expected {job['title']}")
    answer = scene.owner(shop).fine("POST", f"/jobs/{job['id']}/share", form={})
    token = str((answer.data or {}).get("link", "")).rpartition("/")[2]
    expect("the old link", 404, scene.nobody().get(f"/status/{job['share']}").status)
    if job["title"] not in scene.nobody().fine("GET", f"/status/{token}").text:
        raise Wrong(f"/status/…: expected {job['title']} by the new link")


def teams(scene):
    shop = scene.random.choice(scene.shops)
    owner, email = scene.owner(shop), f"{shop.word()}@{shop.tag}.example"
    expect("mechanics invite", 403, scene.mechanic(shop).post("/settings/users", {"email": email}).status)
    owner.fine("POST", "/settings/users", form={"email": email, "name": shop.text("new"), "role": "mechanic"})
    if not any("/reset?token=" in text for text in scene.server.mails_to(email)):
        raise Wrong(f"expected a mail with a link to {email}")
    made = owner.fine("POST", "/settings/tokens", form={"name": shop.word()}).data
    token = str((made or {}).get("token"))
    seen = scene.server.ask("GET", "/api/v2/parts", [("Authorization", f"Bearer {token}")])
    expect("/api/v2/parts with the new token", 200, seen.status)


def sessions(scene):
    shop = scene.random.choice(scene.shops)
    person = scene.new_session(shop.team[3])
    person.fine("GET", "/jobs")
    person.post("/logout")
    expect("/dashboard.json after logging out", 401, person.get("/dashboard.json").status)
    expect("a wrong password", None, log_in(scene.server, shop.owner["email"], shop.mechanic["password"]))
    expect("/api/v2/jobs without a token", 401, scene.nobody().get("/api/v2/jobs").status)


def owners_only(scene):
    shop = scene.random.choice(scene.shops)
    for path in ("/exports/jobs.csv", "/reports", "/settings", "/settings/audit"):
        expect(f"a mechanic at {path}", 403, scene.mechanic(shop).get(path).status)
        scene.owner(shop).fine("GET", path)


def commands(scene):
    """The command line."""
    shop = scene.random.choice(scene.shops)
    job = shop.take("job")
    scene.owner(shop).fine("POST", f"/jobs/{job['id']}/status", form={"status": "done"})
    scene.server.stop()

    def manage(*words):
        ended = checks.run("python3", "manage.py", "--data", scene.server.folder, *words, seconds=30)
        expect(f"the status of manage.py {words[0]}", 0, ended.status)
        return ended.stdout

    try:
        manage("reindex")
        rows = [json.loads(line) for line in manage("audit", shop.row["slug"]).splitlines()]
    finally:
        scene.server.start()
    title = job["title"].split()[2]
    if job["title"] not in str(scene.owner(shop).json(f"/search.json?q={title}")):
        raise Wrong(f"/search.json: expected {job['title']} after reindex")
    if ("job.status", f"{job['id']} done") not in [(row.get("action"), row.get("detail")) for row in rows]:
        raise Wrong(f"manage.py audit: expected the job's status, saw {rows[:3]}")


FLOWS = (
    *(customers, jobs_and_invoices, others_jobs, parts, payments, links_for_customers, teams, sessions, owners_only),
    commands,
)


def kept(drawn):
    """Those that look at everything come before those that change something."""
    return (cases_lists.invoices_csv, cases_lists.words, *absent(drawn), *FLOWS)
