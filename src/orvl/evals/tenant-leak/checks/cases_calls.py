"""The batch of jobs, and the first API."""

from served import Somebody, Wrong, expect, same


# -- batch


def _state(scene, shop, jobs):
    return [scene.job(shop, job) for job in jobs]


def _batch(place, change, many=3, foreign=1, status=None):
    """Another's jobs among the own ones, at some place; afterwards the own ones alone."""

    def case(scene):
        mine, theirs = scene.pair()
        own, others = [mine.take("job") for _ in range(many)], [theirs.take("job") for _ in range(foreign)]
        wish = {name: value(mine) if callable(value) else value for name, value in change.items()}
        ids = [job["id"] for job in own]
        at = place % (many + 1)
        mixed = [*ids[:at], *(job["id"] for job in others), *ids[at:]]
        program = scene.program(mine)
        tags = scene.tags(mine)

        def ask():
            answer = program.refused("POST", "/api/v2/jobs/batch", tags, data={"ids": mixed, **wish})
            if status:
                expect("the status of a batch with another's job in it", status, answer.status)

        same(
            "a batch with another's job in it",
            lambda: (_state(scene, theirs, others), _state(scene, mine, own)),
            ask,
        )
        answer = program.fine("POST", "/api/v2/jobs/batch", data={"ids": ids, **wish})
        expect("changed", {"changed": many}, answer.data)
        for job in own:
            if wish.get("delete"):
                expect("a job that was deleted", 404, program.get(f"/api/v2/jobs/{job['id']}").status)
            else:
                seen = scene.job(mine, job)
                expect("what was set", wish, {name: seen.get(name) for name in wish})

    case.__name__ = f"batch_{'_'.join(change)}_{place}"
    return case


def _somebody(shop):
    return shop.random.choice(shop.team)["id"]


BATCH = (
    _batch(1, {"status": "done"}),
    _batch(-1, {"status": "cancelled"}),
    _batch(2, {"status": "waiting"}, many=4, foreign=2),
    _batch(1, {"mechanic_id": _somebody}, many=1),
    _batch(-1, {"mechanic_id": _somebody}),
    _batch(-1, {"delete": True}),
    _batch(1, {"delete": True}, many=2, foreign=3),
    _batch(2, {"status": "done"}, many=6, foreign=1, status=404),
)


# -- the first API


def _as_till(look):
    """What a till may look at: one's own, and not another's."""

    def case(scene):
        for mine, theirs in (scene.pair(), scene.pair()):
            path, text = look(mine)
            foreign, _ = look(theirs)
            till = scene.till(mine)
            till.refused("GET", foreign, scene.tags(mine))
            answer = till.fine("GET", path)
            if text not in answer.text:
                raise Wrong(f"{path}: expected {text}, saw {answer}")

    return case


def _customer(shop):
    row = shop.random.choice(shop.customers)
    return f"/api/v1/kunden/{row['id']}", row["phone"]


def _vehicles(shop):
    row = shop.random.choice(shop.vehicles)
    return f"/api/v1/kunden/{row['customer_id']}/fahrzeuge", row["plate"]


def _vehicle(shop):
    row = shop.random.choice(shop.vehicles)
    return f"/api/v1/fahrzeuge/{row['id']}", row["plate"]


def _job(shop):
    row = shop.random.choice(shop.jobs)
    return f"/api/v1/auftraege/{row['id']}", row["title"]


def v1_changes_a_vehicle(scene):
    mine, theirs = scene.pair()
    till, own, other = scene.till(mine), mine.take("vehicle"), theirs.take("vehicle")
    body = {"kennzeichen": f"X-{scene.random.randrange(10**6)}", "modell": mine.text("model")}
    path = f"/api/v1/fahrzeuge/{other['id']}"
    same(
        path,
        lambda: scene.vehicles(theirs, other["customer_id"]),
        lambda: till.refused("PUT", path, scene.tags(mine), data=body),
    )
    said = till.fine("PUT", f"/api/v1/fahrzeuge/{own['id']}", data=body).data
    expect("what a till is told", body["kennzeichen"], said["kennzeichen"])
    seen = {row["id"]: row for row in scene.vehicles(mine, own["customer_id"])["vehicles"]}[own["id"]]
    expect("the vehicle", (body["kennzeichen"], body["modell"]), (seen["plate"], seen["model"]))


def v1_removes_a_vehicle(scene):
    mine, theirs = scene.pair()
    till, own, other = scene.till(mine), mine.take("vehicle"), theirs.take("vehicle")
    path = f"/api/v1/fahrzeuge/{other['id']}"
    same(
        path,
        lambda: scene.vehicles(theirs, other["customer_id"]),
        lambda: till.refused("DELETE", path, scene.tags(mine)),
    )
    till.fine("DELETE", f"/api/v1/fahrzeuge/{own['id']}")
    left = [row["id"] for row in scene.vehicles(mine, own["customer_id"])["vehicles"]]
    if own["id"] in left:
        raise Wrong(f"DELETE /api/v1/fahrzeuge/{own['id']}: expected it to be gone")


def v1_notes_on_a_job(scene):
    mine, theirs = scene.pair()
    till, own, other = scene.till(mine), mine.take("job"), theirs.take("job")
    note = mine.text("call back")
    path = f"/api/v1/auftraege/{other['id']}/notiz"
    same(
        path,
        lambda: scene.job(theirs, other),
        lambda: till.refused("PUT", path, scene.tags(mine), data={"notiz": note}),
    )
    said = till.fine("PUT", f"/api/v1/auftraege/{own['id']}/notiz", data={"notiz": note}).data
    expect("what a till is told", note, said["notiz"])
    expect("note", note, scene.job(mine, own)["note"])


def v1_with_a_key_in_the_address(scene):
    mine, theirs = scene.pair()
    till = Somebody(scene.server, "an old till")
    for look in (_customer, _job):
        path, text = look(mine)
        foreign, _ = look(theirs)
        till.refused("GET", f"{foreign}?key={mine.token}", scene.tags(mine))
        if text not in till.fine("GET", f"{path}?key={mine.token}").text:
            raise Wrong(f"{path}: expected {text}")


def v1_as_if_unknown(scene):
    mine, theirs = scene.pair()
    till, unknown = scene.till(mine), scene.world.new_id()
    for path in ("/api/v1/kunden/{}/fahrzeuge", "/api/v1/kunden/{}"):
        ids = [scene.random.choice(shop.customers)["id"] for shop in (theirs, mine)]
        seen = [till.get(path.format(one)).status for one in (ids[0], unknown, ids[1])]
        expect(f"statuses of {path} for another's, none, and the own", [404, 404, 200], seen)


def _named(name, case):
    case.__name__ = name
    return case


V1 = (
    *(_named(f"v1_{look.__name__[1:]}", _as_till(look)) for look in (_customer, _vehicles, _vehicle, _job)),
    *(v1_changes_a_vehicle, v1_removes_a_vehicle, v1_notes_on_a_job, v1_with_a_key_in_the_address),
    v1_as_if_unknown,
)
