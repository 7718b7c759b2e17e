"""Answers that are lost: who sends the form again has joined once."""

from people import LAST_NUMBER, password, person, random
from screen import Case, Fresh, alert, counted, dev, enter, fill, focus, no_alert, page, says, start, values, welcomed


def again(times):
    return [["press Enter", page(alert("form.offline"))] for _ in range(times)]


def lost_once(somebody):
    lost = [fill(somebody), enter(), page(alert("form.offline"))]
    yield Fresh("says that nobody has answered", lost, before=dev("lose/1"))
    yield Case("keeps what was entered", values(somebody, "name", "email", "password"), before=[dev("lose/1"), lost])
    yield Case("welcomes who tries again", enter(), welcomed(), before=[dev("lose/1"), lost])
    counting = counted(members=5)
    yield Case("has one member more", counting, before=[dev("lose/1"), lost, enter(), welcomed()])
    other = person(email=somebody["email"].upper())
    refused = [fill(other), enter(), page(says("email", "email.taken"), focus("email"))]
    yield Fresh("lets nobody else have the address", refused, before=[start(), fill(somebody), enter(), welcomed(), start()])


def CASES():
    somebody = person()
    yield from lost_once(somebody)
