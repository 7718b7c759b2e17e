"""For our own people: the list of workshops, and the way into one of them.

Whoever is in a workshop sees and does what its owner could.
"""

from pinion import Blueprint, abort, redirect

from gearbook import audit, gate
from gearbook.services import users, workshops
from gearbook.web.pages import page

pages = Blueprint("support", "/support")


def need_support(request):
    if not gate.is_support(request):
        abort(403, "This is for support.")


@pages.get("")
def overview(request):
    need_support(request)
    return page(request, "support.html", title="Support", workshops=workshops.everyone(request.db))


@pages.post("/enter/<int:id>")
def enter(request, id):
    need_support(request)
    workshop = workshops.find(request.db, id)
    if workshop is None:
        abort(404, "There is no such workshop.")
    users.move_session(request.db, request.session["hash"], workshop["id"])
    audit.note(request.db, workshop["id"], request.user["email"], "support.enter")
    return redirect("/")


@pages.post("/leave")
def leave(request):
    need_support(request)
    if request.workshop_id:
        audit.note(request.db, request.workshop_id, request.user["email"], "support.leave")
    users.move_session(request.db, request.session["hash"], None)
    return redirect("/support")
