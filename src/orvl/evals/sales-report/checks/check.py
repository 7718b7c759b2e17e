"""The hidden checks of sales-report: python3 checks/check.py NAME.

report.py runs in a sandbox of its own. What it prints comes from there as data and is compared here.
"""

import json
import sys

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


def products():
    write("a.csv", HEAD + "2031-05-02,Rye bread,2,3.20\n2031-05-03,Plums,10,0.45\n2031-05-04,Rye bread,1,3.20\n")
    write("empty.csv", HEAD)
    expect(
        (["a.csv"], "product,units,revenue", "Rye bread,3,9.60", "Plums,10,4.50", "TOTAL,13,14.10"),
        (["empty.csv"], "product,units,revenue", "TOTAL,0,0.00"),
    )


def order():
    rows = "".join(f"2031-05-02,{name},{count},{price}\n" for name, count, price in (
        ("beets", 1, "9.00"), ("apples", 3, "3.00"), ("celery", 1, "100"), ("dill", 2, "10.00"), ("basil", 9, "1.00"),
    ))
    write("a.csv", HEAD + rows)
    expect((
        ["a.csv"], "product,units,revenue", "celery,1,100.00", "dill,2,20.00", "apples,3,9.00", "basil,9,9.00",
        "beets,1,9.00", "TOTAL,16,147.00",
    ))


def money():
    write("cents.csv", HEAD + "2031-05-02,Gum,1,0.10\n" * 3 + "2031-05-02,Salt,3,0.335\n2031-05-02,Ice,1,0.125\n")
    write("large.csv", HEAD + "2031-05-02,Ship,1,90071992547409.93\n2031-05-02,Rope,2,1.01\n")
    expect(
        (["cents.csv"], "product,units,revenue", "Salt,3,1.01", "Gum,3,0.30", "Ice,1,0.13", "TOTAL,7,1.43"),
        (
            ["large.csv"], "product,units,revenue", "Ship,1,90071992547409.93", "Rope,2,2.02",
            "TOTAL,3,90071992547411.95",
        ),
    )


def forms():
    write("bom.csv", b"\xef\xbb\xbf" + HEAD.encode() + "2031-05-02,Crème,1,2\n".encode())
    write(
        "odd.csv",
        'till, price ,product,note,quantity,date\r\n\r\n'
        '1,4.50,"Tea, ""Dragon""","two\r\nlines",2,2031-05-02\r\n2, 1.00 ,  Jam ,,  3 , 2031-05-03 \r\n\r\n',
    )
    expect(
        (["bom.csv"], "product,units,revenue", "Crème,1,2.00", "TOTAL,1,2.00"),
        (["odd.csv"], "product,units,revenue", '"Tea, ""Dragon""",2,9.00', "Jam,3,3.00", "TOTAL,5,12.00"),
    )


def three_files():
    write("may.csv", HEAD + "2031-05-09,Plums,4,0.50\n2031-05-10,Jam,1,3.00\n2030-12-31,Plums,2,0.50\n")
    write("june.csv", "product,date,price,quantity\nJam,2031-06-01,3.50,2\nRye,2031-06-30,2.25,1\n")
    write("none.csv", HEAD)


def files():
    three_files()
    wanted = ("product,units,revenue", "Jam,3,10.00", "Plums,6,3.00", "Rye,1,2.25", "TOTAL,10,15.25")
    expect(
        (["may.csv", "june.csv", "none.csv"], *wanted),
        (["june.csv", "none.csv", "may.csv", "--by", "product"], *wanted),
    )


def months():
    three_files()
    wanted = ("month,units,revenue", "2030-12,2,1.00", "2031-05,5,5.00", "2031-06,3,9.25", "TOTAL,10,15.25")
    expect((["june.csv", "may.csv", "--by", "month"], *wanted), (["--by", "month", "may.csv", "june.csv"], *wanted))


def since():
    three_files()
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
    )


def rows():
    good = "2031-05-02,Plums,4,0.50\n"
    bad = (
        "2031-02-29,Plums,1,1.00", "20310502,Plums,1,1.00", "2031-5-2,Plums,1,1.00", "2031-05-02,Plums,1.5,1.00",
        "2031-05-02,Plums,,1.00", "2031-05-02,Plums,some,1.00", "2031-05-02,Plums,1,abc", "2031-05-02,Plums,1,NaN",
        "2031-05-02,Plums,1,1e3", "2031-05-02,  ,1,1.00", "2031-05-02,Plums,1",
    )
    write("hand.csv", HEAD + good + "\n" + "\n".join(bad) + "\n2031-05-03,Plums,-1,0.50\n")
    write("two.csv", HEAD + good + "\n".join(bad[:2]) + "\n")
    hand, two = expect(
        (["hand.csv"], "product,units,revenue", "Plums,3,1.50", "TOTAL,3,1.50"),
        (["two.csv", "two.csv"], "product,units,revenue", "Plums,8,4.00", "TOTAL,8,4.00"),
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
    used, *refused = report(["none.csv", "june.csv", "--since", "2031-06-15"], *(words for words, _ in wrong))
    if used[:2] != [0, "product,units,revenue\nRye,1,2.25\nTOTAL,1,2.25\n"]:
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
