"""The first page."""

from pinion import Blueprint, abort

from gearbook import clock
from gearbook.services import dashboard, jobs
from gearbook.web.pages import page

pages = Blueprint("home")


def month_of(request):
    month = request.args.get("month") or clock.this_month()
    if not clock.is_month(month):
        abort(400, "A month is written like 2031-04.")
    return month


@pages.get("/")
def home(request):
    return page(
        request,
        "home.html",
        title="Today",
        figures=dashboard.figures(request.db, request.workshop_id, month_of(request)),
        waiting=jobs.listing(request.db, request.workshop_id, "waiting"),
    )


@pages.get("/dashboard.json")
def figures(request):
    return dashboard.figures(request.db, request.workshop_id, month_of(request))
