"""Many jobs at once, for the evening: docs/api.md. All or nothing."""

from pinion import Blueprint, abort

from gearbook.checks import choice_of, ids_of, number_of
from gearbook.db import marks, rows, transaction
from gearbook.services import jobs, users
from gearbook.web.pages import changed

pages = Blueprint("api_batch", "/api/v2/jobs")


@pages.post("/batch")
def batch(request):
    """`ids`, and one of `status`, `mechanic_id` and `delete`."""
    data = request.json_object()
    chosen = _chosen(request, ids_of(data, "ids"))
    with transaction(request.db):
        _do(request, data, chosen)
        changed(request, "job.batch", f"{len(chosen)} jobs")
    return {"changed": len(chosen)}


def _chosen(request, ids):
    """They come from one list in the app, so they all are of one workshop."""
    if jobs.find(request.db, request.workshop_id, ids[0]) is None or len(_known(request, ids)) != len(ids):
        abort(404, "There is no such job.")
    return ids


def _known(request, ids):
    return rows(request.db, f"SELECT id FROM jobs WHERE id IN ({marks(ids)})", *ids)


def _do(request, data, ids):
    if data.get("delete") is True:
        if any(jobs.is_billed(request.db, job_id) for job_id in ids):
            abort(409, "A job that was billed stays.")
        for job_id in ids:
            jobs.remove(request.db, job_id)
    elif "mechanic_id" in data:
        mechanic = users.colleague(request.db, request.workshop_id, number_of(data, "mechanic_id", 1))
        if mechanic is None:
            abort(404, "There is no such user.")
        for job_id in ids:
            jobs.set_mechanic(request.db, job_id, mechanic["id"])
    else:
        status = choice_of(data, "status", jobs.STATUSES)
        for job_id in ids:
            jobs.set_status(request.db, job_id, status)
