"""What only a browser shows. The page is made there from exports that come with the first address, and looked at by a script of the
eval's own (see `app` in eval.md); scripts of the page do not run. What that script finds right, it shows as a word that is made up."""

import base64
import json
import zlib

from orvl import checks

from build import built
from cases import Wrong
from cases_bars import net_of, visits_of
from cases_tables import random
from shop import Order, Refund, Story

SESSIONS = 2
TRAP = str(checks.drawn()["trap"])


class Look:
    """One week, and the words by which what is right can be told."""

    def __init__(self, below=()):
        letters = random.choices("bcdfghjklmnpqrstvwz", k=12)
        self.word, self.mark = "".join(letters[:6]), "".join(letters[6:])
        self.tale = small_week(below)

    @property
    def make(self):
        tale = self.tale
        asked = {"word": self.word, "mark": self.mark, "net": net_of(tale), "visits": visits_of(tale)}
        content = json.dumps([tale.shop.files(), tale.shop.week, asked], separators=(",", ":"))
        packed = base64.urlsafe_b64encode(zlib.compress(content.encode(), 9)).decode()
        return f"open /make/{packed}"

    def right(self, *names):
        """Steps that pass where the script finds these things right."""
        return [f"expect value {self.word} in css=.{self.mark}{name}" for name in names]

    def shown(self, *columns):
        """Numbers of a day in the table, as texts that can be seen; they are small, so there is one way to write them."""
        day = next(day for day in self.tale.shop.figures() if day.net > 0)
        return [f"expect text {getattr(day, column) / 100:.2f}" for column in columns]


def small_week(below):
    """As little as there can be in one address."""
    tale = Story(random, random.choice(("2026-W29", "2026-W41", "2026-W46")), trap="")
    tale.shop.trap = TRAP
    tale.shop.name = "".join(random.choices("abcdefgh", k=7)).title()
    for day in range(7):
        order = tale.order(day, hour=9, minute=0, note="")
        tale.shop.orders[-1] = Order(order.number, order.at, order.cents, "paid", "", order.file)
        if day in below:
            tale.shop.refunds.append(Refund(order.number, order.at, order.cents + random.randint(500, 30_000)))
        tale.visit(day, 12)
    return tale


class Screen:
    """What the browser shows, so that no page is loaded twice for the same."""

    def __init__(self):
        self.now = "light"

    def steps(self, view, steps):
        """Steps in a view: `light`, `dark`, `phone`, `dark phone`, or on `paper`."""
        change = []
        if view == "paper" != self.now:
            change = ["open /paper"]
        elif view != self.now:
            words, before = view.split(), self.now.split()
            change = ["view phone"] if "phone" in words and "phone" not in before else []
            scheme = "dark" if "dark" in words else "light"
            if ("dark" in words) != ("dark" in before):
                change += [f"view {scheme}", f"expect {scheme} background"]
        self.now = view
        return [*change, *steps]


def has_page(made, tale):
    """A browser takes long, and shows nothing of a page that was not made, or has no row for a day."""
    try:
        return {day.isoformat() for day in tale.shop.days} <= made.page.rows().keys()
    except Wrong:
        return False


def browsed(look, groups):
    """Cases: a view and steps in it, which follow each other in one browser. After one that fails the others get another one, a
    few times."""
    said, made = {}, built(look.tale)

    def walk():
        left = list(groups)
        for _ in range(SESSIONS if has_page(made, look.tale) else 0):
            screen = Screen()
            parts = [(name, screen.steps(view, steps)) for name, view, steps in left]
            seen = iter(checks.browse(look.make, *(step for _, steps in parts for step in steps)))
            if not left or not next(seen).passed:
                break
            for name, steps in parts:
                failed = next((step for step in [next(seen) for _ in steps] if not step.passed), None)
                said[name] = f"{failed.step} ({failed.reason})" if failed else ""
                left.pop(0)
                if failed:
                    break
        for name, _, _ in left:
            said[name] = "the page was not made, or too much of it is wrong"

    def case(name):
        def tried():
            if not said:
                walk()
            if said[name]:
                raise Wrong(said[name])

        return tried

    return [(name, case(name)) for name, _, _ in groups]


def on_screens():
    look = Look(below=(random.randint(1, 5),))
    name = look.tale.shop.name
    return browsed(look, [
        ("amounts can be read", "light", [f"expect text {name}", *look.shown("sales", "net")]),
        ("bars of Net", "light", look.right("net")),
        ("bars of Visits", "light", look.right("visits")),
        ("bars can be seen", "light", look.right("seen")),
        ("all rows can be seen", "light", look.right("rows")),
        ("texts can be read", "light", look.right("texts")),
        ("nothing fails", "light", ["expect no error", "expect no sideways scrolling", *look.right("rows")]),
        ("on a phone", "phone", ["expect no sideways scrolling", *look.shown("sales")]),
        ("bars on a phone", "phone", look.right("net", "visits")),
    ])  # fmt: skip


def light_and_dark():
    """What is right in the light counts only of a page that is dark, too."""
    look = Look()
    return browsed(look, [
        ("dark", "dark", look.shown("net")),
        ("bars in the dark", "dark", look.right("seen")),
        ("texts in the dark", "dark", look.right("texts")),
        ("all rows in the dark", "dark", look.right("rows", "net")),
        ("dark on a phone", "dark phone", ["expect dark background", "expect no sideways scrolling"]),
        ("light on a phone", "phone", look.shown("sales")),
        ("bars in the light", "phone", look.right("seen")),
        ("texts in the light", "phone", look.right("texts")),
    ])  # fmt: skip


def on_paper():
    look = Look(below=(2,))
    return browsed(look, [
        ("navigation and download on the screen", "light", look.right("guides")),
        ("no navigation", "paper", look.right("bare")),
        ("no download", "paper", look.right("linkless")),
        ("white paper", "paper", [*look.right("bare"), "expect light background"]),
        ("texts on paper", "paper", look.right("bare", "texts")),
        ("the table on paper", "paper", [*look.right("bare", "rows"), *look.shown("sales")]),
        ("bars on paper", "paper", look.right("bare", "net", "visits")),
        ("numbers at the bars", "paper", look.right("bare", "labels")),
    ])  # fmt: skip
