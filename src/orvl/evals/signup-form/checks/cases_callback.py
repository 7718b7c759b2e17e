"""The other form, which must not suffer."""

from people import random, word
from screen import Case, Fresh
from texts import text


def heading(selector=""):
    return f'expect value {text("callback.title")} in css=html{selector} h1'


def CASES():
    name, number = text("callback.name"), text("callback.number")
    at = text("label.optional", label=text("callback.when"))
    digits = f"030 {random.randint(1000000, 9999999)}"
    opened = ["open /callback", heading()]
    yield Fresh("is there", opened, f'expect text {text("callback.button")}')
    called = f'click {text("callback.button")}'
    asked = [f"type {word()} into {name}", f"type {digits} into {number}", f"type {word()} into {at}"]
    yield Case("calls", asked, called, f'expect text {text("callback.thanks")}', before=opened)
    yield Case("is empty again", f"expect no value in {name}", f"expect no value in {number}", f"expect no value in {at}", before=opened)
    kept = word()
    yield Case("wants a number", f"type {kept} into {name}", called, f'expect text {text("callback.wrong")}', before=opened)
    yield Case("keeps what was typed", f"expect value {kept} in {name}", before=[opened, f"type {kept} into {name}", called])
    yield Case("is sent by Enter", f"type {digits} into {number}", "press Enter", f'expect text {text("callback.thanks")}', before=[opened, f"type {kept} into {name}"])
    yield Fresh("leads to the other", opened, f'click {text("nav.join")}', "expect url /", f'expect text {text("signup.title")}')
    yield Fresh("fits a phone", "view phone", opened, "expect no sideways scrolling")
