"""A new password, by a link that comes by mail."""

from pinion import Blueprint, abort, redirect

from gearbook import audit
from gearbook.services import resets
from gearbook.web.pages import page

pages = Blueprint("reset", public=True)


@pages.post("/forgot")
def forgot(request):
    resets.ask(request.db, request.config, request.form.get("email"))
    return page(request, "message.html", title="Mail is on its way", message="If we know you, a link is in your mail.")


@pages.get("/reset")
def form(request):
    token = request.args.get("token", "")
    if resets.pending(request.db, token) is None:
        abort(404, "This link does not work any more.")
    return page(request, "reset.html", title="A new password", token=token)


@pages.post("/reset")
def reset(request):
    """Fields: token, email, password. The address is asked for so that nobody sets the wrong account's password."""
    password = request.form.get("password", "")
    if len(password) < resets.LEAST_LETTERS:
        abort(400, f"A password has {resets.LEAST_LETTERS} letters or more.")
    user = resets.finish(request.db, request.form.get("token", ""), request.form.get("email", ""), password)
    if user is None:
        abort(400, "Link and e-mail do not belong together, or the link is too old.")
    if user["workshop_id"]:
        audit.note(request.db, user["workshop_id"], user["email"], "password.reset")
    return redirect("/login")
