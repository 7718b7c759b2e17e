"""Jobs."""

from pinion import Blueprint, abort, redirect

from gearbook.checks import choice_of, number_of, text_of
from gearbook.services import customers, jobs, users, vehicles
from gearbook.web.pages import changed, page

pages = Blueprint("jobs", "/jobs")


def own(request, id):
    found = jobs.find(request.db, request.workshop_id, id)
    if found is None:
        abort(404, "There is no such job.")
    return found


@pages.get("")
def listing(request):
    status = request.args.get("status")
    if status and status not in jobs.STATUSES:
        abort(400, "There is no such status.")
    found = jobs.listing(request.db, request.workshop_id, status)
    return page(request, "jobs.html", title="Jobs", jobs=found, statuses=jobs.STATUSES)


@pages.post("")
def create(request):
    vehicle_id = number_of(request.form, "vehicle_id", 1, required=False)
    if vehicle_id and vehicles.find(request.db, request.workshop_id, vehicle_id) is None:
        abort(404, "There is no such vehicle.")
    new = jobs.create(
        request.db,
        request.workshop_id,
        text_of(request.form, "customer_number", longest=20),
        text_of(request.form, "title"),
        number_of(request.form, "price", required=False) or 0,
        vehicle_id,
    )
    changed(request, "job.create", new)
    return redirect(f"/jobs/{new}")


@pages.get("/<int:id>")
def show(request, id):
    job = own(request, id)
    customer = customers.by_number(request.db, request.workshop_id, job["customer_number"])
    team = users.of_workshop(request.db, request.workshop_id)
    return page(
        request, "job.html", title=job["title"], job=job, customer=customer, team=team, statuses=jobs.STATUSES
    )


@pages.post("/<int:id>/status")
def set_status(request, id):
    job = own(request, id)
    status = choice_of(request.form, "status", jobs.STATUSES)
    jobs.set_status(request.db, job["id"], status)
    changed(request, "job.status", f"{id} {status}")
    return redirect(f"/jobs/{id}")


@pages.post("/<int:id>/mechanic")
def set_mechanic(request, id):
    job = own(request, id)
    mechanic = users.colleague(request.db, request.workshop_id, number_of(request.form, "mechanic_id", 1))
    if mechanic is None:
        abort(404, "There is no such user.")
    jobs.set_mechanic(request.db, job["id"], mechanic["id"])
    changed(request, "job.mechanic", f"{id} {mechanic['email']}")
    return redirect(f"/jobs/{id}")


@pages.post("/<int:id>/note")
def set_note(request, id):
    job = own(request, id)
    jobs.set_note(request.db, job["id"], text_of(request.form, "note", required=False))
    changed(request, "job.note", id)
    return redirect(f"/jobs/{id}")


@pages.post("/<int:id>/share")
def share(request, id):
    """A link for the customer. It is shown to whoever asked for it, and kept out of logs."""
    job = own(request, id)
    token = jobs.share(request.db, job["id"])
    changed(request, "job.share", id)
    return {"link": f"{request.config.base_url}/status/{token}"}
