"""What everybody may see: that the server runs, and a job by its customer's link."""

from pinion import Blueprint, abort

from gearbook import VERSION
from gearbook.services import jobs, workshops
from gearbook.web.pages import page

pages = Blueprint("public", public=True)


@pages.get("/health")
def health(request):
    return {"ok": True, "version": VERSION}


@pages.get("/status/<token>")
def status(request, token):
    job = jobs.by_share(request.db, token)
    if job is None:
        abort(404, "This link does not work any more.")
    owner = workshops.find(request.db, job["workshop_id"])
    return page(request, "status.html", title="Your repair", job=job, owner=owner)
