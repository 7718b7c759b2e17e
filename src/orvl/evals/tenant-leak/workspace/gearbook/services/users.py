"""Users and how they are known: password, session, token."""

from gearbook import clock
from gearbook.config import SESSION_HOURS
from gearbook.db import insert, one, rows
from gearbook.secrets_ import hashed, is_password, new_token, password_hash

TOKEN_PREFIX = "gbt_"


def normal_email(text):
    return str(text or "").strip().lower()


def by_email(db, email):
    return one(db, "SELECT * FROM users WHERE email = ?", normal_email(email))


def by_password(db, email, password):
    """The user, if the password is right and the account is active."""
    user = by_email(db, email)
    if user is None or not user["active"] or not is_password(password, user["password"]):
        return None
    return user


def set_password(db, user_id, password):
    """Sets it, and ends all sessions of the user."""
    db.execute("UPDATE users SET password = ? WHERE id = ?", (password_hash(password), user_id))
    db.execute("DELETE FROM sessions WHERE user_id = ?", (user_id,))


def of_workshop(db, workshop_id):
    return rows(
        db, "SELECT id, name, email, role, active FROM users WHERE workshop_id = ? ORDER BY name, id", workshop_id
    )


def colleague(db, workshop_id, user_id):
    """A user of this workshop, or None."""
    return one(db, "SELECT * FROM users WHERE workshop_id = ? AND id = ?", workshop_id, user_id)


def set_active(db, user_id, is_active):
    db.execute("UPDATE users SET active = ? WHERE id = ?", (int(is_active), user_id))
    if not is_active:
        db.execute("DELETE FROM sessions WHERE user_id = ?", (user_id,))


# -- sessions


def start_session(db, user):
    """What the cookie holds. Sessions of support begin outside of all workshops."""
    token = new_token()
    insert(
        db,
        "sessions",
        hash=hashed(token),
        user_id=user["id"],
        workshop_id=user["workshop_id"],
        created_at=clock.now(),
    )
    return token


def session(db, token):
    if not token:
        return None
    return one(
        db,
        "SELECT * FROM sessions WHERE hash = ? AND created_at > ?",
        hashed(token),
        clock.ago(hours=SESSION_HOURS),
    )


def move_session(db, session_hash, workshop_id):
    """Into a workshop, or out of it (None). For support."""
    db.execute("UPDATE sessions SET workshop_id = ? WHERE hash = ?", (workshop_id, session_hash))


def end_session(db, session_hash):
    db.execute("DELETE FROM sessions WHERE hash = ?", (session_hash,))


def active_user(db, user_id):
    return one(db, "SELECT * FROM users WHERE id = ? AND active = 1", user_id)


# -- tokens of programs


def make_token(db, workshop_id, user_id, name, token=None):
    """The token itself is shown once, and not kept."""
    token = token or new_token(TOKEN_PREFIX)
    insert(
        db,
        "api_tokens",
        workshop_id=workshop_id,
        user_id=user_id,
        name=name,
        hash=hashed(token),
        created_at=clock.now(),
    )
    return token


def by_token(db, token):
    """`(user, workshop id)` of a token that was not revoked, or None."""
    row = one(db, "SELECT * FROM api_tokens WHERE hash = ? AND revoked_at IS NULL", hashed(token or ""))
    user = active_user(db, row["user_id"]) if row else None
    return (user, row["workshop_id"]) if user else None


def tokens_of(db, workshop_id):
    return rows(
        db,
        "SELECT id, name, created_at, revoked_at FROM api_tokens WHERE workshop_id = ? ORDER BY id",
        workshop_id,
    )


def revoke_token(db, workshop_id, token_id):
    """Whether there was such a token."""
    done = db.execute(
        "UPDATE api_tokens SET revoked_at = ? WHERE workshop_id = ? AND id = ? AND revoked_at IS NULL",
        (clock.now(), workshop_id, token_id),
    )
    return done.rowcount == 1
