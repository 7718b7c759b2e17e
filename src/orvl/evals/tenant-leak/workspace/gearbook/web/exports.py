"""Tables to take away. For owners only."""

from pinion import Blueprint, abort, text_response

from gearbook import clock
from gearbook.gate import need_owner
from gearbook.services import exporting
from gearbook.web.pages import page

pages = Blueprint("exports", "/exports")


@pages.get("")
def overview(request):
    need_owner(request)
    return page(request, "exports.html", title="Exports")


@pages.get("/jobs.csv")
def jobs(request):
    need_owner(request)
    return _csv(exporting.jobs_csv(request.db, request.workshop_id, *_days(request)))


@pages.get("/customers.csv")
def customers(request):
    need_owner(request)
    return _csv(exporting.customers_csv(request.db, request.workshop_id))


@pages.get("/invoices.csv")
def invoices(request):
    need_owner(request)
    return _csv(exporting.invoices_csv(request.db, request.workshop_id, *_days(request)))


def _days(request):
    first, last = request.args.get("from") or "0001-01-01", request.args.get("to") or "9999-12-31"
    if not (clock.is_day(first) and clock.is_day(last)):
        abort(400, "A day is written like 2031-04-09.")
    return first, last


def _csv(text):
    return text_response(text, kind="text/csv; charset=utf-8")
