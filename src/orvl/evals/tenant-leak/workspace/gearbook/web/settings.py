"""What owners set: their team, tokens for programs, payments; and the audit log."""

from pinion import Blueprint, abort, json_response, redirect

from gearbook import audit
from gearbook.checks import choice_of, number_of, text_of
from gearbook.db import insert
from gearbook.gate import need_owner
from gearbook.secrets_ import new_token, password_hash
from gearbook.services import resets, users, workshops
from gearbook.web.pages import changed, page

pages = Blueprint("settings", "/settings")


@pages.get("")
def overview(request):
    need_owner(request)
    return page(
        request,
        "settings.html",
        title="Settings",
        team=users.of_workshop(request.db, request.workshop_id),
        tokens=users.tokens_of(request.db, request.workshop_id),
    )


@pages.get("/audit")
def audit_log(request):
    need_owner(request)
    return page(request, "audit.html", title="Audit log", entries=audit.entries(request.db, request.workshop_id))


@pages.post("/users")
def invite(request):
    """A new colleague, who chooses a password by the link that comes by mail."""
    need_owner(request)
    email = users.normal_email(text_of(request.form, "email"))
    if "@" not in email or users.by_email(request.db, email):
        abort(409, "That is no e-mail address, or it has an account.")
    insert(
        request.db,
        "users",
        workshop_id=request.workshop_id,
        email=email,
        name=text_of(request.form, "name"),
        role=choice_of(request.form, "role", ("owner", "mechanic")),
        password=password_hash(new_token()),
    )
    resets.ask(request.db, request.config, email)
    changed(request, "user.invite", email)
    return redirect("/settings")


@pages.post("/users/<int:id>/active")
def set_active(request, id):
    need_owner(request)
    user = users.colleague(request.db, request.workshop_id, id)
    if user is None or user["id"] == request.user["id"]:
        abort(404, "There is no such colleague.")
    is_active = number_of(request.form, "active", 0, 1) == 1
    users.set_active(request.db, user["id"], is_active)
    changed(request, "user.active", f"{user['email']} {int(is_active)}")
    return redirect("/settings")


@pages.post("/tokens")
def make_token(request):
    """The only time that a token is shown."""
    need_owner(request)
    name = text_of(request.form, "name", longest=60)
    token = users.make_token(request.db, request.workshop_id, request.user["id"], name)
    changed(request, "token.create", name)
    return json_response({"name": name, "token": token}, 201)


@pages.post("/tokens/<int:id>/revoke")
def revoke_token(request, id):
    need_owner(request)
    if not users.revoke_token(request.db, request.workshop_id, id):
        abort(404, "There is no such token.")
    changed(request, "token.revoke", id)
    return redirect("/settings")


@pages.post("/payments/secret")
def payment_secret(request):
    """A new secret to sign payments with. It is shown once, like tokens."""
    need_owner(request)
    secret = workshops.renew_payment_secret(request.db, request.workshop_id)
    changed(request, "payments.secret")
    return json_response({"secret": secret}, 201)
