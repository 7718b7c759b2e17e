"""The whole form without a mouse, and by the names that a screen reader says."""

from orvl import checks

from people import person, word
from screen import Case, fill, focus, has, label_of, page, start, tick, welcomed
from texts import text

CHAIN = ("name", "email", "phone", "postcode", "box", "heard", "password")
BOXES = ("small", "medium", "large")


def one_after_the_other(somebody):
    """By Tab from the first line to the last; each is filled in when it has the focus."""
    for last, field in zip((None, *CHAIN), CHAIN):
        to_it = "press Tab" if last else f"click {label_of('name')}"
        before = [start(), [f"click {label_of(last)}"] if last and last != "box" else [f"click {label_of('name')}"] + ["press Tab"] * 4]
        entered = [] if field == "box" else f'type "{somebody[field]}" into {text("label." + field)}'
        yield Case(f"Tab goes to {field}", to_it, page(focus(field)), entered, before=before if last else start())
        if field == "box":
            down = ["press ArrowDown"] * (1 + BOXES.index(somebody["box"]))
            yield Case("arrows choose a box", down, f"expect value {somebody['box']} in #box:focus", before=[before, to_it])


def sent(somebody):
    ticked = ["press Space", page(has("#terms:focus:checked"))]
    again = ["press Space", page(has("#terms:focus:not(:checked)")), ticked]
    filled = [start(), fill(somebody, CHAIN)]
    yield Case("Space ticks and takes it back", tick(), again, before=filled)
    button = has(f'form button:focus:has-text("{text("button.join")}")')
    yield Case("Tab goes to the button", "press Tab", page(button), before=[filled, tick()])
    arrived = page(has(f'h1:focus:has-text("{text("welcome.title")}")'), title="welcome.title")
    pressed = ["press Space", arrived]
    yield Case("Space sends it, and the focus goes on", pressed, before=[filled, tick(), "press Tab"])
    yield Case("the number is there", welcomed(), before=[filled, tick(), "press Enter"])


def named(somebody):
    """Labels are there before and after something is typed; placeholders are none."""
    labels = "".join(has(f'label:visible:has-text("{text("label." + field)}")') for field in (*CHAIN, "terms") if field != optional())
    yield Case("labels can be seen", page(labels), before=[start(), fill(somebody, CHAIN)])


def optional():
    """Its label may say so."""
    return checks.drawn()["optional"]


def CASES():
    somebody = person(name=word(60, 60), heard=word(40, 40))
    return [*one_after_the_other(somebody), *named(somebody), *sent(somebody)]
