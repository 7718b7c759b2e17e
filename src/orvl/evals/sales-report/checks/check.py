"""The hidden checks of sales-report: python3 -I checks/check.py NAME."""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DEADLINE = time.monotonic() + 50  # ends before the limit of the check does
HEAD = "date,product,quantity,price\n"


def fail(sentence):
    print(sentence)
    sys.exit(1)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


class Report:
    """A copy of report.py, run in a fresh folder with the files that are written there."""

    def __init__(self, home):
        self.here = home / "here"
        self.here.mkdir()
        self.program = home / "report.py"
        if not os.path.isfile("report.py"):
            fail("Expected a file report.py, but there is none.")
        shutil.copyfile("report.py", self.program)

    def write(self, name, content):
        content = content if isinstance(content, bytes) else content.encode()
        (self.here / name).write_bytes(content)

    def run(self, *args):
        command = [sys.executable, "-I", "-B", "-X", "utf8", str(self.program), *args]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command, cwd=self.here, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True, preexec_fn=limit_files,
            )
            try:
                status = process.wait(timeout=max(0, min(8, DEADLINE - time.monotonic())))
            except subprocess.TimeoutExpired:
                fail(f"Expected report.py {ascii(list(args))} to end soon, but it ran for too long.")
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            out.seek(0)
            err.seek(0)
            return status, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")

    def prints(self, args, *lines, status=0):
        """Expect these lines and this status; give what is on stderr."""
        seen, out, err = self.run(*args)
        wanted = "".join(line + "\n" for line in lines)
        if (seen, out) != (status, wanted):
            fail(
                f"Expected {ascii(wanted)} and status {status} for {ascii(args)}, "
                f"saw {ascii(out[:300])} and status {seen}."
            )
        return err

    def refuses(self, args, named=""):
        """Expect status 2 and a message on stderr only, with this name in it."""
        status, out, err = self.run(*args)
        if status != 2 or out or not err.strip() or "Traceback" in err or named not in err:
            fail(
                f"Expected status 2 and only a message that names {named!r} on stderr for {ascii(args)}, "
                f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
            )


def products(report):
    report.write("a.csv", HEAD + "2031-05-02,Rye bread,2,3.20\n2031-05-03,Plums,10,0.45\n2031-05-04,Rye bread,1,3.20\n")
    report.prints(["a.csv"], "product,units,revenue", "Rye bread,3,9.60", "Plums,10,4.50", "TOTAL,13,14.10")
    report.write("empty.csv", HEAD)
    report.prints(["empty.csv"], "product,units,revenue", "TOTAL,0,0.00")


def order(report):
    rows = "".join(f"2031-05-02,{name},{count},{price}\n" for name, count, price in (
        ("beets", 1, "9.00"), ("apples", 3, "3.00"), ("celery", 1, "100"), ("dill", 2, "10.00"), ("basil", 9, "1.00"),
    ))
    report.write("a.csv", HEAD + rows)
    report.prints(
        ["a.csv"], "product,units,revenue", "celery,1,100.00", "dill,2,20.00", "apples,3,9.00", "basil,9,9.00", "beets,1,9.00",
        "TOTAL,16,147.00",
    )


def money(report):
    report.write("cents.csv", HEAD + "2031-05-02,Gum,1,0.10\n" * 3 + "2031-05-02,Salt,3,0.335\n2031-05-02,Ice,1,0.125\n")
    report.prints(
        ["cents.csv"], "product,units,revenue", "Salt,3,1.01", "Gum,3,0.30", "Ice,1,0.13", "TOTAL,7,1.43",
    )
    report.write("large.csv", HEAD + "2031-05-02,Ship,1,90071992547409.93\n2031-05-02,Rope,2,1.01\n")
    report.prints(
        ["large.csv"], "product,units,revenue", "Ship,1,90071992547409.93", "Rope,2,2.02", "TOTAL,3,90071992547411.95",
    )


def forms(report):
    report.write("bom.csv", b"\xef\xbb\xbf" + HEAD.encode() + "2031-05-02,Crème,1,2\n".encode())
    report.prints(["bom.csv"], "product,units,revenue", "Crème,1,2.00", "TOTAL,1,2.00")
    report.write(
        "odd.csv",
        'till, price ,product,note,quantity,date\r\n\r\n'
        '1,4.50,"Tea, ""Dragon""","two\r\nlines",2,2031-05-02\r\n2, 1.00 ,  Jam ,,  3 , 2031-05-03 \r\n\r\n',
    )
    report.prints(["odd.csv"], "product,units,revenue", '"Tea, ""Dragon""",2,9.00', "Jam,3,3.00", "TOTAL,5,12.00")


def three_files(report):
    report.write("may.csv", HEAD + "2031-05-09,Plums,4,0.50\n2031-05-10,Jam,1,3.00\n2030-12-31,Plums,2,0.50\n")
    report.write("june.csv", "product,date,price,quantity\nJam,2031-06-01,3.50,2\nRye,2031-06-30,2.25,1\n")
    report.write("none.csv", HEAD)


def files(report):
    three_files(report)
    wanted = ("product,units,revenue", "Jam,3,10.00", "Plums,6,3.00", "Rye,1,2.25", "TOTAL,10,15.25")
    report.prints(["may.csv", "june.csv", "none.csv"], *wanted)
    report.prints(["june.csv", "none.csv", "may.csv", "--by", "product"], *wanted)


def months(report):
    three_files(report)
    wanted = ("month,units,revenue", "2030-12,2,1.00", "2031-05,5,5.00", "2031-06,3,9.25", "TOTAL,10,15.25")
    report.prints(["june.csv", "may.csv", "--by", "month"], *wanted)
    report.prints(["--by", "month", "may.csv", "june.csv"], *wanted)


def since(report):
    three_files(report)
    by_product = ("product,units,revenue", "Jam,3,10.00", "Rye,1,2.25", "TOTAL,4,12.25")
    report.prints(["--since", "2031-05-10", "may.csv", "june.csv"], *by_product)
    report.prints(
        ["--by", "month", "may.csv", "--since", "2031-05-09"], "month,units,revenue", "2031-05,5,5.00", "TOTAL,5,5.00",
    )
    report.prints(["may.csv", "--since", "2040-01-01"], "product,units,revenue", "TOTAL,0,0.00")


def rows(report):
    good = "2031-05-02,Plums,4,0.50\n"
    bad = (
        "2031-02-29,Plums,1,1.00", "20310502,Plums,1,1.00", "2031-5-2,Plums,1,1.00", "2031-05-02,Plums,1.5,1.00",
        "2031-05-02,Plums,,1.00", "2031-05-02,Plums,some,1.00", "2031-05-02,Plums,1,abc", "2031-05-02,Plums,1,NaN",
        "2031-05-02,Plums,1,1e3", "2031-05-02,  ,1,1.00", "2031-05-02,Plums,1",
    )
    report.write("hand.csv", HEAD + good + "\n" + "\n".join(bad) + "\n2031-05-03,Plums,-1,0.50\n")
    err = report.prints(["hand.csv"], "product,units,revenue", "Plums,3,1.50", "TOTAL,3,1.50", status=1).splitlines()
    for number, row in enumerate(bad, 4):
        line = err.pop(0) if err else ""
        if not line.startswith(f"hand.csv:{number}: ") or len(line) < 16:
            fail(f"Expected 'hand.csv:{number}: ...' on stderr for the row {row!r}, saw {ascii(line[:200])}.")
    if err:
        fail(f"Expected one line on stderr per bad row, saw also {ascii(err[0][:200])}.")
    report.write("two.csv", HEAD + good + "\n".join(bad[:2]) + "\n")
    err = report.prints(["two.csv", "two.csv"], "product,units,revenue", "Plums,8,4.00", "TOTAL,8,4.00", status=1)
    if [line.split(" ")[0] for line in err.splitlines()] != ["two.csv:3:", "two.csv:4:"] * 2:
        fail(f"Expected a line on stderr for each of four bad rows in order, saw {ascii(err[:200])}.")


def refuses(report):
    three_files(report)
    report.write("short.csv", "date,product,quantity\n2031-05-02,Plums,1\n")
    report.write("nothing.csv", "")
    report.write("binary.csv", HEAD.encode() + b"2031-05-02,Cr\xe8me,1,2.00\n")
    for name in ("absent.csv", "short.csv", "nothing.csv", "binary.csv"):
        report.refuses(["may.csv", name], name)
    for args in (["--since", "2031-02-30"], ["--since", "20310502"], ["--since", "May"], ["--by", "week"]):
        report.refuses(["may.csv", *args])


CHECKS = {
    check.__name__: check
    for check in (products, order, money, forms, files, months, since, rows, refuses)
}

if __name__ == "__main__":
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            CHECKS[sys.argv[1]](Report(Path(folder)))
    except Exception as error:
        fail(f"The check could not be carried out: {ascii(error)[:200]}.")
