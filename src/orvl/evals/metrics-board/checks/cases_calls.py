"""Calls and exports that cannot be understood: the right status, a sentence, and a folder that stays as it was."""

from orvl import checks

from build import TOKEN, built, write_all
from cases import Wrong, expect
from cases_tables import quiet, random
from tables import compare


class Desk:
    """A page that was made, and what is tried on its folder afterwards."""

    def __init__(self):
        self.tale = quiet("2026-W41")
        self.tale.refund(self.tale.order(3, hour=9, note=""), 3)
        self.tale.visit(3, 12)
        self.made = built(self.tale)
        self.working = None

    def expect_working(self):
        """A refusal is worth something only from a command that does its work otherwise."""
        if self.working is None:
            try:
                compare(self.made, self.tale, "orders", "sales", "visits")
                self.made.download()
                self.working = ""
            except Wrong as error:
                self.working = str(error)
        if self.working:
            raise Wrong(self.working)

    def content(self):
        return {path: checks.read(path) for path in checks.files() if path.startswith(f"{self.made.out}/")}

    def refused(self, status, mention="", **changes):
        self.expect_working()
        options = {"data": self.made.data, "out": self.made.out, "week": self.tale.shop.week}
        extra = changes.pop("extra", ())
        options = {name: value for name, value in (options | changes).items() if value is not None}
        before = self.content()
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        ended = checks.run("node", "build.js", *words, *extra, seconds=30)
        what = " ".join([*words, *extra])
        expect(f"status of {what}", status, ended.status)
        if not ended.stderr.strip() or mention not in ended.stderr:
            raise Wrong(f"{what}: expected a sentence with {mention!r} on stderr, saw {ended.stderr[:200]!r}")
        expect(f"names of the files after {what}", sorted(before), sorted(after := self.content()))
        if before != after:
            raise Wrong(f"{what} changed the page, though it failed")


def wrong_calls(desk):
    other = random.choice(("2026-W60", "2026-W54", "2025-W54"))
    calls = [
        ("no week", {"week": None}),
        ("no folder to write to", {"out": None}),
        ("no data", {"data": None}),
        ("unknown option", {"extra": (f"--{''.join(random.choices('bcdfg', k=6))}", "1")}),
        ("week 53 of a year of 52", {"week": random.choice(("2025-W53", "2027-W53", "2024-W53"))}),
        ("week 54 or more", {"week": other}),
        ("week 0", {"week": "2026-W00"}),
        ("no week at all", {"week": random.choice(("W12", "2026-03-16", "last", "2026-W1x"))}),
        ("data that is no folder", {"data": f"{desk.made.data}/{random.randint(100, 999)}"}),
        ("a goal that is no amount", {"extra": ("--goal", random.choice(("much", "12x", "two")))}),
    ]
    return [(name, lambda changes=changes: desk.refused(2, **changes)) for name, changes in calls]


def broken_exports(desk):
    tale = desk.tale
    files = tale.shop.files()
    orders = sorted(name for name in files if name.startswith("orders-"))[-1]

    def broken(name, change):
        """The first file of this name with a change, beside all others as they are."""

        def case():
            desk.expect_working()
            content = change(files[name])
            assert content != files[name]
            place = f"{TOKEN}/{''.join(random.choices('bcdfg', k=9))}"
            write_all(place, files | {name: content})
            desk.refused(1, name, data=place)

        return case

    def header(text):
        first, rest = text.split("\n", 1)
        return first.replace("Placed", "Sent").replace("hour", "when") + "\n" + rest

    def field(at, new, separator=","):
        def change(text):
            lines = text.split("\n")
            for number in range(len(lines) - 2, 0, -1):
                fields = lines[number].split(separator)
                if len(fields) > at and '"' not in lines[number] and fields[0] and fields[0] != "Total" and fields[0] != "Refund":
                    fields[at] = new
                    lines[number] = separator.join(fields)
                    break
            return "\n".join(lines)

        return change

    return [
        ("unknown header of orders", broken(orders, header)),
        ("unknown header of visits", broken("visits.csv", header)),
        ("an amount that is none", broken(orders, amount_of_an_order)),
        ("a time that is none", broken(orders, field(1, random.choice(("yesterday", "31/10/26"))))),
        ("a count that is none", broken("visits.csv", field(1, "many"))),
        ("a refund that is none", broken("refunds.csv", field(3, "a lot", ";"))),
    ]


def amount_of_an_order(text):
    """The amount is the last column of these exports."""
    lines = text.rstrip("\r\n").split("\r\n")
    start = lines[-1][: lines[-1].rindex(",")]
    return "\r\n".join([*lines[:-1], f"{start},n/a", ""])


def weeks_that_exist():
    weeks = [(tale, built(tale)) for tale in map(quiet, ("2026-W53", "2020-W53", "2025-W52"))]

    def case():
        for tale, made in weeks:
            compare(made, tale, "orders", "visits")

    return "weeks that exist", case


def calls():
    desk = Desk()
    return [*wrong_calls(desk), *broken_exports(desk), weeks_that_exist()]
