"""The hidden checks of hello-world: python3 -I checks/check.py NAME."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath("hello.py")
DEADLINE = time.monotonic() + 20  # ends before the limit of the check does


def fail(sentence):
    print(sentence)
    sys.exit(1)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


def hello(*names):
    """Run hello.py in a folder of its own; give its status, stdout and stderr."""
    if not os.path.isfile(PROGRAM):
        fail("Expected a file hello.py, but there is none.")
    command = [sys.executable, "-I", "-B", "-X", "utf8", PROGRAM, *names]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True, preexec_fn=limit_files,
        )
        try:
            status = process.wait(timeout=max(0, min(8, DEADLINE - time.monotonic())))
        except subprocess.TimeoutExpired:
            fail(f"Expected hello.py {ascii(list(names))} to end soon, but it ran for too long.")
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")


def greets(names, who):
    status, out, _ = hello(*names)
    wanted = "".join(f"Hello, {name}!\n" for name in who)
    if (status, out) != (0, wanted):
        fail(f"Expected {ascii(wanted)} and status 0 for {ascii(names)}, saw {ascii(out[:200])} and status {status}.")


def refuses(names):
    status, out, err = hello(*names)
    if status != 2 or out or not err.strip() or "Traceback" in err:
        fail(
            f"Expected status 2 and only a short message on stderr for {ascii(names)}, "
            f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
        )


def world():
    greets([], ["world"])


def name():
    greets(["Linus"], ["Linus"])


def several():
    greets(["Margaret", "Barbara", "Alan", "Barbara"], ["Margaret", "Barbara", "Alan", "Barbara"])


def odd():
    for given in (["Jean  Luc"], ["Søren"], ["-h"], ["--help", "o'Neil"], ["%s {0} \\n"]):
        greets(given, given)


def empty():
    refuses([""])


def nobody():
    for given in (["Linus", ""], ["", "Linus"], ["Linus", "   ", "Alan"]):
        refuses(given)


CHECKS = {"world": world, "name": name, "several": several, "odd": odd, "empty": empty, "nobody": nobody}

if __name__ == "__main__":
    try:
        CHECKS[sys.argv[1]]()
    except Exception as error:
        fail(f"The check could not be carried out: {ascii(error)[:200]}.")
