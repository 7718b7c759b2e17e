"""What others call: the payment provider tells that an invoice was paid."""

from pinion import Blueprint, abort

from gearbook import clock
from gearbook.checks import text_of
from gearbook.secrets_ import is_signature
from gearbook.services import payments, workshops

pages = Blueprint("hooks", "/hooks", public=True)


@pages.post("/payments/<slug>")
def paid(request, slug):
    """Signed in X-Signature with the workshop's own secret. The provider repeats itself until it gets a 200."""
    workshop = workshops.by_slug(request.db, slug)
    if workshop is None or not is_signature(
        workshop["payment_secret"], request.body, request.headers.get("X-Signature", "")
    ):
        abort(401, "The signature is not right.")
    event = request.json_object()
    day = event.get("day") or clock.today()
    if not clock.is_day(day):
        abort(400, "day is no day.")
    result = payments.take(request.db, workshop, text_of(event, "event", 80), text_of(event, "invoice", 40), day)
    if result == "unknown":
        abort(404, "There is no such invoice.")
    return {"result": result}
