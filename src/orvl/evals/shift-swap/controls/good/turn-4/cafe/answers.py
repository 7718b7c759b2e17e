"""Answers that were given before: a request that a phone sends again gets the same one, and does nothing more."""

import json
from collections.abc import Callable
from sqlite3 import Connection

from cafe.errors import Refused

Answer = tuple[int, object]


def answer_once(connection: Connection, sent_as: str | None, act: Callable[[], Answer]) -> Answer:
    """Does something, unless that was done for the same request before; refusals are answers, too."""
    if sent_as is None:
        return act()
    row = connection.execute("select status, body from answers where sent_as = ?", (sent_as,)).fetchone()
    if row is not None:
        return row["status"], json.loads(row["body"])
    status, body = _answer(connection, act)
    connection.execute("insert into answers values (?, ?, ?)", (sent_as, status, json.dumps(body)))
    return status, body


def _answer(connection: Connection, act: Callable[[], Answer]) -> Answer:
    connection.execute("savepoint act")
    try:
        return act()
    except Refused as refusal:
        connection.execute("rollback to act")
        return refusal.status, {"error": refusal.sentence}
