"""The first API. The tills of 2024 speak nothing else, so it stays until 2032: docs/api-v1.md. Nothing new goes in here.

Unlike version 2 it has German field names and prices with a comma, as the tills show them.
"""

from pinion import Blueprint, Response, abort

from gearbook.checks import text_of
from gearbook.db import one, rows
from gearbook.services import jobs, vehicles
from gearbook.web.pages import changed

pages = Blueprint("api_v1", "/api/v1")


def _row(request, table, id):
    row = one(request.db, f"SELECT * FROM {table} WHERE id = ?", id)
    if row is None:
        abort(404, "unbekannt")
    return row


@pages.get("/kunden")
def list_customers(request):
    found = rows(request.db, "SELECT * FROM customers WHERE workshop_id = ? ORDER BY number", request.workshop_id)
    return {"kunden": [_customer(row) for row in found]}


@pages.get("/kunden/<int:id>")
def show_customer(request, id):
    return _customer(_row(request, "customers", id))


@pages.get("/kunden/<int:id>/fahrzeuge")
def list_vehicles(request, id):
    customer = _row(request, "customers", id)
    found = rows(request.db, "SELECT * FROM vehicles WHERE customer_id = ? ORDER BY plate", customer["id"])
    return {"fahrzeuge": [_vehicle(row) for row in found]}


@pages.get("/fahrzeuge/<int:id>")
def show_vehicle(request, id):
    return _vehicle(_row(request, "vehicles", id))


@pages.put("/fahrzeuge/<int:id>")
def update_vehicle(request, id):
    row = _row(request, "vehicles", id)
    data = request.json_object()
    plate, model = text_of(data, "kennzeichen", 40), text_of(data, "modell", required=False)
    vehicles.update(request.db, row["id"], {"plate": plate, "model": model})
    changed(request, "vehicle.update", id)
    return _vehicle(_row(request, "vehicles", id))


@pages.delete("/fahrzeuge/<int:id>")
def remove_vehicle(request, id):
    row = _row(request, "vehicles", id)
    vehicles.remove(request.db, row["id"])
    changed(request, "vehicle.remove", id)
    return Response(b"", 204, kind=None)


@pages.get("/auftraege/<int:id>")
def show_job(request, id):
    return _job(_row(request, "jobs", id))


@pages.put("/auftraege/<int:id>/notiz")
def set_job_note(request, id):
    row = _row(request, "jobs", id)
    jobs.set_note(request.db, row["id"], text_of(request.json_object(), "notiz", required=False))
    changed(request, "job.note", id)
    return _job(_row(request, "jobs", id))


def _customer(row):
    return {"id": row["id"], "nummer": row["number"], "name": row["name"], "telefon": row["phone"]}


def _vehicle(row):
    return {"id": row["id"], "kunde": row["customer_id"], "kennzeichen": row["plate"], "modell": row["model"]}


def _job(row):
    price = f"{row['price'] // 100},{row['price'] % 100:02d}"
    return {"id": row["id"], "titel": row["title"], "stand": row["status"], "preis": price, "notiz": row["note"]}
