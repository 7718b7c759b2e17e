"""A field that may be left out."""

from orvl import checks

from people import person, word
from screen import FIELDS, Case, Fresh, enter, fill, focus, has, page, says, silent, start, welcomed
from shop import expect
from texts import text

WRONG = {"phone": (lambda: f"0{word()}1", "phone.malformed"), "heard": (lambda: word(41, 41), "heard.long")}


def which():
    return str(checks.drawn()["optional"])


def the_other():
    return "heard" if which() == "phone" else "phone"


def without(field):
    return {name: value for name, value in person().items() if name != field}


def is_taken(shop, body):
    answer = shop.sign_up(body)
    expect(answer.status == 201, f"expected {body} to be taken, saw {answer}")


def is_refused(shop, body, *codes):
    answer = shop.sign_up(body)
    wanted = {(code.split(".")[0], code) for code in codes}
    expect(answer.status == 422 and answer.codes == wanted, f"expected {codes} for {body}, saw {answer}")


def left_out(shop):
    is_taken(shop, without(which()))


def empty(shop):
    is_taken(shop, person(**{which(): ""}))


def blank(shop):
    is_taken(shop, person(**{which(): "   "}))


def nothing(shop):
    is_taken(shop, person(**{which(): None}))


def wrong_all_the_same(shop):
    is_taken(shop, person(**{which(): ""}))
    make, code = WRONG[which()]
    is_refused(shop, person(**{which(): make()}), code)


def others_are_needed(shop):
    is_refused(shop, person(**{which(): "", the_other(): ""}), f"{the_other()}.missing")


SERVER = [left_out, empty, blank, nothing, wrong_all_the_same, others_are_needed]


def PAGE():
    field = which()
    make, code = WRONG[field]
    label = text("label.optional", label=text(f"label.{field}"))
    bad = {field: make()}
    sent = [fill(bad, (field,)), enter(), page(says(field, code))]
    yield Fresh("is checked if it is there", page(has(f'label:visible:has-text("{label}")')), sent, before=start())
    cleared = [f"click #{field}", "press Control+a", "press Delete", enter(), page(silent(field), says(the_other(), f"{the_other()}.missing"))]
    yield Case("and fine if it is not", cleared, before=[start(), sent])
    somebody = person()
    rest = [name for name in FIELDS if name != field]
    yield Fresh("nobody needs it", fill(somebody, rest), enter(), welcomed(), before=start())
    yield Fresh("the other one is needed", enter(), page(silent(field), says(the_other(), f"{the_other()}.missing"), focus("name")), before=start())
