"""Vehicles of customers."""

from pinion import Blueprint, abort, redirect

from gearbook.checks import number_of, text_of
from gearbook.services import vehicles
from gearbook.web import customers
from gearbook.web.pages import changed

pages = Blueprint("vehicles")


def own(request, id):
    found = vehicles.find(request.db, request.workshop_id, id)
    if found is None:
        abort(404, "There is no such vehicle.")
    return found


@pages.post("/customers/<int:id>/vehicles")
def create(request, id):
    customer = customers.own(request, id)
    new = vehicles.create(
        request.db,
        request.workshop_id,
        customer["id"],
        text_of(request.form, "plate", longest=40),
        text_of(request.form, "model", required=False),
        number_of(request.form, "year", 1880, 2200, required=False),
    )
    changed(request, "vehicle.create", new)
    return redirect(f"/customers/{id}")


@pages.post("/vehicles/<int:id>/remove")
def remove(request, id):
    vehicle = own(request, id)
    vehicles.remove(request.db, vehicle["id"])
    changed(request, "vehicle.remove", id)
    return redirect(f"/customers/{vehicle['customer_id']}")
