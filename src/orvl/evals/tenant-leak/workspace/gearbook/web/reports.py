"""Reports. For owners only."""

from pinion import Blueprint, abort, json_response, redirect, text_response

from gearbook import clock
from gearbook.checks import choice_of
from gearbook.gate import need_owner
from gearbook.services import reports
from gearbook.web.pages import changed, page

pages = Blueprint("reports", "/reports")


def own(request, id):
    need_owner(request)
    report = reports.find(request.db, request.workshop_id, id)
    if report is None:
        abort(404, "There is no such report.")
    return report


@pages.get("")
def listing(request):
    need_owner(request)
    return page(request, "reports.html", title="Reports", reports=reports.listing(request.db, request.workshop_id))


@pages.post("")
def ask(request):
    """202 with where to look for it; browsers are sent to the list."""
    need_owner(request)
    kind = choice_of(request.form, "kind", reports.KINDS)
    month = request.form.get("month") or clock.this_month()
    if not clock.is_month(month):
        abort(400, "A month is written like 2031-04.")
    new = reports.ask(request.db, request.workshop_id, kind, month, request.user["email"])
    changed(request, "report.ask", f"{kind} {month}")
    request.app.worker.wake()
    if "text/html" in request.headers.get("Accept", ""):
        return redirect("/reports")
    return json_response({"id": new, "status": f"/reports/{new}.json"}, 202)


@pages.get("/<int:id>.json")
def state(request, id):
    return reports.as_json(own(request, id))


@pages.get("/<int:id>/download")
def download(request, id):
    content = reports.content(request.config, own(request, id))
    if content is None:
        abort(404, "It is not done yet, or was cleared away.")
    return text_response(content, kind="text/csv; charset=utf-8")
