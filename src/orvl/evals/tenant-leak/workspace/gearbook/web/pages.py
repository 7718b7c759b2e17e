"""What all pages need."""

from pinion import Response, redirect

from gearbook import audit
from gearbook.services import dashboard, workshops


def page(request, template, status=200, **values):
    workshop_id = getattr(request, "workshop_id", None)
    workshop = workshops.find(request.db, workshop_id) if workshop_id else None
    made = request.app.templates.page(
        template, user=getattr(request, "user", None), workshop=workshop, path=request.path, **values
    )
    return Response(made, status)


def changed(request, action, detail=""):
    """After each change of a workshop's data: a line in its audit log, and fresh figures."""
    audit.note(request.db, request.workshop_id, request.user["email"], action, detail)
    dashboard.forget(request.workshop_id)


def back_to(where):
    return redirect(where)
