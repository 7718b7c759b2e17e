"""What a program does in a call that was forked for it is what it does when Python starts for it alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from orvl.checks import CALLER, OPTIONS

PROGRAMS = {
    "argparse-and-files": """
        import argparse, json
        from pathlib import Path
        parser = argparse.ArgumentParser(description=__doc__)
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser("add").add_argument("text")
        commands.add_parser("list")
        args = parser.parse_args()
        path = Path("notes.json")
        notes = json.loads(path.read_text()) if path.exists() else []
        if args.command == "add":
            path.write_text(json.dumps([*notes, args.text]))
        print(args.command, notes)
    """,
    "reads-its-input": """
        import sys
        print(repr(input("? ")), repr(sys.stdin.readline()), sys.stdin.buffer.read())
    """,
    "reads-nothing": "import sys; print(repr(sys.stdin.read()), sys.stdin.isatty()); input()",
    "prints-bytes-and-other-codes": """
        import sys
        sys.stdout.buffer.write(b"\\xff\\x00\\r\\n")
        sys.stdout.reconfigure(encoding="latin-1", newline="\\r\\n")
        print("é", sys.stdout.encoding, sys.stderr.encoding, sys.stdin.errors, sys.stderr.errors)
        print("\\udc80", file=sys.stderr)
    """,
    "ends-with-a-number": "import sys\\ndef main():\\n    print('on'); sys.exit(int(sys.argv[1]) if sys.argv[1:] else 3)\\nmain()",
    "ends-with-a-sentence": "print('on'); raise SystemExit('wrong: ' + str([1]))",
    "ends-with-nothing": "import sys; print('on'); sys.exit(None)",
    "ends-with-yes": "print('on'); exit(True)",
    "ends-with-much": "import sys; print('on'); sys.exit(300)",
    "ends-at-once": "import os; print('lost'); os._exit(4)",
    "dies-of-a-signal": "import os, signal; print('lost'); os.kill(os.getpid(), signal.SIGTERM)",
    "aborts": "import os; os.abort()",
    "is-interrupted": "print('on'); raise KeyboardInterrupt",
    "fails-in-a-chain": """
        def inner():
            raise ValueError("inner")
        def outer():
            try:
                inner()
            except ValueError as error:
                raise RuntimeError("outer") from error
        if __name__ == "__main__":
            outer()
    """,
    "fails-with-a-hook": """
        import sys, traceback
        def hook(kind, error, trace):
            print(kind.__name__, error, [frame.name for frame in traceback.extract_tb(trace)], file=sys.stderr)
        sys.excepthook = hook
        {}["x"]
    """,
    "is-no-python": "print('on'\\n",
    "warns": "import warnings\\nprint(1 is 1)\\nwarnings.warn('old', stacklevel=1)",
    "begins-with-future": "from __future__ import annotations\\ndef f(a: nothing): return 1\\nprint(f.__annotations__, f(1))",
    "has-a-coding": "# -*- coding: latin-1 -*-\\nprint('\\u00e9')",
    "knows-itself": """
        import inspect, os, sys
        import __main__
        print(__name__, __file__, __spec__, __package__, __doc__, type(__loader__).__name__, __cached__, __annotations__)
        print(sys.argv, __main__.__dict__ is globals(), sys.path[:3], sys.flags.isolated, sys.flags.utf8_mode)
        print(sorted(globals()), os.path.basename(sys.executable), sys.modules["__main__"] is __main__)
        print(os.getcwd(), inspect.getsource(inspect.getmodule(lambda: 0))[:20], sys.dont_write_bytecode)
        print(sys.orig_argv[-2:], sys.stdout.name, sys.stdin.mode, sys.stdout.line_buffering, sys.stderr.line_buffering)
        print(sys.__stdout__ is sys.stdout, sys.stdout.seekable(), sys.stdin.fileno(), sys.stdout.fileno())
    """,
    "is-pickled": """
        import dataclasses, pickle
        @dataclasses.dataclass
        class Item:
            name: str
            size: int = 2
        print(pickle.loads(pickle.dumps(Item("a"))))
    """,
    "starts-processes": """
        import multiprocessing, subprocess, sys
        def double(number):
            return 2 * number
        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(pool.map(double, [1, 2]), flush=True)
            print(subprocess.run([sys.executable, "-c", "print(1)"], capture_output=True, text=True).stdout)
            sys.stdout.flush()
            subprocess.run([sys.executable, "-I", "-c", "print('to the same place'); raise SystemExit(5)"])
    """,
    "goes-on-after-its-end": """
        import atexit, threading
        atexit.register(print, "bye")
        def late():
            threading.main_thread().join()
            print("late")
        threading.Thread(target=late).start()
        print("end")
    """,
    "cleans-up": """
        import tempfile
        class Last:
            def __del__(self):
                print("gone")
        _last, folder = Last(), tempfile.TemporaryDirectory()
        print("end")
    """,
    "leaves-files-open": """
        import sys
        left = open("left.txt", "w")
        left.write("all")
        class Holder:
            file = open("held.txt", "w")
        Holder.file.write("all")
        ring = [open("ring.txt", "w")]
        ring.append(ring)
        ring[0].write("all")
        def inner():
            file = open("inner.txt", "w")
            file.write("all")
            sys.exit(2)
        inner()
    """,
    "wraps-its-output": """
        import io, sys
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", write_through=False)
        print("wrapped")
    """,
    "closes-its-output": "import sys; print('on'); sys.stdout.close(); sys.stderr.write('still\\\\n')",
    "has-no-output": "import sys; sys.stdout = None; print('nowhere')",
    "writes-without-end": "import sys\\nwhile True:\\n    sys.stdout.write('x' * 100_000)",
    "writes-too-much-at-its-end": "import os\\nos.ftruncate(1, 4_000_000)\\nos.lseek(1, 0, 2)\\nprint('no room')",
    "has-a-deep-recursion": "def f(n):\\n    return f(n + 1)\\ntry:\\n    f(0)\\nexcept RecursionError:\\n    print('deep')",
    "counts-what-is-random": "import random, tempfile; print(len({random.random() for _ in range(9)}))",
    "keeps-nothing": """
        import builtins, json, os
        print(hasattr(json, "mark"), hasattr(builtins, "mark"), os.environ.get("MARK"), os.path.exists("mark"))
        json.mark = builtins.mark = os.environ["MARK"] = "x"
        os.chdir("/")
    """,
    "lacks-what-it-did-not-import": "import urllib, concurrent, importlib; print(hasattr(concurrent, 'futures')); urllib.parse",
    "has-strange-words": "import sys; print([ascii(word) for word in sys.argv[1:]])",
    "ignores-pipes": "import signal; print([signal.getsignal(n) for n in (signal.SIGPIPE, signal.SIGINT, signal.SIGCHLD)])",
    "has-its-signals": "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getitimer(signal.ITIMER_REAL))",
}
SET_LIMIT = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))"
"""The caller has it too."""
GIVEN = (["add", "Naïve \udc80"], ["list"], [])
INPUT = "first\r\nsecond\nthird \udcff"


def written(folder: Path, name: str) -> Path:
    text = PROGRAMS[name]
    lines = text.replace("\\n", "\n").split("\n") if not text.startswith("\n") else text.split("\n")
    program = folder / "program.py"
    code = "latin-1" if name == "has-a-coding" else "utf-8"
    program.write_bytes("\n".join(line.removeprefix("        ") for line in lines).encode(code))
    return program


def forked(
    program: Path, folders: list[Path], given: list[dict[str, object]], seconds: float = 60.0
) -> list[list[object]]:
    """Status, stdout and stderr of each call, as the caller tells them."""
    calls = json.dumps([{**call, "cwd": str(folder)} for call, folder in zip(given, folders, strict=True)])
    code = f"{Path(CALLER).read_text()}\n\nmain({str(program)!r}, {seconds}, 30.0)\n"
    done = subprocess.run([sys.executable, *OPTIONS, "-c", code], input=calls.encode(), capture_output=True, check=True)
    return [row[:3] for row in json.loads(done.stdout.splitlines()[-1])]


def started(program: Path, folder: Path, call: dict[str, object]) -> list[object]:
    """The same of a Python that starts for this call alone."""
    (folder / "in").write_bytes(str(call.get("input", "")).encode("utf-8", "surrogateescape"))
    command = [sys.executable, "-I", "-B", "-X", "utf8", str(program), *call["words"]]
    with (folder / "in").open("rb") as stdin, (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        status = subprocess.call(
            command, cwd=folder, stdin=stdin, stdout=out, stderr=err, preexec_fn=lambda: exec(SET_LIMIT), timeout=60
        )
    texts = [(folder / name).read_bytes()[:50_000].decode("utf-8", "surrogateescape") for name in ("out", "err")]
    for name in ("in", "out", "err"):
        (folder / name).unlink()
    return [status, *texts]


def left_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_forked_call_is_like_a_start_of_python(name, tmp_path):
    program = written(tmp_path, name)
    given = [{"words": words} for words in GIVEN] + [{"words": ["7"], "input": INPUT}]
    # Twice the same folder: what was written stays, and nothing else.
    places = (0, 0, 1, 2)
    real, ours = ([tmp_path / f"{kind}{place}" for place in places] for kind in ("r", "f"))
    for folder in {*real, *ours}:
        folder.mkdir()
    expected = [started(program, folder, call) for folder, call in zip(real, given, strict=True)]
    seen = forked(program, ours, given)
    for row in expected:
        row[1:] = [str(text).replace(f"{tmp_path}/r", f"{tmp_path}/f") for text in row[1:]]
    assert seen == expected
    assert [left_in(folder) for folder in ours] == [left_in(folder) for folder in real]


def test_a_call_that_takes_too_long_is_ended_and_the_others_go_on(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import sys, time\nprint(sys.argv[1], flush=True)\ntime.sleep(float(sys.argv[1]))\n")
    code = f"{Path(CALLER).read_text()}\n\nmain({str(program)!r}, 60.0, 3.0)\n"
    calls = json.dumps([{"words": [seconds]} for seconds in ("0", "90", "0")])
    done = subprocess.run([sys.executable, *OPTIONS, "-c", code], input=calls.encode(), capture_output=True, check=True)
    rows = json.loads(done.stdout.splitlines()[-1])
    assert [row[:4] for row in rows] == [[0, "0\n", "", None], [-9, "90\n", "", "time"], [0, "0\n", "", None]]


def test_a_program_that_changes_itself_is_read_again(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("print('first')\nopen(__file__, 'w').write('print(2)')\n")
    seen = forked(program, [tmp_path, tmp_path], [{"words": []}, {"words": []}])
    assert seen == [[0, "first\n", ""], [0, "2\n", ""]]


def test_a_program_that_is_not_there_says_so_in_each_call(tmp_path):
    ((status, out, err),) = forked(tmp_path / "none.py", [tmp_path], [{"words": []}])
    assert (status, out) == (2, "")
    assert "can't open file" in str(err)
