"""What docs/api.md promises, and what was so before anybody touched it."""

from datetime import datetime, timedelta, timezone

from cases import Wrong, expect
from scenes import Scene, cases_of


def goes_out(random):
    scene = Scene(random, "goes-out").do("start")
    word = scene.mail(key="k")
    scene.do("settle").do("ask", "shown", "GET", f"/mails/${word}")

    def look(seen):
        seen.expect_no_trouble()
        made = seen.expect_answer(word, 201, to=Scene.address(word), template="welcome", key="k", state="queued", attempts=0)
        seen.expect_answer("shown", 200, id=made.get("id"), state="sent", attempts=1)
        (one,) = seen.of(word) or [{}]
        wanted = {"path": "/messages", "to": Scene.address(word), "subject": f"Welcome, {word}"}
        expect("the message", wanted, {key: one.get(key) for key in wanted})
        if not str(one.get("text")).startswith(f"Hello {word},\n") or "Larch & Co, Hamburg" not in one["text"]:
            raise Wrong(f"the text: expected the template, saw {str(one.get('text'))[:200]}")

    return scene, look


def invoice(random):
    scene = Scene(random, "invoice").do("start")
    word, cents = scene.word(), [random.randint(1, 99999) for _ in range(3)]
    data = {"number": word, "name": word, "total": sum(cents), "due": f"2031-0{random.randint(1, 9)}-1{random.randint(0, 9)}"}
    data["lines"] = [{"what": f"Pen {at}", "cents": one} for at, one in enumerate(cents)]
    scene.steps.append(scene.post(word, template="invoice", data=data))
    scene.do("settle")

    def look(seen):
        seen.expect_no_trouble()
        text = (seen.of(word) or [{}])[0].get("text", "")
        rows = [f"  Pen {at}  {one // 100}.{one % 100:02} EUR\n" for at, one in enumerate(cents)]
        rows.append(f"  In all  {sum(cents) // 100}.{sum(cents) % 100:02} EUR\n")
        rows.append(f"pay by {'.'.join(reversed(data['due'].split('-')))}.")
        for row in rows:
            if row not in text:
                raise Wrong(f"the text: expected {row!r}, saw {text[:300]!r}")

    return scene, look


def later_and_never(random):
    scene = Scene(random, "later-and-never").do("start")
    busy, refused, hopeless = scene.mail("503", "500", "429"), scene.mail("422"), scene.mail(*["503"] * 9)
    scene.do("settle")
    for word in (busy, refused, hopeless):
        scene.do("ask", f"{word} shown", "GET", f"/mails/${word}")

    def look(seen):
        seen.expect_no_trouble()
        seen.expect_answer(f"{busy} shown", 200, state="sent", attempts=4)
        seen.expect_answer(f"{refused} shown", 200, state="failed", attempts=1, reason="no such mailbox")
        seen.expect_answer(f"{hopeless} shown", 200, state="failed", attempts=8, reason="status 503")
        expect("tries", [4, 1, 8], [len(seen.of(word)) for word in (busy, refused, hopeless)])

    return scene, look


def planned(random):
    """In a winter far away: Berlin is an hour ahead."""
    scene = Scene(random, "planned", quiet={"from": "21:00", "to": "07:00"}).do("start")
    day = datetime(random.randint(2070, 2090), 1, random.randint(2, 28), tzinfo=timezone.utc)
    rows = []
    for hour, urgent in ((12, False), (19, False), (20, False), (23, False), (4, False), (20, True)):
        at = day + timedelta(hours=hour, minutes=random.randint(0, 59))
        due = at
        if not urgent and hour in (20, 23, 4):
            due = day + timedelta(hours=6, days=hour > 6)
        word = scene.word()
        scene.steps.append(scene.post(word, at=f"{at:%Y-%m-%dT%H:%MZ}", urgent=urgent))
        rows.append((word, f"{due:%Y-%m-%dT%H:%M}:00.000Z"))

    def look(seen):
        seen.expect_no_trouble()
        for word, due in rows:
            seen.expect_answer(word, 201, due=due, state="queued")
        expect("what went out", [], seen.got)

    return scene, look


def cancelled(random):
    scene = Scene(random, "cancelled").do("start")
    kept, dropped = scene.word(), scene.word()
    for word in (kept, dropped):
        scene.steps.append(scene.post(word, at="2090-05-04T10:00Z"))
    for name in ("first", "second"):
        scene.do("ask", name, "DELETE", f"/mails/${dropped}")
    for state in ("queued", "cancelled", "sent"):
        scene.do("ask", state, "GET", f"/mails?state={state}")

    def look(seen):
        seen.expect_no_trouble()
        expect("statuses of DELETE", [204, 409], [seen.status("first"), seen.status("second")])
        for state, words in (("queued", [kept]), ("cancelled", [dropped]), ("sent", [])):
            listed = seen.body(state)
            found = [one.get("to") for one in listed] if isinstance(listed, list) else listed
            expect(f"mails that are {state}", [Scene.address(word) for word in words], found)

    return scene, look


def refused(random):
    scene = Scene(random, "refused").do("start")
    word = scene.mail()
    bodies = [
        (400, "POST", "/mails", {"to": word, "template": "welcome"}),
        (400, "POST", "/mails", {"to": f"{word}@x.example"}),
        (400, "POST", "/mails", {"to": f"{word}@x.example", "template": "welcome", "at": word}),
        (400, "POST", "/mails", {"to": f"{word}@x.example", "template": "welcome", "key": 7}),
        (400, "POST", "/mails", f"[{len(word)}]"),
        (400, "GET", "/mails?state=lost", None),
        (404, "GET", f"/mails/m-{word}", None),
        (404, "GET", f"/{word}", None),
        (405, "PUT", "/mails", {"to": word}),
    ]
    for number, (_, *what) in enumerate(bodies):
        scene.do("ask", f"call {number}", *[part for part in what if part is not None])
    scene.do("settle")

    def look(seen):
        seen.expect_no_trouble()
        expect("statuses", [status for status, *_ in bodies], [seen.status(f"call {at}") for at in range(len(bodies))])
        expect("who got mails", {Scene.address(word)}, {one["to"] for one in seen.got})

    return scene, look


def stopped(random):
    scene = Scene(random, "stopped").do("start")
    word, other = scene.word(), scene.word()
    scene.do("ask", "stop", "POST", "/suppressed", {"to": f"Me <{Scene.address(word).upper()}>", "reason": "bounced"})
    for one in (word, other):
        scene.steps.append(scene.post(one))
    scene.do("settle").do("kill").do("start").do("ask", "later", "POST", "/mails", scene.body(word, template="reminder"))
    scene.do("settle").do("ask", "shown", "GET", "/mails?state=failed")

    def look(seen):
        seen.expect_no_trouble()
        expect("status", 204, seen.status("stop"))
        expect("mails to who said STOP", 0, len(seen.of(word)))
        reasons = [one.get("reason") for one in seen.body("shown") or []]
        if len(reasons) != 2 or reasons[-1] != "suppressed":
            raise Wrong(f"reasons: expected two mails that failed, suppressed, saw {reasons}")

    return scene, look


def numbers(random):
    scene = Scene(random, "numbers").do("start")
    count = random.randint(2, 5)
    for _ in range(count):
        scene.mail()
    scene.mail("503")
    scene.do("ask", "bad", "POST", "/mails", scene.body(scene.word(), template="nothing-like-it"))
    scene.do("settle").do("ask", "stats", "GET", "/stats")
    scene.do("ask", "line", "POST", "/lines", {"to": "a@b.example", "line": scene.word()})

    def look(seen):
        seen.expect_no_trouble()
        body = seen.expect_answer("stats", 200, sent=count + 1, failed=1, queued=0, cancelled=0, tries=(count + 2) / (count + 1))
        expect("sums of days", count + 1, sum(day.get("count", 0) for day in body.get("days") or []))
        line = seen.expect_answer("line", 201)
        if not str(line.get("due")).endswith("00:00.000Z"):
            raise Wrong(f"the next digest: expected a full hour, saw {line}")

    return scene, look


def waits_for_a_domain(random):
    count = random.randint(2, 4)
    scene = Scene(random, "waits-for-a-domain", limit={"count": count, "window": 3600000}).do("start")
    word = scene.word()
    for number in range(count + 2):
        scene.do("ask", f"{number}", "POST", "/mails", scene.body(word))
    other = scene.mail()
    scene.do("ask", "flush", "POST", "/flush").do("ask", "stats", "GET", "/stats")

    def look(seen):
        seen.expect_no_trouble()
        expect("mails to one domain", count, len(seen.of(word)))
        expect("mails to another", 1, len(seen.of(other)))
        seen.expect_answer("flush", 200, sent=count + 1, failed=0, later=2)
        seen.expect_answer("stats", 200, sent=count + 1, queued=2)

    return scene, look


def cases():
    return cases_of(
        (goes_out, invoice, later_and_never, planned, cancelled, refused, stopped, numbers, waits_for_a_domain)
    )
