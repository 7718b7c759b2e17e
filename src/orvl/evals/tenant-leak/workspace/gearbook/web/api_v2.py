"""The API for programs of our customers: docs/api.md."""

from pinion import Blueprint, abort

from gearbook import audit
from gearbook.checks import choice_of, number_of, text_of
from gearbook.gate import need_owner
from gearbook.services import customers, invoices, jobs, parts, vehicles
from gearbook.web.invoices import found
from gearbook.web.pages import changed

pages = Blueprint("api_v2", "/api/v2")


@pages.get("/customers")
def list_customers(request):
    rows = customers.listing(request.db, request.workshop_id)
    return {"customers": [customers.as_json(row) for row in rows]}


@pages.post("/customers")
def create_customer(request):
    data = request.json_object()
    values = {name: text_of(data, name, required=name == "name") for name in customers.FIELDS}
    new = customers.create(request.db, request.workshop_id, values)
    changed(request, "customer.create", new)
    return customers.as_json(customers.find(request.db, request.workshop_id, new)), 201


@pages.get("/customers/<int:id>")
def show_customer(request, id):
    return customers.as_json(_own(customers, request, id))


@pages.get("/customers/<int:id>/vehicles")
def list_vehicles(request, id):
    _own(customers, request, id)
    rows = vehicles.of_customer(request.db, request.workshop_id, id)
    return {"vehicles": [vehicles.as_json(row) for row in rows]}


@pages.get("/jobs")
def list_jobs(request):
    status = request.args.get("status")
    rows = jobs.listing(request.db, request.workshop_id, status if status in jobs.STATUSES else None)
    return {"jobs": [jobs.as_json(row) for row in rows]}


@pages.post("/jobs")
def create_job(request):
    data = request.json_object()
    vehicle_id = number_of(data, "vehicle_id", 1, required=False)
    if vehicle_id:
        _own(vehicles, request, vehicle_id)
    new = jobs.create(
        request.db,
        request.workshop_id,
        text_of(data, "customer_number", longest=20),
        text_of(data, "title"),
        number_of(data, "price", required=False) or 0,
        vehicle_id,
    )
    changed(request, "job.create", new)
    return jobs.as_json(jobs.find(request.db, request.workshop_id, new)), 201


@pages.get("/jobs/<int:id>")
def show_job(request, id):
    return jobs.as_json(_own(jobs, request, id))


@pages.patch("/jobs/<int:id>")
def update_job(request, id):
    _own(jobs, request, id)
    data = request.json_object()
    if "status" in data:
        jobs.set_status(request.db, id, choice_of(data, "status", jobs.STATUSES))
    if "note" in data:
        jobs.set_note(request.db, id, text_of(data, "note", required=False))
    changed(request, "job.update", id)
    return jobs.as_json(_own(jobs, request, id))


@pages.get("/invoices")
def list_invoices(request):
    rows = invoices.listing(request.db, request.workshop_id, request.args.get("unpaid") == "1")
    return {"invoices": [invoices.as_json(request.db, row) for row in rows]}


@pages.get("/invoices/<int:id>")
def show_invoice(request, id):
    return invoices.as_json(request.db, found(request, id))


@pages.patch("/invoices/<int:id>")
def update_invoice(request, id):
    """Only the note can be changed."""
    invoice = found(request, id)
    invoices.set_note(request.db, invoice["id"], text_of(request.json_object(), "note", required=False))
    changed(request, "invoice.note", id)
    return invoices.as_json(request.db, found(request, id))


@pages.get("/parts")
def list_parts(request):
    return {"parts": [parts.as_json(row) for row in parts.listing(request.db, request.workshop_id)]}


@pages.get("/audit")
def audit_log(request):
    need_owner(request)
    return {"entries": audit.entries(request.db, request.workshop_id)}


def _own(service, request, id):
    row = service.find(request.db, request.workshop_id, id)
    if row is None:
        abort(404, "There is no such thing.")
    return row
