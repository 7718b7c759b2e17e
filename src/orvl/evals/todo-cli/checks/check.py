"""The hidden checks of todo-cli: python3 -I checks/check.py NAME."""

import contextlib
import json
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


def fail(sentence):
    print(sentence)
    sys.exit(1)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


class Todo:
    """A copy of todo.py in a fresh folder; it is run there, or in `here`."""

    def __init__(self, home):
        self.program = home / "todo.py"
        self.here = home
        if not os.path.isfile("todo.py"):
            fail("Expected a file todo.py, but there is none.")
        shutil.copyfile("todo.py", self.program)

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
                fail(f"Expected todo.py {ascii(list(args))} to end soon, but it ran for too long.")
            finally:
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            out.seek(0)
            err.seek(0)
            return status, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")

    def prints(self, args, *lines):
        """Expect these lines and status 0."""
        status, out, _ = self.run(*args)
        wanted = "".join(line + "\n" for line in lines)
        if (status, out) != (0, wanted):
            fail(f"Expected {ascii(wanted)} and status 0 for {ascii(args)}, saw {ascii(out[:300])} and status {status}.")

    def refuses(self, args, wanted):
        """Expect this status, a message on stderr only, and an untouched file."""
        before = self.saved()
        status, out, err = self.run(*args)
        if status != wanted or out or not err.strip() or "Traceback" in err:
            fail(
                f"Expected status {wanted} and only a message on stderr for {ascii(args)}, "
                f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
            )
        if self.saved() != before:
            fail(f"Expected todo.json to be untouched by {ascii(args)}, but it was changed.")

    @property
    def path(self):
        return self.here / "todo.json"

    def saved(self):
        """The bytes of todo.json, or None."""
        return self.path.read_bytes() if self.path.is_file() else None

    def items(self):
        """What todo.json says, as a list of (id, text, done, due)."""
        try:
            found = json.loads(self.saved() or b"")
            return [(item["id"], item["text"], item["done"], item.get("due")) for item in found]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            fail(f"Expected items in todo.json, saw {ascii((self.saved() or b'no file')[:200])}.")


def adds(todo):
    todo.prints(["add", "Water the plants"], "Added 1: Water the plants")
    todo.prints(["add", "Café \"Zoë\""], "Added 2: Café \"Zoë\"")
    todo.prints(["add", "Water the plants"], "Added 3: Water the plants")
    todo.prints(["list"], "1 [ ] Water the plants", "2 [ ] Café \"Zoë\"", "3 [ ] Water the plants")


def done(todo):
    for text in ("one", "two", "three"):
        todo.run("add", text)
    todo.prints(["done", "2"], "Done 2: two")
    todo.prints(["list"], "1 [ ] one", "2 [x] two", "3 [ ] three")
    todo.prints(["done", "2"], "Done 2: two")
    todo.prints(["done", "3"], "Done 3: three")
    todo.prints(["list"], "1 [ ] one", "2 [x] two", "3 [x] three")


def saves(todo):
    todo.here = todo.here / "elsewhere"
    todo.here.mkdir()
    todo.run("add", "Naïve plan")
    todo.run("add", "two")
    todo.run("done", "2")
    wanted = [(1, "Naïve plan", False, None), (2, "two", True, None)]
    if todo.items() != wanted:
        fail(f"Expected {ascii(wanted)} in todo.json where it was run, saw {ascii(todo.items())[:300]}.")


def due(todo):
    todo.prints(["add", "Call Bob"], "Added 1: Call Bob")
    todo.prints(["add", "File taxes", "--due", "2031-02-28"], "Added 2: File taxes")
    todo.prints(["done", "2"], "Done 2: File taxes")
    todo.prints(["list"], "1 [ ] Call Bob", "2 [x] File taxes (due 2031-02-28)")
    wanted = [(1, "Call Bob", False, None), (2, "File taxes", True, "2031-02-28")]
    if todo.items() != wanted:
        fail(f"Expected {ascii(wanted)} in todo.json, saw {ascii(todo.items())[:300]}.")


def dates(todo):
    todo.prints(["add", "Leap", "--due", "2028-02-29"], "Added 1: Leap")
    for date in ("2027-02-29", "2031-6-07", "20310607", "2031-W10-1", "07.06.2031", "2031-06-07T00:00", "never", ""):
        todo.refuses(["add", "No", "--due", date], 2)
    for date in ("2031-04-31", "31-04-01", "20310607"):
        todo.refuses(["overdue", "--today", date], 2)
    todo.prints(["list"], "1 [ ] Leap (due 2028-02-29)")


def overdue(todo):
    for text, date in (
        ("late", "2031-06-05"), ("today", "2031-06-07"), ("later", "2031-06-08"), ("first", "2030-12-31"),
        ("also late", "2031-06-05"), ("finished", "2031-01-01"),
    ):
        todo.run("add", text, "--due", date)
    todo.run("add", "no date")
    todo.run("done", "6")
    first, late, also = "4 [ ] first (due 2030-12-31)", "1 [ ] late (due 2031-06-05)", "5 [ ] also late (due 2031-06-05)"
    todo.prints(["overdue", "--today", "2031-06-07"], first, late, also)
    todo.prints(["overdue", "--today", "2030-12-31"])
    todo.run("add", "long ago", "--due", "2001-01-01")
    todo.run("add", "far away", "--due", "9999-12-31")
    _, out, _ = todo.run("overdue")
    if not out.startswith("8 [ ] long ago (due 2001-01-01)\n") or "far away" in out:
        fail(f"Expected overdue to take today's date by itself, saw {ascii(out[:200])}.")


def older(todo):
    todo.path.write_text('[{"id": 1, "text": "old", "done": true}, {"id": 2, "text": "older", "done": false}]')
    todo.prints(["list"], "1 [x] old", "2 [ ] older")
    todo.prints(["overdue", "--today", "2031-01-01"])
    todo.prints(["add", "new", "--due", "2030-01-01"], "Added 3: new")
    todo.prints(["done", "2"], "Done 2: older")
    todo.prints(["list"], "1 [x] old", "2 [x] older", "3 [ ] new (due 2030-01-01)")


def missing(todo):
    todo.prints(["list"])
    todo.prints(["overdue", "--today", "2031-01-01"])
    todo.refuses(["done", "1"], 1)
    if os.path.lexists(todo.path):
        fail("Expected list, overdue and done not to create todo.json, but it is there.")
    todo.prints(["add", "start"], "Added 1: start")


def damaged(todo):
    todo.prints(["add", "start"], "Added 1: start")
    for content in (
        b'[{"id": 1, "text": "cut o', b"", b"\xff\xfe\x00\x80", b'{"id": 1}', b"null", b'["milk"]', b'[{"id": 1}]',
    ):
        todo.path.unlink(missing_ok=True)
        todo.path.write_bytes(content)
        for args in (["list"], ["add", "more"], ["done", "1"], ["overdue", "--today", "2031-01-01"]):
            todo.refuses(args, 1)


def unknown(todo):
    todo.prints(["add", "start"], "Added 1: start")
    for given in ("7", "0", "x1", "1.0", ""):
        todo.refuses(["done", given], 1)
    todo.prints(["list"], "1 [ ] start")


CHECKS = {
    check.__name__: check
    for check in (adds, done, saves, due, dates, overdue, older, missing, damaged, unknown)
}

if __name__ == "__main__":
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            CHECKS[sys.argv[1]](Todo(Path(folder)))
    except Exception as error:
        fail(f"The check could not be carried out: {ascii(error)[:200]}.")
