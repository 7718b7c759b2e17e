"""Nothing is said before somebody submits, and what is said then stays until they do so again."""

from people import MEMBERS, person, random, word
from cases_leaving import typed_by_key
from screen import Case, Fresh, enter, fill, focus, page, says, silent, start, tick, welcomed

QUIET = ("name", "email", "phone", "postcode", "box", "heard", "terms")


def before_submitting():
    """Beside each silence something must speak up, or a page that never says anything would be fine."""
    letters = word(2, 3)
    walk = [typed_by_key("email", letters), "press Tab", "press Tab", "press 1", "press Tab", "press Tab", page(silent(*QUIET))]
    sent = [enter(), page(says("email", "email.malformed"), says("postcode", "postcode.malformed"), says("name", "name.missing"), focus("name"))]
    yield Fresh("nothing while typing and leaving, all when sent", walk, sent, before=start())


def until_the_next_time():
    right = person()
    first = [fill({"email": word(), "postcode": "123"}, ("email", "postcode")), enter(), page(says("email", "email.malformed"))]
    mended = [fill(right, ("email",)), "press Tab", page(says("email", "email.malformed"))]
    yield Fresh("stays while it is mended", first, mended, before=start())
    done = [start(), first]
    yield Case("a list stays, too", f"choose {right['box']} in #box", "press Tab", page(says("box", "box.missing")), before=done)
    yield Case("and a tick", tick(), "press Tab", page(says("terms", "terms.missing")), before=done)
    next_time = [enter(), page(silent("email"), says("postcode", "postcode.malformed"), says("name", "name.missing"), focus("name"))]
    yield Case("until the next time", next_time, before=[done, fill(right, ("email",))])
    wrong_now = ["type abc into #email", "press Tab", page(silent("email"), says("name", "name.missing"))]
    yield Case("what has become wrong is quiet", wrong_now, before=[done, fill(right, ("email",)), enter()])
    loud = [enter(), page(says("email", "email.malformed"))]
    yield Case("until then", loud, before=[done, fill({"email": "abc"}, ("email",))])


def of_the_server():
    """Chosen and typed all over again, or the last case's page would say more."""
    right = person()
    somebody = right | {"email": random.choice(MEMBERS[1:])}
    refused = [fill(somebody), enter(), page(says("email", "email.taken"))]
    changed = [fill(right, ("email",)), "press Tab", page(says("email", "email.taken"))]
    yield Fresh("what the server says stays, too", refused, changed, before=start())
    yield Case("and goes with the next answer", enter(), welcomed(), before=[start(), fill(right)])


def CASES():
    return [*before_submitting(), *until_the_next_time(), *of_the_server()]
