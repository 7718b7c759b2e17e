"""Fields are checked when somebody leaves them, until the user no longer wants it."""

from people import MEMBERS, person, random, word
from screen import Case, Fresh, enter, fill, focus, has, join_button, label_of, page, received, says, silent, start


def typed_by_key(field, letters):
    return [f"click {label_of(field)}", [f"press {letter}" for letter in letters]]


def left_wrong():
    letters = word(2, 3)
    typing = [typed_by_key("email", letters), page(silent("email", "phone", "postcode", "name"))]
    yield Fresh("nothing while typing for the first time", typing, "press Tab", page(says("email", "email.malformed")), before=start())
    been = [start(), typed_by_key("email", letters), "press Tab"]
    yield Case("nothing where nobody has been", page(silent("name", "phone", "postcode", "heard", "password")), before=been)
    yield Case("an empty field that is left", "press Tab", page(says("phone", "phone.missing"), focus("postcode")), before=been)
    mended = [f"type {word()}@{word()}.example into #email", page(silent("email"))]
    yield Case("goes as soon as it is right", mended, before=been)


def others_left():
    yield Fresh(
        "a postcode that is too short, and then is not",
        [typed_by_key("postcode", "1011"), "press Tab", page(says("postcode", "postcode.malformed"))],
        ["press Shift+Tab", "press End", "press 5", page(silent("postcode"), has("#postcode:focus"))],
        before=start(),
    )
    passwords = [typed_by_key("password", "ab"), page(silent("password")), "press Tab"]
    yield Case("a password", passwords, page(says("password", "password.short", "password.digit")), before=start())
    box = [typed_by_key("postcode", ""), "press Tab", "press Tab", page(says("box", "box.missing"))]
    chosen = ["choose medium in #box", page(silent("box"))]
    yield Case("a box that is not chosen, and then is", box, chosen, before=start())


def clicked_at_once():
    """A text that comes up by leaving a field must not move the button from under a finger."""
    somebody = person()
    bad = [fill(somebody), f"click {label_of('heard')}", "press Control+a", "press Delete", f"click {join_button()}"]
    yield Fresh("a click counts", bad, page(says("heard", "heard.missing"), focus("heard")), received(0), before=start())


def only_the_server_knows():
    taken = random.choice(MEMBERS[1:])
    somebody = person(email=taken)
    refused = [fill(somebody), enter(), page(says("email", "email.taken"))]
    yield Fresh("goes when it is changed", refused, f"type {word()}@{word()}.example into #email", page(silent("email")), before=start())


def CASES():
    return [*left_wrong(), *others_left(), *clicked_at_once(), *only_the_server_knows()]
