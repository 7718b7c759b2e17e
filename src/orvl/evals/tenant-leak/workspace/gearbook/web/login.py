"""In and out."""

from pinion import Blueprint, redirect

from gearbook import audit, gate
from gearbook.services import users
from gearbook.web.pages import page

pages = Blueprint("login", public=True)


@pages.get("/login")
def form(request):
    return page(request, "login.html", title="Log in", message=None)


@pages.post("/login")
def log_in(request):
    user = users.by_password(request.db, request.form.get("email"), request.form.get("password", ""))
    if user is None:
        return page(request, "login.html", status=401, title="Log in", message="E-mail or password is wrong.")
    if user["workshop_id"]:
        audit.note(request.db, user["workshop_id"], user["email"], "login")
    response = redirect("/support" if user["role"] == "support" else "/")
    response.set_cookie(gate.SESSION, users.start_session(request.db, user))
    return response


@pages.post("/logout")
def log_out(request):
    session = users.session(request.db, request.cookies.get(gate.SESSION))
    if session:
        users.end_session(request.db, session["hash"])
    response = redirect("/login")
    response.drop_cookie(gate.SESSION)
    return response
