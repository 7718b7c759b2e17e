"""New passwords for those who forgot theirs: a link by mail, which works once and for two hours."""

from gearbook import clock, mail
from gearbook.config import RESET_HOURS
from gearbook.db import insert, one, transaction
from gearbook.secrets_ import hashed, new_token
from gearbook.services import users

LEAST_LETTERS = 8


def ask(db, config, email):
    """Sends a link, if there is such a user. Nobody is told whether there is."""
    user = users.by_email(db, email)
    if user is None or not user["active"]:
        return
    token = new_token()
    insert(db, "resets", hash=hashed(token), user_id=user["id"], created_at=clock.now())
    link = f"{config.base_url}/reset?token={token}"
    mail.send(config, user["email"], "A new password for Gearbook", f"Hello {user['name']},\n\nplease go to\n\n{link}")


def pending(db, token):
    """The reset that a token is for, if it can still be used."""
    return one(
        db,
        "SELECT * FROM resets WHERE hash = ? AND used_at IS NULL AND created_at > ?",
        hashed(token or ""),
        clock.ago(hours=RESET_HOURS),
    )


def finish(db, token, email, password):
    """Sets the password of whoever got the link, whatever address was typed in; None where the link is too old."""
    reset = pending(db, token)
    user = users.active_user(db, reset["user_id"]) if reset else None
    if user is None:
        return None
    with transaction(db):
        db.execute("UPDATE resets SET used_at = ? WHERE hash = ?", (clock.now(), reset["hash"]))
        users.set_password(db, user["id"], password)
    return user
