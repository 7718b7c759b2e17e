"""Who may come in: runs before every handler, and says who is asking and for which workshop.

Afterwards a request has `user` (a row), `workshop_id` and `session` (a row; None for programs). Public pages have none.
"""

from pinion import abort, redirect

from gearbook import fence
from gearbook.services import users

SESSION = "gb_session"
OLD_API, API = "api_v1", ("api_v2", "api_batch")
SUPPORT_HOME = ("support", "login")
"""Where support staff can be without having entered a workshop."""


def open_for(app, request):
    request.user = request.workshop_id = request.session = None
    blueprint = app.blueprint_of(request.rule) if request.rule else None
    if blueprint is not None and blueprint.public:
        return None
    if request.path.startswith("/api/"):
        return _program(request)
    return _person(request, blueprint)


def _program(request):
    """Version 1 takes the token as X-Api-Key or as ?key=, because the old tills can do no better."""
    if request.path.startswith("/api/v1/"):
        token = request.headers.get("X-Api-Key") or request.args.get("key")
    else:
        kind, _, token = request.headers.get("Authorization", "").partition(" ")
        token = token.strip() if kind.lower() == "bearer" else None
    known = users.by_token(request.db, token)
    if known is None:
        abort(401, "A valid token is needed.")
    request.user, request.workshop_id = known
    fence.put_up(request.db, request.workshop_id)


def _person(request, blueprint):
    session = users.session(request.db, request.cookies.get(SESSION))
    user = users.active_user(request.db, session["user_id"]) if session else None
    if user is None:
        if request.wants_json:
            abort(401, "Please log in.")
        return redirect("/login")
    request.user, request.session = user, session
    # Everybody but support is where they belong, whatever the session says.
    request.workshop_id = user["workshop_id"]
    if request.workshop_id is None and not (blueprint and blueprint.name in SUPPORT_HOME):
        if request.wants_json:
            abort(403, "Enter a workshop first.")
        return redirect("/support")
    if request.workshop_id is not None:
        fence.put_up(request.db, request.workshop_id)
    return None


def is_support(request):
    return request.user is not None and request.user["role"] == "support"


def need_owner(request):
    """For what mechanics have no business with. Support acts as the owner would."""
    if request.user["role"] not in ("owner", "support"):
        abort(403, "Only owners can do this.")
