"""A password says at once what it still lacks."""

from people import LETTERS, least, password, person, random
from screen import Case, Fresh, enter, fill, focus, has, page, says, silent, start
from cases_leaving import typed_by_key

SHORT, DIGIT, LETTER = "password.short", "password.digit", "password.letter"


def key_by_key():
    letter, digit = random.choice(LETTERS), random.choice("3456789")
    first = [typed_by_key("password", letter), page(says("password", SHORT, DIGIT), has("#password:focus"))]
    yield Fresh("one letter", first, page(silent("name", "email", "phone", "heard", "terms")), before=start())
    yield Case("and a digit", f"press {digit}", page(says("password", SHORT), has("#password:focus")), before=[start(), typed_by_key("password", letter)])
    yield Case("and no letter", "press ArrowLeft", "press Backspace", page(says("password", SHORT, LETTER)), before=[
        start(), typed_by_key("password", letter + digit),
    ])


def boundaries():
    one_less, enough = password(least() - 1), password(least())
    yield Case("one too few", f"type {one_less} into #password", page(says("password", SHORT)), before=start())
    yield Case("just enough", f"type {enough} into #password", page(silent("password")), before=[
        start(), f"type {one_less} into #password",
    ])
    no_digit = password(least() + 1, digits=False)
    yield Case("long without a digit", f"type {no_digit} into #password", page(says("password", DIGIT)), before=start())
    no_letter = password(least(), letters=False)
    yield Case("long without a letter", f"type {no_letter} into #password", page(says("password", LETTER)), before=start())
    other = "ж" * (least() - 1) + "7"
    yield Case("letters of other alphabets", f"type {other} into #password", page(silent("password")), before=[start(), f"type {no_letter} into #password"])


def after_submitting():
    sent = [enter(), page(says("password", "password.missing"), says("name", "name.missing"))]
    digits = "42"
    yield Fresh("after submitting, too", sent, f"type {digits} into #password", page(says("password", SHORT, LETTER), says("name", "name.missing")), before=start())
    good = password()
    yield Case("and it goes when it is right", f"type {good} into #password", page(silent("password"), says("name", "name.missing")), before=[start(), enter()])
    yield Case("a wrong one is not sent", fill(person(password="abc1")), enter(), page(says("password", SHORT), focus("password")), before=start())


def CASES():
    cases = [*key_by_key(), *boundaries(), *after_submitting()]
    cases[-1] = Fresh(cases[-1].name, *cases[-1].steps, before=cases[-1].before)
    return cases
