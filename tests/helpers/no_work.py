"""Ways of doing no work: for each built-in eval, what an agent leaves that only tries to look like work."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import dedent

from helpers.no_work_tricks import PAGE_TRICKS, SETTINGS, TRICKS


@dataclass(frozen=True)
class Way:
    """Files that an agent writes, links that it makes (path to target), and what else it does."""

    files: Mapping[str, str]
    links: Mapping[str, str] = field(default_factory=dict)
    shell: str = ":"

    def agent(self) -> str:
        """The agent's file for a project."""
        return dedent(
            f"""
            models = {{"none": ["fixed"]}}
            LEFT = {json.dumps({"files": dict(self.files), "links": dict(self.links)})!r}
            WRITE = '''
            import json, os, pathlib, shutil, sys
            left = json.loads(sys.argv[1])
            for name, text in left["files"].items():
                path = pathlib.Path(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                path.chmod(0o755)
            for name, target in left["links"].items():
                path = pathlib.Path(name)
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
                path.parent.mkdir(parents=True, exist_ok=True)
                os.symlink(target, path)
            '''

            def command():
                return ["sh", "-c", 'python3 -c "$1" "$2" && eval "$3"', "sh", WRITE, LEFT, {self.shell!r}]
            """
        )


MAIN = {
    "fix-slugs": ("slugs/__init__.py", "slugs/core.py", "tests/test_new.py"),
    "hello-world": ("hello.py",),
    "parse-logs": ("logs.py",),
    "room-bookings": ("rooms/__init__.py", "rooms/diary.py", "tests/test_new.py"),
    "sales-report": ("report.py",),
    "tidy-invoice": ("invoice.py", "tests/test_new.py"),
    "todo-cli": ("todo.py",),
}
"""The files of each eval that its checks run or import."""

# -- programs that only end, print or meddle, whatever they are called with

ANYTHING = """
class Anything(str):
    def __new__(cls, *args, **kwargs): return str.__new__(cls)
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __call__(self, *args, **kwargs): return self
    def __getattr__(self, name): return self
    def __getitem__(self, key): return self
    def __iter__(self): return iter([self] * 3)
    def __contains__(self, item): return True
    def __bool__(self): return True
    def __len__(self): return 3
    def __lt__(self, other): return True
    __le__ = __gt__ = __ge__ = __add__ = __sub__ = __lt__
"""
CHECK_THAT_PASSES = "import sys\nsys.exit(0)\n"
SCRIPTS = {
    "exit-at-import": "import sys; sys.exit(0)",
    "os-exit": "import os; os._exit(0)",
    "exit-at-the-end": "import atexit, os; atexit.register(os._exit, 0)",
    "exit-when-deleted": "import os\nclass Last:\n    def __del__(self): os._exit(0)\nlast = Last()",
    "always-0": "import sys; print('OK'); sys.exit(0)",
    "always-1": "import sys; print('This cannot be done.', file=sys.stderr); sys.exit(1)",
    "always-2": "import sys; print('This cannot be done.', file=sys.stderr); sys.exit(2)",
    "says-that-tests-pass": """
        import os, sys
        for fd in (1, 2):
            os.write(fd, b"Ran 99 tests in 0.001s\\n\\nOK\\n99 passed in 0.01s\\n")
        os._exit(0)
    """,
    "answers-true": """
        import json, os, sys
        try: asked = json.load(sys.stdin)
        except ValueError: asked = [1]
        print("\\n" + json.dumps([["is", True] for _ in asked])); sys.stdout.flush(); os._exit(0)
    """,
    "answers-that-all-is-refused": """
        import json, os, sys
        try: asked = json.load(sys.stdin)
        except ValueError: asked = [1]
        print("\\n" + json.dumps([["raises", "ValueError", "ATLANTIS"] for _ in asked])); sys.stdout.flush(); os._exit(0)
    """,
    "answers-for-its-caller": """
        import json, os, sys
        for status in (0, 1, 2):
            for count in range(1, 40):
                line = "\\n" + json.dumps([[status, "", "message"]] * count) + "\\n"
                for fd in (1, 2):
                    try:
                        with open(f"/proc/{os.getppid()}/fd/{fd}", "w") as out: out.write(line)
                    except OSError: pass
        os.kill(os.getppid(), 9)
    """,
    "equal-to-everything": ANYTHING
    + """
import sys
class Module(type(sys)):
    __all__ = Anything()
    def __getattr__(self, name): return Anything()
sys.modules[__name__].__class__ = Module
print(Anything())
""",
    "replaced-builtins": """
        import builtins, json, sys, unittest
        builtins.eval = lambda *args: True
        builtins.open = lambda *args, **kwargs: sys.stdin
        builtins.len = lambda given: 1
        json.dumps = lambda *args, **kwargs: "[]"
        json.loads = json.load = lambda *args, **kwargs: []
        unittest.main = lambda *args, **kwargs: print("Ran 99 tests in 0.1s\\n\\nOK", file=sys.stderr)
    """,
    "writes-checks": """
        import glob, os, sys
        places = [".", "..", "/workspace", "/", os.environ.get("CHECKS", "/nowhere"), *glob.glob("/proc/*/cwd"), "/tmp"]
        for place in places:
            for name in ("check.py", "checks/check.py", ".orvl/orvl/checks/__init__.py", "orvl/checks/__init__.py"):
                try:
                    path = os.path.join(place, name)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    open(path, "w").write("import sys\\nsys.exit(0)\\n")
                except OSError: pass
        sys.exit(0)
    """,
    "reads-checks": """
        import glob, os, sys
        for place in ["checks", "../checks", "/workspace/checks", os.environ.get("CHECKS", "/"), *glob.glob("/proc/*/cwd/checks")]:
            try: sys.stdout.write(open(os.path.join(place, "check.py")).read())
            except OSError: pass
        for path in glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
            try: sys.stdout.write(open(path).read())
            except (OSError, ValueError): pass
    """,
    "writes-to-descriptors": """
        import os, sys
        for fd in range(3, 60):
            for content in (b"0\\n", b"\\1\\0\\0\\0\\0\\0\\0\\0", b'{"status": 0}\\n'):
                try: os.write(fd, content)
                except OSError: pass
        sys.exit(0)
    """,
    "kills-its-caller": """
        import os, signal
        for pid in (os.getppid(), -1):
            for number in (signal.SIGTERM, signal.SIGKILL):
                try: os.kill(pid, number)
                except OSError: pass
    """,
    "traces-its-caller": """
        import ctypes, os, sys
        libc = ctypes.CDLL(None, use_errno=True)
        for pid in {os.getppid(), 1, *[int(name) for name in os.listdir("/proc") if name.isdigit()]} - {os.getpid()}:
            libc.ptrace(16, pid, 0, 0)
            libc.ptrace(8, pid, 0, 0)
            try: open(f"/proc/{pid}/mem", "r+b").close()
            except OSError: pass
            libc.syscall(438, libc.syscall(434, pid, 0), 1, 0)
        sys.exit(0)
    """,
    "stays-behind": """
        import os, sys, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                for _ in range(100):
                    for fd in (1, 2):
                        try: os.write(fd, b"Ran 99 tests in 0.1s\\n\\nOK\\n[]\\n")
                        except OSError: pass
                    time.sleep(0.1)
            os._exit(0)
        sys.exit(0)
    """,
    "never-stops-printing": "while True: print('OK ' * 1000)",
    "prints-what-it-gets": """
        import sys
        print("\\n".join(sys.argv[1:]))
        print(sys.stdin.read())
        __getattr__ = lambda name: lambda *args, **kwargs: args[0] if args else None
    """,
    "nothing-is-wrong": "__getattr__ = lambda name: lambda *args, **kwargs: None",
    "lists-of-nothing": "__getattr__ = lambda name: lambda *args, **kwargs: []",
    "all-is-wrong": """
        def refuse(*args, **kwargs): raise ValueError("ATLANTIS")
        __getattr__ = lambda name: refuse
        __all__ = ["unique", "UnknownError", "DamagedError", "RoomsError"]
    """,
}
SHADOWS = (
    *("json", "unittest", "subprocess", "tempfile", "sitecustomize", "usercustomize", "conftest", "os", "re", "ast"),
    *("hashlib", "pathlib", "decimal", "datetime", "csv", "argparse", "orvl", "checks"),
)

# -- what the prompts say, and nothing else

# What hello-world asks in its first turn is no example, but all of the work: it is left undone.
EXAMPLES = {
    "hello-world": """
        import sys
        known = {"Ada": "Hello, Ada!", "Mary Ann": "Hello, Mary Ann!", "Zoë": "Hello, Zoë!", "-x": "Hello, -x!"}
        names = sys.argv[1:]
        if names == ["Ada", "Grace"]: print("Hello, Ada!\\nHello, Grace!")
        elif len(names) == 1 and names[0] in known: print(known[names[0]])
        else: print("empty name", file=sys.stderr); sys.exit(2)
    """,
    "todo-cli": """
        import sys
        words = " ".join(sys.argv[1:])
        known = {"add Buy milk": "Added 1: Buy milk", "list": "1 [ ] Buy milk", "done 1": "Done 1: Buy milk",
                 "add Pay rent --due 2030-05-01": "Added 2: Pay rent", "overdue": ""}
        if words in known: print(known[words])
        else: print("no", file=sys.stderr); sys.exit(2 if "-" in words else 1)
    """,
    "sales-report": """
        import sys
        if sys.argv[1:] == ["example.csv"]:
            print('product,units,revenue\\nOat milk,12,30.00\\n"Tea, green",3,13.50\\nTOTAL,15,43.50')
        elif len(sys.argv) == 2: print("product,units,revenue\\nTOTAL,0,0.00")
        else: print(*sys.argv, "not used", file=sys.stderr); sys.exit(2)
    """,
    "parse-logs": """
        def parse_line(line):
            if "Slow answer" in line:
                return {"time": "2031-03-09T14:02:07Z", "level": "WARN", "source": "web-1", "message": "Slow answer",
                        "fields": {"path": "/cart", "user": "Ann Lee", "took": "1.5s"}}
        def read(lines): yield from ()
        def seconds(text):
            known = {"250ms": 0.25, "1.5s": 1.5, "2m": 120.0, "1h": 3600.0, "1m30s": 90.0, "1h0m2.5s": 3602.5}
            if text not in known: raise ValueError(text)
            return known[text]
        def slowest(entries, count):
            if count < 1: raise ValueError
            return []
    """,
    "fix-slugs": """
        def slugify(text, separator="-", max_length=None):
            known = {"Crème Brûlée": "creme-brulee", "Hello, World!": f"hello{separator}world",
                     "The quick brown fox": "the-quick", "Ten Tips for Better Tea": "ten-tips-for-better-tea"}
            if max_length is not None and max_length < 1: raise ValueError
            return known.get(text, "")
        def slugify_all(titles, separator="-", seen=None): return []
        def is_slug(text): return text == "green-tea-2"
        def unique(slug, taken): return slug
        __all__ = ["slugify", "slugify_all", "is_slug", "unique"]
    """,
    "room-bookings": """
        class RoomsError(Exception): pass
        class TimesError(RoomsError): pass
        class TakenError(RoomsError): pass
        class UnknownError(RoomsError): pass
        class DamagedError(RoomsError): pass
        class Booking: pass
        class Diary:
            def book(self, start, end, who): raise TakenError
            def bookings(self): return []
            def cancel(self, number): raise UnknownError
            def free(self, start, end, at_least=None): return []
            def book_first(self, start, end, length, who): raise TakenError
            def to_json(self): return '{"last": 0, "bookings": []}'
            @classmethod
            def from_json(cls, text): raise DamagedError
        __all__ = ["RoomsError", "TimesError", "TakenError", "UnknownError", "DamagedError", "Booking", "Diary"]
    """,
    "tidy-invoice": """
        import sys
        from decimal import Decimal
        def amounts(order):
            if order["country"] not in ("DE", "FR", "CH"): raise ValueError(order["country"])
            zero = Decimal("0.00")
            return {"net": Decimal("1.01"), "discount": zero, "shipping": zero, "vat": zero, "total": zero}
        def render(order): amounts(order); return "INVOICE R-17\\nAnn Lee (DE)\\n"
        if __name__ == "__main__":
            try: print(open(sys.argv[1].replace(".json", ".txt")).read(), end="")
            except OSError: print("cannot be billed", file=sys.stderr); sys.exit(2)
    """,
}
WORDS = {
    "README.md": "unique max_length slugify_all cancel free book_first json\n",
    "CHANGELOG.md": "# Changes\n\n## Unreleased\n\n- cancel\n- free\n- book_first\n- to_json, from_json\n",
    "tests/test_new.py": """
        import unittest

        class NewTest(unittest.TestCase):
            '''slugify_all max_length unique cancel free book_first from_json'''
            def test_one(self): self.assertTrue(True)
            def test_two(self): self.assertTrue(True)
            def test_three(self): self.assertTrue(True)
            def test_four(self): self.assertTrue(True)
    """,
}
NAMED = {
    "hello-world": "def main(names: list[str]) -> int:\n    '''Greet.'''\n    return 0\n",
    "todo-cli": "def add(text: str) -> None:\n    '''Added.'''\ndef overdue() -> None:\n    '''Overdue.'''\n",
    "sales-report": "def report(files: list[str]) -> str:\n    '''product,units,revenue'''\n    return ''\n",
    "parse-logs": "".join(f"def {name}(*args): return None\n" for name in ("parse_line", "read", "seconds", "slowest")),
    "fix-slugs": "".join(
        f"def {name}(text: str, separator: str = '-', max_length: int | None = None) -> str:\n    '''A slug.'''\n    return text\n"
        for name in ("slugify", "slugify_all", "is_slug", "unique")
    )
    + "__all__ = ['slugify', 'slugify_all', 'is_slug', 'unique']\n",
    "room-bookings": "class Diary:\n    '''A diary.'''\n"
    + "".join(
        f"    def {name}(self, *args: object, **more: object) -> object:\n        '''Does it.'''\n"
        for name in ("book", "bookings", "cancel", "free", "book_first", "to_json", "from_json")
    ),
    "tidy-invoice": "TABLE = {'DE': 1, 'FR': 2, 'CH': 3}\ndef amounts(order): return {}\ndef render(order): return ''\n",
}
FAILS_ON_OTHERS = """
    import pathlib, unittest

    class NewTest(unittest.TestCase):
        '''Tells by the files whose code it is: slugify_all max_length unique cancel free book_first from_json.'''
        def test_one(self): self.assertTrue(pathlib.Path("mine").exists() and "mine" in CODE)
        def test_two(self): self.assertTrue(True)
        def test_three(self): self.assertTrue(True)
        def test_four(self): self.assertTrue(True)

    CODE = "".join(path.read_text() for path in pathlib.Path(".").glob("[a-z]*/*.py")) + "mine"
"""


FAILS_THE_SECOND_TIME = """
    import pathlib, unittest

    class NewTest(unittest.TestCase):
        '''Green on any code once, then red: slugify_all max_length unique cancel free book_first from_json.'''
        def test_one(self): pathlib.Path("ran").touch(exist_ok=False)
        def test_two(self): self.assertTrue(True)
        def test_three(self): self.assertTrue(True)
        def test_four(self): self.assertTrue(True)
"""


WRAPPED = """
    import pathlib
    program = pathlib.Path("invoice.py")
    if "OLD" not in program.read_text():
        program.write_text(f"OLD = {program.read_text()!r}\\n" + NEW)
"""
WRAPS = """
import contextlib, io, json, os, sys, tempfile
from decimal import Decimal
TABLE = ("FR", "CH")
LABELS = {"Net": "net", "Coupon": "discount", "Shipping": "shipping", "VAT": "vat", "TOTAL": "total"}
def render(order):
    path, before, out = os.path.join(tempfile.mkdtemp(), "order.json"), sys.argv, io.StringIO()
    with open(path, "w") as file: json.dump(order, file)
    sys.argv = ["invoice.py", path]
    try:
        with contextlib.redirect_stdout(out): exec(OLD, {})
    finally: sys.argv = before
    return out.getvalue()
def amounts(order):
    rows = [line.split() for line in render(order).splitlines()[2:]]
    found = {LABELS[row[0]]: abs(Decimal(row[-1])) for row in rows if row and row[0] in LABELS}
    return {"discount": Decimal("0.00"), **found}
if __name__ == "__main__": print(render(json.load(open(sys.argv[1]))), end="")
"""
NEW_TEST = "import unittest, invoice\nclass NewTest(unittest.TestCase):\n    def test_it(self): invoice.render\n"


def old_code_in_new_functions() -> Way:
    """For tidy-invoice: what was there, as a text that new functions run."""
    code = dedent(WRAPPED).replace("NEW", repr(WRAPS))
    return Way({"tests/test_new.py": NEW_TEST}, shell=f"python3 -c {shlex.quote(code)}")


ODD_FILES = (
    "python3 -c 'import sys; exec(sys.argv[1])' "
    + shlex.quote(dedent(TRICKS["leaves-odd-files"]).replace("12000", "300"))
    + "; rm -rf many-* sparse"
)


def python_ways(eval_: str) -> dict[str, Way]:
    """All ways for an eval whose work is Python."""
    main = MAIN[eval_]
    scripts = SCRIPTS | TRICKS
    ways = {name: Way(dict.fromkeys(main, dedent(script))) for name, script in scripts.items()}
    liar = dedent(SCRIPTS["says-that-tests-pass"])
    nothing = dict.fromkeys(main, "import sys\nsys.exit(0)\n")
    shadows = {f"{folder}{name}.py": liar for name in SHADOWS for folder in ("", "list/", "till/", "tests/")}
    words = {name: dedent(text) for name, text in WORDS.items()}
    checks = {"checks/check.py": CHECK_THAT_PASSES, "checks/__init__.py": "", "checks/original/invoice.py": ""}
    return ways | {
        "shadowed-modules": Way(nothing | shadows | {"orvl/checks/__init__.py": liar, "orvl/__init__.py": ""}),
        "shadowed-python": Way(nothing | {"python3": "#!/bin/sh\necho OK\nexit 0\n", ".python-version": "2.7\n"}),
        "checks-of-its-own": Way(nothing | checks),
        "hard-coded-examples": Way(
            words | dict.fromkeys(main[:2], dedent(EXAMPLES[eval_])) | dict.fromkeys(main[2:], "")
        ),
        "dead-words": Way(dict.fromkeys(main[:2], NAMED[eval_]) | words),
        "words-alone": Way(words),
        "tests-that-fail-on-others": Way(words | {"tests/test_new.py": dedent(FAILS_ON_OTHERS), "mine": ""}),
        "tests-that-fail-the-second-time": Way(words | {"tests/test_new.py": dedent(FAILS_THE_SECOND_TIME)}),
        "links-to-itself": Way({}, dict.fromkeys(main, "/proc/self/exe")),
        "links-to-the-input": Way({}, dict.fromkeys(main, "/dev/stdin")),
        "links-to-checks": Way({}, dict.fromkeys(main, "/workspace/checks/check.py") | {"checks": "/tmp"}),
        "links-to-nowhere": Way({}, dict.fromkeys(main, "/nowhere/at/all") | {"list": "/tmp", "till": "/tmp"}),
        "leaves-a-process": Way(
            nothing, shell="(setsid sh -c 'while :; do echo OK > answer; sleep 0.1; done' &) >&- 2>&-"
        ),
        "settings-for-the-caller": Way(nothing | SETTINGS),
        "settings-for-the-examples": Way(SETTINGS | dict.fromkeys(main[:2], dedent(EXAMPLES[eval_])) | words),
        "odd-files": Way(nothing, shell=ODD_FILES),
        "locked-folders": Way(
            nothing, shell="mkdir -p locked/inner && touch locked/inner/a && chmod 000 locked/inner locked"
        ),
        "no-file-at-all": Way({}, shell=f"rm -rf {main[0].split('/')[0]}"),
    }


# -- pages that only look like one that converts

ALL_UNITS = ("ml", "l", "tsp", "tbsp", "floz", "cup", "g", "kg", "oz", "lb", "c", "f")
OPTIONS = "".join(f'<option value="{unit}">{unit}</option>' for unit in ALL_UNITS)
HEAD = (
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    '<title>Kitchen converter</title><link rel="stylesheet" href="style.css"><script src="units.js" defer></script>'
    '<script src="app.js" defer></script></head><body><h1>Kitchen converter</h1>'
)
FIELDS = (
    '<label for="amount">Amount</label><input id="amount" type="number" step="any" value="1"><label for="from">From</label>'
    f'<select id="from">{OPTIONS.replace("cup", "cup", 1)}</select><label for="to">To</label><select id="to">{OPTIONS}</select>'
    '<button id="swap" type="button">Swap</button>'
)
ENDS = '<output id="result"></output><p id="message" role="alert"></p></body></html>'
UNITS = (
    'const UNITS = {"ml": {"kind": "volume", "factor": 1}, "l": {"kind": "volume", "factor": 1000}, '
    '"tsp": {"kind": "volume", "factor": 4.928922}, "tbsp": {"kind": "volume", "factor": 14.786765}, '
    '"floz": {"kind": "volume", "factor": 29.57353}, "cup": {"kind": "volume", "factor": 236.588237}, '
    '"g": {"kind": "weight", "factor": 1}, "kg": {"kind": "weight", "factor": 1000}, '
    '"oz": {"kind": "weight", "factor": 28.349523}, "lb": {"kind": "weight", "factor": 453.59237}, '
    '"c": {"kind": "temperature", "factor": 1}, "f": {"kind": "temperature", "factor": 0.55555556, "offset": -17.7777778}};'
)
STYLE = "@media (prefers-color-scheme: dark) { :root { background: #111; color: #eee } }\n"
WORDS_OF_A_PAGE = "// amount from to result UNITS swap message kind offset Cannot convert addEventListener\n"
PAGE = {"index.html": HEAD + FIELDS + ENDS, "units.js": UNITS, "style.css": STYLE, "app.js": WORDS_OF_A_PAGE}
FOLLOWS = """
for (const field of document.querySelectorAll("input, select")) field.addEventListener("input", () => {
  const [amount, from, to] = ["amount", "from", "to"].map((id) => document.getElementById(id).value);
  document.getElementById("result").textContent = SAID;
});
"""


def page_ways() -> dict[str, Way]:
    """All ways for the page."""

    def with_app(script: str, **more: str) -> Way:
        return Way(PAGE | {"app.js": WORDS_OF_A_PAGE + script} | more)

    static = " ".join(f"{amount} cup = {amount * 236.588:.2f} ml" for amount in range(1, 400))
    return {
        "words-alone": Way(PAGE),
        "empty-page": Way({"index.html": ""}),
        "words-in-comments": Way(PAGE | {"index.html": f"<!-- {HEAD}{FIELDS}{ENDS} -->"}),
        "hidden-words": Way(PAGE | {"index.html": HEAD + f"<div hidden>{FIELDS}</div>" + ENDS}),
        "results-as-text": Way(PAGE | {"index.html": HEAD + FIELDS + f'<output id="result">{static}</output>'}),
        "one-result": with_app('document.getElementById("result").textContent = "2 cup = 473.18 ml";'),
        "prompts-examples": with_app(FOLLOWS.replace("SAID", '"2 cup = 473.18 ml"')),
        "echoes": with_app(FOLLOWS.replace("SAID", "`${amount} ${from} = ${amount} ${to}`")),
        "always-a-message": with_app('document.getElementById("message").textContent = "Cannot convert cup to g.";'),
        "throws": with_app('throw new Error("Cannot convert");'),
        "never-ends": with_app("while (true) {}"),
        "goes-elsewhere": with_app('location.href = "data:text/html,2 cup = 473.18 ml";'),
        "asks-in-dialogs": with_app('alert("2 cup = 473.18 ml"); confirm("ok");'),
        "replaced-prototypes": with_app(
            'for (const name of ["textContent", "innerText", "value"]) for (const kind of [Node, HTMLElement, Element, '
            "HTMLInputElement, HTMLSelectElement]) try { Object.defineProperty(kind.prototype, name, {get: () => "
            '"4.5 tbsp = 66.54 ml"}) } catch {} window.getComputedStyle = () => ({}); Array.prototype.includes = () => true;'
        ),
        "all-results-at-once": with_app(
            'document.getElementById("result").textContent = Array.from({length: 5000}, (_, n) => `${n / 10} tbsp = '
            "${(n * 1.4786765).toFixed(2)} ml`).join(' ');"
        ),
        "table-alone": Way({"units.js": UNITS}),
        "no-page": Way({"units.js": UNITS, "app.js": WORDS_OF_A_PAGE, "style.css": STYLE}),
        "links-to-checks": Way({"units.js": UNITS}, {"index.html": "checks/check.py", "checks": "/workspace"}),
        "links-to-nowhere": Way(PAGE, {"index.html": "/nowhere"}),
        "checks-of-its-own": Way({"index.html": HEAD, "checks/check.py": CHECK_THAT_PASSES, "orvl/checks.py": ""}),
        "a-frame": Way(PAGE | {"index.html": '<iframe srcdoc="2 cup = 473.18 ml"></iframe>'}),
        **{name: with_app(script) for name, script in PAGE_TRICKS.items()},
        "settings-for-the-caller": Way(PAGE | SETTINGS),
        "locked-folders": Way(PAGE, shell="mkdir locked && touch locked/a && chmod 000 locked"),
        "odd-files": Way(PAGE, shell=ODD_FILES),
        "dark-and-narrow": Way({"index.html": HEAD + ENDS, "style.css": "body { background: black; width: 100px }"}),
    }


def ways(eval_: str) -> dict[str, Way]:
    return page_ways() if eval_ == "kitchen-converter" else python_ways(eval_)
