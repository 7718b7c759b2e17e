"""What the server finds wrong, and what happens when it is sick or cannot be heard: nothing that was entered is lost."""

from people import ELSEWHERE, MEMBERS, known_password, person, postcode, random
from screen import Case, Fresh, alert, dev, enter, fill, focus, has, no_alert, page, says, silent, start, values, welcomed

TYPED = ("name", "phone", "heard")
NOT_JSON = (201, 422)
SICK = (400, 404, 429, 500, 502, 503)
TAKEN = MEMBERS[1:]


def refused():
    """One form, sent again and again until all is right."""
    status = random.choice(SICK)
    somebody = person(email=random.choice(TAKEN), postcode=postcode(ELSEWHERE), password=known_password())
    right = person()
    asked = [start(), fill(somebody), enter(), page(says("email", "email.taken"))]
    sick = [fill(somebody), enter(), page(alert("form.sick"))]
    yield Fresh("says that the server is sick", sick, before=dev(f"fail/{status}/1", "lose/1"))
    kept = [values(somebody, *TYPED, "box", "email"), page(has("#terms:checked"))]
    yield Case("keeps what was entered", kept, before=[dev(f"fail/{status}/1"), sick])
    yield Case("keeps the password", values(somebody, "password"), before=[dev(f"fail/{status}/1"), sick])
    yield Case("says that nobody has answered", enter(), page(alert("form.offline"), no_alert("form.sick")), before=[
        dev("lose/1"), fill(somebody),
    ])
    yield Case("says that an address is taken", enter(), page(says("email", "email.taken"), no_alert("form.sick", "form.offline")), before=asked)
    yield Case("goes to the first field of the page", page(focus("email")), before=asked)
    yield Case("says that it is too far", page(says("postcode", "postcode.outside")), before=asked)
    yield Case("says that a password is known", page(says("password", "password.known")), before=asked)
    yield Case("marks no others", page(silent("name", "phone", "heard", "box", "terms")), before=asked)
    yield Case("keeps all that", values(somebody, "name", "password"), page(has("#terms:checked")), before=asked)
    mended = [fill(right, ("email", "postcode", "password")), enter(), welcomed()]
    yield Case("takes it in the end", mended, before=asked)


def unreadable():
    somebody = person()
    sent = [fill(somebody), enter(), page(alert("form.offline")), values(somebody, "name", "password")]
    yield Fresh("an answer that cannot be read", sent, before=dev(f"fail/{random.choice(NOT_JSON)}/1"))
    yield Case("and then one that can", enter(), welcomed(), before=[dev("reset"), fill(somebody)])


def CASES():
    return [*refused(), *unreadable()]
