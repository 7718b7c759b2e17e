"""The hidden checks of sales-report: python3 checks/check.py NAME.

report.py runs in a sandbox of its own. What it prints comes from there as data and is compared here.
"""

import sys
from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal

from orvl import checks

HEAD = "date,product,quantity,price\n"
random = checks.random()


def write(name, content):
    """A file of the till, in the folder where report.py is run."""
    checks.write(f"till/{name}", content)


def report(*calls):
    """Status, stdout and stderr of report.py for each of these lists of words."""
    if checks.read("report.py") is None:
        checks.fail("Expected a file report.py, but there is none.")
    seen = checks.calls("report.py", [checks.Call(*words, cwd="till") for words in calls], seconds=70)
    return [[ended.status, ended.stdout, ended.stderr] for ended in seen]


def expect(*wanted, status=0, more=()):
    """Grade calls by their lines and this status. What has fixed sales counts only beside made-up ones: whoever knows
    these checks by heart passes none. `more` has further complaints, one text (or none) for each of more cases."""
    seen = report(*(words for words, *_ in wanted))
    fresh, fixed = [], []
    for (words, *lines), (ended, out, _) in zip(wanted, seen, strict=True):
        right = (ended, out) == (status, "".join(line + "\n" for line in lines))
        said = "" if right else (
            f"Expected {ascii(lines)} and status {status} for {ascii(words)}, saw {ascii(out[:300])} and status {ended}."
        )
        (fresh if any(name in FRESH for name in words) else fixed).append(said)
    grade(fresh, [*fixed, *(more([err for _, _, err in seen]) if more else ())])


def grade(fresh, fixed):
    """Of each case, what is wrong with it; empty where nothing is."""
    cases = [[said] for said in fresh] + [[said, fresh[place % len(fresh)]] for place, said in enumerate(fixed)]
    for sentence in filter(None, [*fresh, *fixed]):
        print(sentence)
    passed = sum(not any(case) for case in cases)
    checks.grade(passed, len(cases))
    sys.exit(int(passed < len(cases)))


FRESH = set()


def fresh_file(name, sales, form=None):
    """A file of sales that nobody can know."""
    FRESH.add(name)
    write(name, as_csv(sales) if form is None else form)
    return name


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


def reports(makes, *options, **how):
    """Calls on files of made-up sales, with what each must print."""
    return [([fresh_file(f"new-{number}.csv", sales), *options], *added_up(sales, **how)) for number, sales in enumerate(makes)]


def products():
    write("a.csv", HEAD + "2031-05-02,Rye bread,2,3.20\n2031-05-03,Plums,10,0.45\n2031-05-04,Rye bread,1,3.20\n")
    write("empty.csv", HEAD)
    expect(
        *reports(made_up(random.randint(1, 9)) for _ in range(6)),
        (["a.csv"], "product,units,revenue", "Rye bread,3,9.60", "Plums,10,4.50", "TOTAL,13,14.10"),
        (["empty.csv"], "product,units,revenue", "TOTAL,0,0.00"),
    )


def order():
    rows = "".join(f"2031-05-02,{name},{count},{price}\n" for name, count, price in (
        ("beets", 1, "9.00"), ("apples", 3, "3.00"), ("celery", 1, "100"), ("dill", 2, "10.00"), ("basil", 9, "1.00"),
    ))
    write("a.csv", HEAD + rows)
    # Several that are worth the same.
    even = [[(day, made_up_name(), 1, "2.50") for day, *_ in made_up(5)] for _ in range(3)]
    expect(
        *reports([*([(day, name, 1, price) for day, name, _, price in made_up(9)] for _ in range(4)), *even]),
        (
            ["a.csv"], "product,units,revenue", "celery,1,100.00", "dill,2,20.00", "apples,3,9.00", "basil,9,9.00",
            "beets,1,9.00", "TOTAL,16,147.00",
        ),
    )


def money():
    write("cents.csv", HEAD + "2031-05-02,Gum,1,0.10\n" * 3 + "2031-05-02,Salt,3,0.335\n2031-05-02,Ice,1,0.125\n")
    write("large.csv", HEAD + "2031-05-02,Ship,1,90071992547409.93\n2031-05-02,Rope,2,1.01\n")
    odd = [[(*sale[:3], f"0.{random.randint(1, 999):03}5") for sale in made_up(5)] for _ in range(4)]
    huge = [[(*sale[:3], f"{random.randint(10**13, 10**14)}.{random.randint(1, 99):02}") for sale in made_up(3)] for _ in range(2)]
    expect(
        *reports([*odd, *huge]),
        (["cents.csv"], "product,units,revenue", "Salt,3,1.01", "Gum,3,0.30", "Ice,1,0.13", "TOTAL,7,1.43"),
        (
            ["large.csv"], "product,units,revenue", "Ship,1,90071992547409.93", "Rope,2,2.02",
            "TOTAL,3,90071992547411.95",
        ),
    )


def forms():
    """A byte order mark, quotes, spaces, blank lines, and columns in any order."""
    wanted = []
    for number in range(4):
        creme, tea, jam, count = f"Crème {made_up_name()}", made_up_name(), made_up_name(), random.randint(3, 99)
        bom = fresh_file(f"bom-{number}.csv", (), b"\xef\xbb\xbf" + f"{HEAD}2031-05-02,{creme},{count},2\n".encode())
        odd = fresh_file(
            f"odd-{number}.csv", (),
            'till, price ,product,note,quantity,date\r\n\r\n'
            f'1,4.50,"Tea, ""{tea}""","two\r\nlines",2,2031-05-02\r\n2, 1.00 ,  {jam} ,,  3 , 2031-05-03 \r\n\r\n',
        )
        wanted += [
            ([bom], "product,units,revenue", f"{creme},{count},{2 * count}.00", f"TOTAL,{count},{2 * count}.00"),
            ([odd], "product,units,revenue", f'"Tea, ""{tea}""",2,9.00', f"{jam},3,3.00", "TOTAL,5,12.00"),
        ]
    expect(*wanted)


def three_files():
    write("may.csv", HEAD + "2031-05-09,Plums,4,0.50\n2031-05-10,Jam,1,3.00\n2030-12-31,Plums,2,0.50\n")
    write("june.csv", "product,date,price,quantity\nJam,2031-06-01,3.50,2\nRye,2031-06-30,2.25,1\n")
    write("none.csv", HEAD)


def files():
    three_files()
    wanted = ("product,units,revenue", "Jam,3,10.00", "Plums,6,3.00", "Rye,1,2.25", "TOTAL,10,15.25")
    made = []
    for number in range(6):
        parts = [made_up(random.randint(1, 4)) for _ in range(2 + number % 2)]
        names = [fresh_file(f"part-{number}-{place}.csv", sales) for place, sales in enumerate(parts)]
        made.append((names, *added_up(sum(parts, []))))
    expect(
        *made, (["may.csv", "june.csv", "none.csv"], *wanted), (["june.csv", "none.csv", "may.csv", "--by", "product"], *wanted),
    )


def months():
    three_files()
    wanted = ("month,units,revenue", "2030-12,2,1.00", "2031-05,5,5.00", "2031-06,3,9.25", "TOTAL,10,15.25")
    expect(
        *reports([made_up(random.randint(2, 8)) for _ in range(6)], "--by", "month", by="month"),
        (["june.csv", "may.csv", "--by", "month"], *wanted), (["--by", "month", "may.csv", "june.csv"], *wanted),
    )


def since():
    three_files()
    made = []
    for number in range(6):
        sales = made_up(9)
        day, by = sorted(sales)[4][0], ("product", "month")[number % 2]
        name = fresh_file(f"new-{number}.csv", sales)
        made.append(((["--since", day, name] if number % 3 else [name, "--since", day]) + ["--by", by], *added_up(sales, by, day)))
    expect(
        *made,
        (
            ["--since", "2031-05-10", "may.csv", "june.csv"], "product,units,revenue", "Jam,3,10.00", "Rye,1,2.25",
            "TOTAL,4,12.25",
        ),
        (
            ["--by", "month", "may.csv", "--since", "2031-05-09"], "month,units,revenue", "2031-05,5,5.00",
            "TOTAL,5,5.00",
        ),
        (["may.csv", "--since", "2040-01-01"], "product,units,revenue", "TOTAL,0,0.00"),
    )


BAD_ROWS = (
    "2031-02-29,Plums,1,1.00", "20310502,Plums,1,1.00", "2031-5-2,Plums,1,1.00", "2031-05-02,Plums,1.5,1.00",
    "2031-05-02,Plums,,1.00", "2031-05-02,Plums,some,1.00", "2031-05-02,Plums,1,abc", "2031-05-02,Plums,1,NaN",
    "2031-05-02,Plums,1,1e3", "2031-05-02,  ,1,1.00", "2031-05-02,Plums,1",
)


def rows():
    """Each bad row alone, between two good ones; then all of them, and files twice."""
    wanted, places = [], []
    for number, bad in enumerate(BAD_ROWS):
        plums, count, above = made_up_name(), 2 * random.randint(2, 20), "\n" * random.randint(0, 3)
        good = f"2031-05-02,{plums},{count},0.50\n"
        name = fresh_file(f"hand-{number}.csv", (), HEAD + good + above + bad + f"\n2031-05-03,{plums},-2,0.50\n")
        wanted.append(([name], "product,units,revenue", *(f"{who},{count - 2},{count // 2 - 1}.00" for who in (plums, "TOTAL"))))
        places.append([f"{name}:{3 + len(above)}: "])
    sales = made_up(3)
    many = fresh_file("many.csv", (), as_csv(sales) + "\n".join(BAD_ROWS[:2]) + "\n")
    wanted.append(([many, many], *added_up(sales * 2)))
    places.append([f"many.csv:{line}: " for line in (5, 6, 5, 6)])

    def told(errors):
        """What is told of each, a line for each bad row."""
        for error, begins in zip(errors, places, strict=True):
            lines = error.splitlines()
            right = len(lines) == len(begins) and all(
                line.startswith(begin) and len(line) > len(begin) + 3 for line, begin in zip(lines, begins, strict=True)
            )
            yield "" if right else f"Expected lines on stderr that begin with {begins}, saw {ascii(error[:200])}."

    expect(*wanted, status=1, more=told)


def refuses():
    """Each wrong call beside one with the same files and options that is right."""
    three_files()
    write("short.csv", "date,product,quantity\n2031-05-02,Plums,1\n")
    write("nothing.csv", "")
    write("binary.csv", HEAD.encode() + b"2031-05-02,Cr\xe8me,1,2.00\n")
    names = ("absent.csv", "short.csv", "nothing.csv", "binary.csv")
    options = (["--since", "2031-02-30"], ["--since", "20310502"], ["--since", "May"], ["--by", "week"])
    wrong = [(["may.csv", name], name) for name in names] + [(["may.csv", *words], "") for words in options]
    right = []
    for number in range(4):
        sales = [("2031-06-20", made_up_name(), random.randint(2, 99), "2.25"), ("2031-06-02", made_up_name(), 3, "1.00")]
        name = fresh_file(f"new-{number}.csv", sales)
        right.append((["none.csv", name, "--since", "2031-06-15"], "".join(line + "\n" for line in added_up(sales, since="2031-06-15"))))
    seen = report(*(words for words, _ in right), *(words for words, _ in wrong))
    used = [
        "" if found[:2] == [0, text] else f"Expected a report of files that can be used, saw {ascii(found)[:300]}."
        for (_, text), found in zip(right, seen, strict=False)
    ]
    refused = [
        "" if status == 2 and not out and err.strip() and "Traceback" not in err and named in err else
        f"Expected status 2 and only a message that names {named!r} on stderr for {ascii(words)}, "
        f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
        for (words, named), (status, out, err) in zip(wrong, seen[len(right) :], strict=True)
    ]
    # A report alone is worth nothing here: turns before this one have earned it.
    cases = [[said, used[place % len(used)]] for place, said in enumerate(refused)]
    for sentence in filter(None, [*used, *refused]):
        print(sentence)
    passed = sum(not any(case) for case in cases)
    checks.grade(passed, len(cases))
    sys.exit(int(passed < len(cases)))


CHECKS = {
    check.__name__: check
    for check in (products, order, money, forms, files, months, since, rows, refuses)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()
