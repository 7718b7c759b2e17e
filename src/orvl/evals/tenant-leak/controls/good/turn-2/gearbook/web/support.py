"""For our own people: the list of workshops. What is in a workshop is its own."""

from pinion import Blueprint, abort

from gearbook import gate
from gearbook.services import workshops
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
    abort(403, "Nobody outside of a workshop sees its data.")
