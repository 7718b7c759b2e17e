"""What is wrong stands at the fields, and the focus goes to the first of them."""

from orvl import checks

from people import AREAS, password, person, random, word
from screen import FIELDS, Case, Fresh, enter, fill, focus, has, label_of, page, received, says, silent, start

MISSING = {field: f"{field}.missing" for field in FIELDS}


def nothing_entered():
    """Each field says that it is missing."""
    sent = [f"click {label_of('name')}", "press Enter"]
    yield Case("the focus goes to the first", sent, page(says("name", "name.missing"), focus("name")), before=start())
    needed = [field for field in FIELDS[1:] if field != checks.drawn()["optional"]]
    for field in needed:
        yield Case(f"{field} is missing", page(says(field, MISSING[field])), before=[start(), enter()])
    below = "".join(has(f"#{field}-error:below(#{field}):near(#{field}, 60)") for field in ("email", "postcode", "password"))
    yield Case("texts stand below", page(below), before=[start(), enter()])


def some_entered():
    """Only what is wrong is marked, and whatever is right stays so."""
    somebody = person()
    lacking = random.choice(("short", "digit", "letter"))
    wrong = {
        "short": (password(4), "password.short"),
        "digit": (password(14, digits=False), "password.digit"),
        "letter": (password(14, letters=False), "password.letter"),
    }
    bad = {
        "name": f"{word(61, 61)}",
        "email": random.choice((f"{word()}@{word()}", f"{word()}.example", f"{word()}@{word()}.x")),
        "phone": random.choice(("123456", f"0{word()}1234567", "+49 30 1234567890123")),
        "postcode": random.choice(("1011", "101156", f"{random.choice(AREAS)}12o")),
        "heard": word(41, 41),
        "password": wrong[lacking][0],
    }
    first = [fill(somebody, ("name", "email", "heard")), fill(bad, ("phone", "postcode")), enter()]
    yield Fresh(
        "the focus goes to the first that is wrong",
        first,
        page(says("phone", "phone.malformed"), says("postcode", "postcode.malformed"), focus("phone")),
        before=start(),
    )
    yield Case("what is right is not marked", page(silent("name", "email", "heard")), before=[start(), first])
    second = [fill(bad, ("name", "email", "heard", "password")), fill(somebody, ("phone",)), enter()]
    yield Case(
        "long names and odd addresses",
        second,
        page(says("name", "name.long"), says("email", "email.malformed"), says("heard", "heard.long"), focus("name")),
        before=start(),
    )
    yield Case("a password lacks one thing", page(says("password", wrong[lacking][1])), before=[start(), second])
    short = random.choice(("ab", "x", "qwe"))
    yield Case(
        "a password lacks two things",
        [f"type {short} into #password", enter()],
        page(says("password", "password.short", "password.digit")),
        before=start(),
    )
    yield Case("nothing was sent", received(0), before=[start(), enter(), page(says("name", "name.missing"))])


def CASES():
    return [*nothing_entered(), *some_entered()]
