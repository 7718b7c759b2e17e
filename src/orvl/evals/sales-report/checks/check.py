"""The hidden checks of sales-report: python3 checks/check.py NAME.

report.py runs in a sandbox of its own. What it prints comes from there as data and is compared here.
"""

import json
import random
import sys
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal

from orvl import checks

HEAD = "date,product,quantity,price\n"

# Runs beside report.py: it knows what to call it with, not what is right.
CALL = """
import json, os, resource, subprocess, sys, tempfile
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))  # for what never stops printing
program, seen = os.path.abspath("report.py"), []
for words in json.load(sys.stdin):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        command = [sys.executable, "-I", "-B", "-X", "utf8", program, *words]
        status = subprocess.call(command, cwd="till", stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=8)
        out.seek(0), err.seek(0)
        seen.append([status, *(file.read(20000).decode("utf-8", "replace") for file in (out, err))])
print("\\n" + json.dumps(seen))
"""


def write(name, content):
    """A file of the till, in the folder where report.py is run."""
    checks.write(f"till/{name}", content)


def report(*calls):
    """Status, stdout and stderr of report.py for each of these lists of words."""
    if checks.read("report.py") is None:
        checks.fail("Expected a file report.py, but there is none.")
    ended = checks.run("python3", "-I", "-B", "-X", "utf8", "-c", CALL, input=json.dumps(calls), seconds=50)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        seen = None
    if not isinstance(seen, list) or len(seen) != len(calls):
        checks.fail(f"Expected report.py to end by itself {len(calls)} times, but it did not.")
    return seen


def expect(*wanted, status=0):
    """Expect of each of these calls its lines and this status; give what each writes on stderr."""
    seen = report(*(words for words, *_ in wanted))
    for (words, *lines), (ended, out, _) in zip(wanted, seen, strict=True):
        if (ended, out) != (status, "".join(line + "\n" for line in lines)):
            checks.fail(
                f"Expected {ascii(lines)} and status {status} for {ascii(words)}, saw {ascii(out[:300])} and status {ended}."
            )
    return [err for _, _, err in seen]


def made_up(count):
    """Sales that nobody can know: a program that knows these checks passes none."""
    names = [made_up_name() for _ in range(3)]
    days = (f"2031-{random.randint(5, 8):02}-{random.randint(1, 28):02}" for _ in range(count))
    return [(day, random.choice(names), random.randint(1, 40), f"{random.randint(1, 999) / 4:.2f}") for day in days]


def made_up_name():
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=7)).capitalize()


def as_csv(sales):
    return HEAD + "".join(f"{day},{name},{count},{price}\n" for day, name, count, price in sales)


def added_up(sales, by="product", since=""):
    """The report of these sales."""
    units, revenue = defaultdict(int), defaultdict(Decimal)
    for day, name, count, price in sales:
        if day >= since:
            for key in (name if by == "product" else day[:7], "TOTAL"):
                units[key] += count
                revenue[key] += count * Decimal(price)
    keys = sorted(set(units) - {"TOTAL"}, key=lambda key: (by == "product" and -revenue[key], key))
    cent = Decimal("0.01")
    sums = [f"{key},{units[key]},{revenue[key].quantize(cent, ROUND_HALF_UP)}" for key in (*keys, "TOTAL")]
    return [f"{by},units,revenue", *sums]


def products():
    sales = made_up(6)
    write("new.csv", as_csv(sales))
    write("a.csv", HEAD + "2031-05-02,Rye bread,2,3.20\n2031-05-03,Plums,10,0.45\n2031-05-04,Rye bread,1,3.20\n")
    write("empty.csv", HEAD)
    expect(
        (["a.csv"], "product,units,revenue", "Rye bread,3,9.60", "Plums,10,4.50", "TOTAL,13,14.10"),
        (["empty.csv"], "product,units,revenue", "TOTAL,0,0.00"),
        (["new.csv"], *added_up(sales)),
    )


def order():
    sales = [(day, name, 1, price) for day, name, _, price in made_up(9)]
    write("new.csv", as_csv(sales))
    rows = "".join(f"2031-05-02,{name},{count},{price}\n" for name, count, price in (
        ("beets", 1, "9.00"), ("apples", 3, "3.00"), ("celery", 1, "100"), ("dill", 2, "10.00"), ("basil", 9, "1.00"),
    ))
    write("a.csv", HEAD + rows)
    expect(
        (
            ["a.csv"], "product,units,revenue", "celery,1,100.00", "dill,2,20.00", "apples,3,9.00", "basil,9,9.00",
            "beets,1,9.00", "TOTAL,16,147.00",
        ),
        (["new.csv"], *added_up(sales)),
    )


def money():
    sales = [(*sale[:3], f"0.{random.randint(1, 999):03}5") for sale in made_up(5)]
    write("new.csv", as_csv(sales))
    write("cents.csv", HEAD + "2031-05-02,Gum,1,0.10\n" * 3 + "2031-05-02,Salt,3,0.335\n2031-05-02,Ice,1,0.125\n")
    write("large.csv", HEAD + "2031-05-02,Ship,1,90071992547409.93\n2031-05-02,Rope,2,1.01\n")
    expect(
        (["cents.csv"], "product,units,revenue", "Salt,3,1.01", "Gum,3,0.30", "Ice,1,0.13", "TOTAL,7,1.43"),
        (
            ["large.csv"], "product,units,revenue", "Ship,1,90071992547409.93", "Rope,2,2.02",
            "TOTAL,3,90071992547411.95",
        ),
        (["new.csv"], *added_up(sales)),
    )


def forms():
    creme, tea, jam, count = f"Crème {made_up_name()}", made_up_name(), made_up_name(), random.randint(3, 99)
    write("bom.csv", b"\xef\xbb\xbf" + f"{HEAD}2031-05-02,{creme},{count},2\n".encode())
    write(
        "odd.csv",
        'till, price ,product,note,quantity,date\r\n\r\n'
        f'1,4.50,"Tea, ""{tea}""","two\r\nlines",2,2031-05-02\r\n2, 1.00 ,  {jam} ,,  3 , 2031-05-03 \r\n\r\n',
    )
    expect(
        (["bom.csv"], "product,units,revenue", f"{creme},{count},{2 * count}.00", f"TOTAL,{count},{2 * count}.00"),
        (["odd.csv"], "product,units,revenue", f'"Tea, ""{tea}""",2,9.00', f"{jam},3,3.00", "TOTAL,5,12.00"),
    )


def three_files():
    write("may.csv", HEAD + "2031-05-09,Plums,4,0.50\n2031-05-10,Jam,1,3.00\n2030-12-31,Plums,2,0.50\n")
    write("june.csv", "product,date,price,quantity\nJam,2031-06-01,3.50,2\nRye,2031-06-30,2.25,1\n")
    write("none.csv", HEAD)


def files():
    three_files()
    sales, more = made_up(4), made_up(3)
    write("new.csv", as_csv(sales))
    write("more.csv", as_csv(more))
    wanted = ("product,units,revenue", "Jam,3,10.00", "Plums,6,3.00", "Rye,1,2.25", "TOTAL,10,15.25")
    expect(
        (["may.csv", "june.csv", "none.csv"], *wanted),
        (["june.csv", "none.csv", "may.csv", "--by", "product"], *wanted),
        (["new.csv", "more.csv"], *added_up(sales + more)),
    )


def months():
    three_files()
    sales = made_up(6)
    write("new.csv", as_csv(sales))
    wanted = ("month,units,revenue", "2030-12,2,1.00", "2031-05,5,5.00", "2031-06,3,9.25", "TOTAL,10,15.25")
    expect(
        (["june.csv", "may.csv", "--by", "month"], *wanted), (["--by", "month", "may.csv", "june.csv"], *wanted),
        (["new.csv", "--by", "month"], *added_up(sales, by="month")),
    )


def since():
    three_files()
    sales = made_up(9)
    day = sorted(sales)[4][0]
    write("new.csv", as_csv(sales))
    expect(
        (
            ["--since", "2031-05-10", "may.csv", "june.csv"], "product,units,revenue", "Jam,3,10.00", "Rye,1,2.25",
            "TOTAL,4,12.25",
        ),
        (
            ["--by", "month", "may.csv", "--since", "2031-05-09"], "month,units,revenue", "2031-05,5,5.00",
            "TOTAL,5,5.00",
        ),
        (["may.csv", "--since", "2040-01-01"], "product,units,revenue", "TOTAL,0,0.00"),
        (["new.csv", "--since", day], *added_up(sales, since=day)),
    )


def rows():
    plums, count = made_up_name(), 2 * random.randint(2, 20)
    good = f"2031-05-02,{plums},{count},0.50\n"
    bad = (
        "2031-02-29,Plums,1,1.00", "20310502,Plums,1,1.00", "2031-5-2,Plums,1,1.00", "2031-05-02,Plums,1.5,1.00",
        "2031-05-02,Plums,,1.00", "2031-05-02,Plums,some,1.00", "2031-05-02,Plums,1,abc", "2031-05-02,Plums,1,NaN",
        "2031-05-02,Plums,1,1e3", "2031-05-02,  ,1,1.00", "2031-05-02,Plums,1",
    )
    write("hand.csv", HEAD + good + "\n" + "\n".join(bad) + f"\n2031-05-03,{plums},-2,0.50\n")
    write("two.csv", HEAD + good + "\n".join(bad[:2]) + "\n")
    hand, two = expect(
        (["hand.csv"], "product,units,revenue", *(f"{name},{count - 2},{count // 2 - 1}.00" for name in (plums, "TOTAL"))),
        (["two.csv", "two.csv"], "product,units,revenue", *(f"{name},{2 * count},{count}.00" for name in (plums, "TOTAL"))),
        status=1,
    )
    lines = hand.splitlines()
    for number, row in enumerate(bad, 4):
        line = lines.pop(0) if lines else ""
        if not line.startswith(f"hand.csv:{number}: ") or len(line) < 16:
            checks.fail(f"Expected 'hand.csv:{number}: ...' on stderr for the row {row!r}, saw {ascii(line[:200])}.")
    if lines:
        checks.fail(f"Expected one line on stderr per bad row, saw also {ascii(lines[0][:200])}.")
    if [line.split(" ")[0] for line in two.splitlines()] != ["two.csv:3:", "two.csv:4:"] * 2:
        checks.fail(f"Expected a line on stderr for each of four bad rows in order, saw {ascii(two[:200])}.")


def refuses():
    three_files()
    write("short.csv", "date,product,quantity\n2031-05-02,Plums,1\n")
    write("nothing.csv", "")
    write("binary.csv", HEAD.encode() + b"2031-05-02,Cr\xe8me,1,2.00\n")
    names = ("absent.csv", "short.csv", "nothing.csv", "binary.csv")
    options = (["--since", "2031-02-30"], ["--since", "20310502"], ["--since", "May"], ["--by", "week"])
    wrong = [(["may.csv", name], name) for name in names] + [(["may.csv", *words], "") for words in options]
    # The same files and options are fine where nothing is wrong with them.
    sales = [("2031-06-20", made_up_name(), random.randint(2, 99), "2.25"), ("2031-06-02", made_up_name(), 3, "1.00")]
    write("new.csv", as_csv(sales))
    used, *refused = report(["none.csv", "new.csv", "--since", "2031-06-15"], *(words for words, _ in wrong))
    if used[:2] != [0, "".join(line + "\n" for line in added_up(sales, since="2031-06-15"))]:
        checks.fail(f"Expected a report of files that can be used, saw {ascii(used)[:300]}.")
    for (words, named), (status, out, err) in zip(wrong, refused, strict=True):
        if status != 2 or out or not err.strip() or "Traceback" in err or named not in err:
            checks.fail(
                f"Expected status 2 and only a message that names {named!r} on stderr for {ascii(words)}, "
                f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
            )


CHECKS = {
    check.__name__: check
    for check in (products, order, money, forms, files, months, since, rows, refuses)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()
