"""The search."""

from pinion import Blueprint

from gearbook.services.search import search
from gearbook.web.pages import page

pages = Blueprint("searching")


@pages.get("/search")
def show(request):
    query = request.args.get("q", "").strip()
    found = search(request.db, request.workshop_id, query)
    return page(request, "search.html", title="Search", query=query, found=found)


@pages.get("/search.json")
def as_json(request):
    return {"results": search(request.db, request.workshop_id, request.args.get("q", "").strip())}
