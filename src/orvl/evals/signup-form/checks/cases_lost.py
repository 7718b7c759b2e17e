"""Answers that are lost: who sends the form again has joined once."""

from people import MEMBERS, person, random
from screen import Case, Fresh, alert, dev, enter, everybody_counted, fill, focus, no_alert, page, says, start, values, welcomed

OFFLINE = page(alert("form.offline"))


def lost_once(somebody):
    lost = [fill(somebody), enter(), OFFLINE]
    been = [dev("lose/1"), lost]
    yield Fresh("says that nobody has answered", lost, before=dev("lose/1"))
    yield Case("keeps what was entered", values(somebody, "name", "email", "password"), before=been)
    yield Case("welcomes who tries again", enter(), welcomed(), before=been)
    yield Case("has one member more", everybody_counted(), before=[been, enter(), welcomed()])
    other = person(email=somebody["email"].upper())
    refused = [start(), fill(other), enter(), page(says("email", "email.taken"), focus("email"))]
    yield Case("lets nobody else have the address", refused, before=[start(), fill(somebody), enter(), welcomed()])


def lost_twice(somebody):
    lost = [fill(somebody), enter(), OFFLINE]
    yield Fresh("is patient", fill(somebody), enter(), OFFLINE, before=dev("lose/2"))
    second = [enter(), OFFLINE, enter(), welcomed()]
    yield Case("welcomes who tries a third time", second, before=[dev("lose/2"), lost])
    yield Case("has one member more, after all", everybody_counted(), before=[start(), fill(somebody), enter(), welcomed()])


def refused_and_lost(somebody):
    lost = [fill(somebody), enter(), OFFLINE]
    again = [enter(), page(says("email", "email.taken"), no_alert("form.offline"))]
    yield Fresh("does not welcome who was refused", lost, again, before=dev("lose/1"))


def CASES():
    return [*lost_once(person()), *lost_twice(person()), *refused_and_lost(person(email=random.choice(MEMBERS[1:])))]
