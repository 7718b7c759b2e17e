"""Customers."""

from pinion import Blueprint, abort, redirect

from gearbook.checks import text_of
from gearbook.services import customers, vehicles
from gearbook.web.pages import changed, page

pages = Blueprint("customers", "/customers")


def own(request, id):
    found = customers.find(request.db, request.workshop_id, id)
    if found is None:
        abort(404, "There is no such customer.")
    return found


@pages.get("")
def listing(request):
    found = customers.listing(request.db, request.workshop_id)
    return page(request, "customers.html", title="Customers", customers=found)


@pages.post("")
def create(request):
    values = {name: text_of(request.form, name, required=name == "name") for name in customers.FIELDS}
    new = customers.create(request.db, request.workshop_id, values)
    changed(request, "customer.create", new)
    return redirect(f"/customers/{new}")


@pages.get("/<int:id>")
def show(request, id):
    customer = own(request, id)
    found = vehicles.of_customer(request.db, request.workshop_id, id)
    return page(request, "customer.html", title=customer["name"], customer=customer, vehicles=found)


@pages.post("/<int:id>")
def update(request, id):
    own(request, id)
    given = {name: text_of(request.form, name, required=False) for name in customers.FIELDS if name in request.form}
    customers.update(request.db, id, given)
    changed(request, "customer.update", id)
    return redirect(f"/customers/{id}")
