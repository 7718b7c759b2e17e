"""A password says at once what it still lacks."""

from people import LETTERS, least, password, person, random
from screen import Case, Fresh, enter, fill, focus, has, page, says, silent, start
from cases_leaving import typed_by_key

SHORT, DIGIT, LETTER = "password.short", "password.digit", "password.letter"


def key_by_key():
    letter, digit = random.choice(LETTERS), random.choice("3456789")
    first = [typed_by_key("password", letter), page(says("password", SHORT, DIGIT), has("#password:focus"))]
    yield Fresh("one letter", first, page(silent("name", "email", "phone", "heard", "terms")), before=start())
    been = [start(), typed_by_key("password", letter)]
    yield Case("and a digit", f"press {digit}", page(says("password", SHORT), has("#password:focus")), before=been)
    last = ["press ArrowLeft", "press Backspace", page(says("password", SHORT, LETTER))]
    yield Case("and no letter", last, before=[been, f"press {digit}"])


def lengths():
    one_less, enough = password(least() - 1), password(least())
    typed = f"type {one_less} into #password"
    yield Case("one too few", typed, page(says("password", SHORT)), before=start())
    yield Case("just enough", f"type {enough} into #password", page(silent("password")), before=[start(), typed])


def signs():
    no_digit, no_letter = password(least() + 1, digits=False), password(least(), letters=False)
    yield Case("long without a digit", f"type {no_digit} into #password", page(says("password", DIGIT)), before=start())
    typed = f"type {no_letter} into #password"
    yield Case("long without a letter", typed, page(says("password", LETTER)), before=start())
    other = "ж" * (least() - 1) + "7"
    yield Case("letters of other alphabets", f"type {other} into #password", page(silent("password")), before=[start(), typed])


def after_submitting():
    sent = [enter(), page(says("password", "password.missing"), says("name", "name.missing"))]
    live = ["type 42 into #password", page(says("password", SHORT, LETTER), says("name", "name.missing"))]
    yield Fresh("after submitting, too", sent, live, before=start())
    right = [f"type {password()} into #password", page(silent("password"), says("name", "name.missing"))]
    yield Case("and it goes when it is right", right, before=[start(), enter()])
    wrong = fill(person(password="abc1"))
    yield Fresh("a wrong one is not sent", wrong, enter(), page(says("password", SHORT), focus("password")), before=start())


def CASES():
    return [*signs(), *key_by_key(), *lengths(), *after_submitting()]
