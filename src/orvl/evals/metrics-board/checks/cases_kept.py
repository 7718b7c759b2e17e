"""What was there and must stay: the mail and the stock list, byte by byte, and what has nothing to do with the page."""

import hashlib
import json
from pathlib import Path

from orvl import checks

from cases import Wrong, expect
from cases_tables import big_amounts, clocks, exported_again, in_the_middle, line_breaks, odd_notes, old_header, random, taken_back, visited

HERE = Path(__file__).parent
ORIGINAL = HERE / "original"
_old = "".join(random.choices("bcdfghklmn", k=8))


def lay_original():
    for path in ORIGINAL.rglob("*.js"):
        checks.write(f"{_old}/{path.relative_to(ORIGINAL)}", path.read_bytes())


def both(program, *words):
    """What it said at first, and what it says now."""
    before, now = (checks.run("node", f"{place}{program}", *words, seconds=30) for place in (f"{_old}/", ""))
    if before.status is None or before.cut:
        raise Wrong(f"{program} as it was ended with {before.cut}")
    return (before.status, before.stdout_bytes, before.stderr_bytes), (now.status, now.stdout_bytes, now.stderr_bytes)


def mail_case(name, tell):
    def case():
        tale = tell()
        place = f"{_old}/data-{name.replace(' ', '-')}"
        for file, content in tale.shop.files().items():
            checks.write(f"{place}/{file}", content)
        before, now = both("mail.js", "--data", place, "--week", tale.shop.week)
        if before[0] != 0 or len(before[1]) < 200:
            raise Wrong(f"the mail as it was ended with {before[0]}")
        expect(f"the mail, {name}", before, now)

    return name, case


def stock_case(number):
    def case():
        rows = ["article,supplier,stock,minimum,box"]
        for at in random.sample(range(100, 999), 12):
            article = f"Tea {at}"
            rows += [f"{article},Roy,{random.randint(0, 60)},{random.randint(10, 60)},{random.randint(2, 24)}"] * random.randint(1, 2)
        checks.write(f"{_old}/stock-{number}/stock.csv", "\n".join([*rows, ""]))
        expect("the stock list", *both("stock.js", "--data", f"{_old}/stock-{number}"))

    return f"stock {number}", case


def mail_stays():
    lay_original()
    weeks = [line_breaks, odd_notes, in_the_middle, exported_again, taken_back, big_amounts, old_header]
    cases = [mail_case(tell.__name__.replace("_", " "), tell) for tell in weeks]
    cases += [mail_case(f"clocks {month}", lambda month=month: clocks(month)) for month in (3, 10)]
    cases += [mail_case("next year", lambda: visited(week="2027-W06"))]
    wrong = lambda: expect("a wrong week", *both("mail.js", "--data", "data", "--week", f"W{random.randint(10, 52)}"))
    return [*cases, stock_case(1), stock_case(2), ("a wrong week", wrong)]


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
