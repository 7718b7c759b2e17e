"""What was there and must stay: the mail and the stock list, byte by byte, and what has nothing to do with the page."""

import hashlib
import json
from pathlib import Path

from orvl import checks

from build import write_all
from cases import Wrong, expect
from cases_tables import big_amounts, clocks, exported_again, in_the_middle, line_breaks, odd_notes, old_header, random, taken_back, visited
from runs import run_all

HERE = Path(__file__).parent
ORIGINAL = HERE / "original"
_old = "".join(random.choices("bcdfghklmn", k=8))


def lay_original():
    for path in ORIGINAL.rglob("*.js"):
        checks.write(f"{_old}/{path.relative_to(ORIGINAL)}", path.read_bytes())


class Both:
    """Calls of a program as it was and as it is, all of them made when the first is looked at."""

    def __init__(self):
        self.commands, self.ended = [], []

    def same(self, what, program, *words):
        at = len(self.commands)
        self.commands += [("node", f"{place}{program}", *words) for place in (f"{_old}/", "")]

        def case():
            if not self.ended:
                self.ended = run_all(f"{_old}/said", self.commands)
            before, now = self.ended[at : at + 2]
            if before.status not in (0, 2) or len(before.stdout + before.stderr) < 10:
                raise Wrong(f"{program} as it was ended with {before.status}")
            expect(what, before, now)

        return what, case

    def mail(self, name, tale):
        place = f"{_old}/mail-{len(self.commands)}"
        write_all(place, tale.shop.files())
        return self.same(name, "mail.js", "--data", place, "--week", tale.shop.week)

    def stock(self):
        rows = ["article,supplier,stock,minimum,box"]
        for at in random.sample(range(100, 999), 12):
            for _ in range(random.randint(1, 2)):
                rows.append(f"Tea {at},Roy,{random.randint(0, 60)},{random.randint(10, 60)},{random.randint(2, 24)}")
        place = f"{_old}/stock-{len(self.commands)}"
        checks.write(f"{place}/stock.csv", "\n".join([*rows, ""]))
        return self.same("the stock list", "stock.js", "--data", place)


def mail_stays():
    lay_original()
    both = Both()
    weeks = [line_breaks, odd_notes, in_the_middle, exported_again, taken_back, big_amounts, old_header]
    return [
        *(both.mail(f"the mail, {tell.__name__}", tell()) for tell in weeks),
        *(both.mail(f"the mail, clocks {month}", clocks(month)) for month in (3, 10)),
        both.mail("the mail of next year", visited(week="2027-W06")),
        both.stock(),
        both.stock(),
        both.same("the mail of a wrong week", "mail.js", "--data", "data", "--week", f"W{random.randint(10, 52)}"),
    ]


def rest_stays():
    """Files that are nobody's business here, by the sums of what they held."""
    sums = json.loads((HERE / "sums.json").read_text())
    sums = sums["all"] | sums[str(checks.drawn()["trap"])]

    def one(path, wanted):
        def case():
            content = checks.read(path)
            expect(f"{path} as it was", wanted, content and hashlib.sha256(content).hexdigest()[:24])

        return path, case

    return [one(path, wanted) for path, wanted in sums.items()]
