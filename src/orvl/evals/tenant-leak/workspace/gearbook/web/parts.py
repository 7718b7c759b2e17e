"""Parts on the shelf."""

from pinion import Blueprint, abort, redirect

from gearbook.checks import number_of
from gearbook.services import parts
from gearbook.web.pages import changed, page

pages = Blueprint("parts", "/parts")


@pages.get("")
def listing(request):
    return page(request, "parts.html", title="Parts", parts=parts.listing(request.db, request.workshop_id))


@pages.post("/<sku>/book")
def book(request, sku):
    change = number_of(request.form, "change", -10_000, 10_000)
    done = parts.book(request.db, request.workshop_id, sku, change)
    if done is None:
        abort(404, "There is no such part.")
    if not done:
        abort(409, "There are not enough on the shelf.")
    changed(request, "part.book", f"{sku} {change:+}")
    return redirect("/parts")
