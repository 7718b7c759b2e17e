"""Isolated checks: the checker's sandbox and the subject's are joined only by what the check asks for."""

from __future__ import annotations

import json

import pytest
from test_sandbox import BACKENDS, NO_WALLS, SECRET, WHERE, _containers, library, place, place_for  # noqa: F401

WORDS = f"hidden-words-{SECRET}"
ATTACKS = (
    "exits_early",
    "searches_the_disk",
    "searches_other_processes",
    "reads_other_memory",
    "traces_others",
    "writes_to_all_descriptors",
    "kills_everybody",
    "asks_in_the_checkers_name",
    "prints_without_end",
    "limits_others",
    "dies_in_every_way",
    "remembers",
    "remembers",
)
HOGS = ("forks_without_end", "takes_all_memory", "never_ends")
RUN_IT = """
import sys
from orvl import checks

with open("checks/words.txt") as file:
    words = file.read()
ended = checks.run("python3", "answer.py", sys.argv[1], seconds=float(sys.argv[2]))
print(ended.status, ended.cut, ascii(ended.stdout[:300]), ascii(ended.stderr[-300:]))
if words.strip() in ended.stdout:
    print("It knows the words.")
elif any(sign in ended.stdout for sign in ("traced", "took", "answered", "reached")):
    print("It reached somebody.")
else:
    checks.fail("Expected the words, saw others.")
"""


def isolated(*checks, more=""):
    rows = "".join(f"\n  - {{name: {name}, run: '{run}', limit: 60, isolated: true}}" for name, run in checks)
    return f"---\nmetrics: {{checks: 1}}\n{more}checks:{rows}\n---\nGo.\n"


@pytest.fixture
def cheated(place):  # noqa: F811
    """The results of a check for each attack; called with the names of the attacks, and the checker's script."""

    def results(names, script=RUN_IT, seconds=20):
        place.adversary("mine", "cheat.py", "leave")
        place.write("evals/e/checks/words.txt", WORDS + "\n")
        place.write("evals/e/checks/check.py", script)
        rows = [
            (f"{name.replace('_', '-')}-{number}", f"python3 checks/check.py {name} {seconds}")
            for number, name in enumerate(names)
        ]
        place.write("evals/e/eval.md", isolated(*rows))
        done = place.run("mine", "--eval=e", timeout=300)
        assert done.status == 0, done.err
        attempt = place.attempt("mine/e/1")
        assert attempt["outcome"] == "finished"
        place.assert_nothing_is_left()
        return attempt["checks"]

    return results


def test_an_attack_from_the_subject_passes_no_check(cheated):
    for check in cheated(ATTACKS):
        assert not check["passed"], check
        assert check["cut"] is None, check
        assert check["output"].rstrip().endswith("Expected the words, saw others."), check
        assert check["isolation"] == "separate"


def test_a_subject_that_hogs_ends_by_its_limits_and_its_check_goes_on(cheated):
    for check in cheated(HOGS, seconds=4):
        assert not check["passed"]
        assert check["output"].rstrip().endswith("Expected the words, saw others."), check


TRAPS = """
import os
from orvl import checks

assert os.listdir(".") == ["checks"], os.listdir(".")
ended = checks.run("python3", "answer.py", "leaves_traps")
assert ended.status == 0, ended
for path in ("words.txt", "pipe", "all", "all/etc/hostname", "locked", "in.txt", "nowhere", "."):
    assert checks.read(path) is None, path
for path in ("/etc/hostname", "../words.txt", "a/../../b", ""):
    try:
        seen = checks.read(path)
    except checks.CheckError:
        seen = None
    assert seen is None, path
assert "answer.py" in checks.files() and "words.txt" not in checks.files(), checks.files()
checks.write("words.txt", "mine")
assert checks.read("words.txt") == b"mine"
checks.write("in.txt", b"\\xff\\x00")
assert checks.read("in.txt") == b"\\xff\\x00"
assert checks.run("cat", "words.txt").stdout == "mine"
checks.fresh()
assert checks.files() == ["answer.py"], checks.files()
checks.run("python3", "answer.py", "leaves_a_daemon")
seen = checks.read("alive")
assert checks.read("alive") == seen
checks.fresh()
assert checks.read("alive") is None
"""


def test_files_of_the_subject_are_read_and_written_as_they_are(cheated):
    (check,) = cheated(["leaves_traps"], TRAPS)
    assert check["passed"], check["output"]


SERVES = """
import socket, sys
from orvl import checks

try:
    checks.connect(8000)
    raise AssertionError
except checks.CheckError as error:
    assert "nothing was started" in str(error), error
checks.start("python3", "answer.py", "serves_late")
try:
    checks.connect(8000, wait=0.5)
    raise AssertionError
except checks.CheckError as error:
    assert "did not open within 0.5 s" in str(error), error
try:
    checks.run("true")
    raise AssertionError
except checks.CheckError as error:
    assert "call stop() first" in str(error), error
checks.stop()
checks.start("python3", "answer.py", "serves_nonsense")
for _ in range(3):
    with checks.connect(8000) as connection:
        assert connection.recv(10) == b"\\xff" * 10
with socket.socket() as own:
    assert own.connect_ex(("127.0.0.1", 8000)) != 0
checks.stop()
checks.start("python3", "-m", "http.server", "--bind", "::1", "8001")
checks.connect(8001).close()
checks.stop()
checks.start("sh", "-c", "echo gone >&2; exit 3")
try:
    checks.connect(8000)
    raise AssertionError
except checks.CheckError as error:
    assert "gone" in str(error), error
assert checks.stop().status == 3
assert checks.run("sh", "-c", "cat; pwd; echo $A; exit 7", input="in ", cwd="sub/folder", env={"A": "b"}).stdout == "in /workspace/sub/folder\\nb\\n"
assert checks.run("sleep", "30", seconds=0.3).cut == "time"
assert checks.run("no-such-program").status == 127
assert checks.run("id", "-u").stdout == "1001\\n"
"""


def test_a_port_of_the_subject_is_reached_by_asking_alone(cheated):
    (check,) = cheated(["serves"], SERVES)
    assert check["passed"], check["output"]


SHELL = """
set -e
test "$(subject run echo hi)" = hi
subject run sh -c 'exit 7' && exit 1 || test $? = 7
printf 'a b' | subject write notes/a.txt
test "$(subject read notes/a.txt)" = 'a b'
subject files | grep -q '^notes/a.txt$'
subject read nothing 2>/dev/null && exit 1
printf 'x' | subject run cat | grep -q x
subject start sh -c 'python3 -m http.server 8000'
printf 'GET /notes/a.txt HTTP/1.0\\r\\n\\r\\n' | subject connect 8000 | grep -q 'a b'
subject stop
subject fresh
test -z "$(subject files | grep notes)"
subject browse 'open /' 2>&1 | grep -q "the eval has no 'app'"
touch checks/x 2>/dev/null && exit 1
test ! -e answer.py
"""


def test_a_shell_script_has_the_same(place):  # noqa: F811
    place.adversary("mine", "cheat.py", "leave")
    place.write("evals/e/checks/check.sh", SHELL)
    place.write("evals/e/eval.md", isolated(("shell", "sh -x checks/check.sh")))
    assert place.run("mine", "--eval=e", timeout=120).status == 0
    (check,) = place.attempt("mine/e/1")["checks"]
    assert check["passed"], check["output"]
    place.assert_nothing_is_left()


OWN_PYTHON = """
for name in json socket argparse orvl; do echo 'raise SystemExit(9)' > $name.py; done
PYTHONPATH=. PYTHONHOME=/nowhere PYTHONSTARTUP=json.py PYTHONSAFEPATH= subject run echo hi
"""


def test_the_command_is_not_led_astray_by_what_a_check_has_for_its_own_python(place):  # noqa: F811
    place.adversary("mine", "cheat.py", "leave")
    place.write("evals/e/checks/check.sh", OWN_PYTHON)
    place.write("evals/e/eval.md", isolated(("shadowed", "sh checks/check.sh"), ("asks-nothing", "true")))
    assert place.run("mine", "--eval=e", timeout=120).status == 0
    shadowed, asks_nothing = place.attempt("mine/e/1")["checks"]
    assert shadowed["passed"] and shadowed["output"].strip() == "hi", shadowed
    assert asks_nothing["passed"] and asks_nothing["isolation"] == "separate"
    place.assert_nothing_is_left()


HOSTILE_EVAL = """
import json, os, socket, sys

path = os.environ["ORVL_SUBJECT"]
crowd = []
for _ in range(300):
    one = socket.socket(socket.AF_UNIX)
    one.setblocking(False)
    try:
        one.connect(path)
    except OSError:
        break
    crowd.append(one)
for one in crowd:
    one.close()


def answer(text):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        one.settimeout(30)
        try:
            one.sendall(text + b"\\n")
            return one.makefile("rb").readline()
        except OSError:
            return b"refused"


def run(**more):
    return json.dumps({"do": "run", "argv": ["true"], "input": "", "cwd": ".", "env": {}, "seconds": 5, **more}).encode()


for text in (
    b"", b"{", b"[" * 100_000, b"7", b"{}", b'{"do": "close"}', b'{"do": "__class__"}', b'{"do": "run"}', b"\\xff\\xfe",
    run(argv=[]), run(argv=["a\\0b"]), run(env={"A=B": "c"}), run(env={"": "c"}), run(argv=["x" * 200_000]),
    run(argv=["x" * 1000] * 3000), run(cwd="../.."), run(cwd="/"), run(seconds="soon"), run(input="no base64!"),
    b'{"do": "connect", "port": 99999, "wait": 1}', b'{"do": "connect", "port": 1, "wait": NaN}',
    b'{"do": "read", "path": "../../../etc/passwd"}', b'{"do": "write", "path": ".", "content": ""}',
    b'{"do": "write", "path": "' + b"x/" * 3000 + b'y", "content": ""}', b'{"do": "browse", "steps": ["dance"]}',
):
    assert b"refused" in answer(text), text[:100]
assert b"refused" in answer(b'{"do": "read", "path": "' + b"x" * 30_000_000 + b'"}')
assert b'"status": 0' in answer(run())
assert b'"status"' in answer(run(seconds=float("nan")))
"""


def test_an_eval_of_a_stranger_cannot_hurt_orvl_by_what_it_asks(place):  # noqa: F811
    place.adversary("mine", "cheat.py", "leave")
    place.write("evals/e/checks/check.py", HOSTILE_EVAL)
    place.write("evals/e/eval.md", isolated(("asks", "python3 checks/check.py")))
    done = place.run("mine", "--eval=e", timeout=120)
    assert done.status == 0, done.err
    (check,) = place.attempt("mine/e/1")["checks"]
    assert check["passed"], check["output"]
    place.assert_nothing_is_left()


def test_every_result_says_how_its_check_was_isolated(tmp_path, library):  # noqa: F811
    with place_for("root", BACKENDS["bubblewrap"], library) as here:
        here.adversary("mine", "cheat.py", "leave")
        rows = "{name: apart, run: subject files, isolated: true}, {name: beside, run: test -e answer.py}"
        here.write("evals/e.md", f"---\nmetrics: {{checks: 1}}\nchecks: [{rows}]\n---\nGo.\n")
        done = here.run("mine", "--eval=e")
        assert done.status == 0
        assert "Checks of e run in-process: the agent's code beside them can change what they find." in done.out
        assert [check["isolation"] for check in here.attempt("mine/e/1")["checks"]] == ["separate", "in-process"]
        shown = here.run("show", "mine/e/1").out
        assert "in a sandbox of its own" in shown
        assert "in-process (beside the agent's code)" in shown
        assert json.loads(here.run("report", "--json").out)["isolation"] == {"e": {"separate": 1, "in-process": 1}}
        here.write(
            "evals/e.md",
            "---\nmetrics: {checks: 1}\nchecks: [{name: a, run: subject files, isolated: true}]\n---\nGo.\n",
        )
        assert "Checks run in a sandbox of their own" in here.run("mine", "--eval=e").out
        done = here.run("mine", "--eval=e", "--episodes=2", flags=NO_WALLS)
        assert done.status == 0, done.err
        assert [check["isolation"] for check in here.attempt("mine/e/2")["checks"]] == ["none"]


def test_a_check_that_runs_beside_the_agents_files_cannot_change_the_hidden_ones(place):  # noqa: F811
    """Not even where the agent's code runs in the check itself."""
    text = "import os\nfor how in (lambda: open('checks/check.sh', 'w').write('exit 0'), lambda: os.rename('checks', 'c'), lambda: os.remove('checks/check.sh')):\n    try:\n        how()\n        print('changed')\n    except OSError as error:\n        print(error)\n"
    place.adversary("mine", "cheat.py", "leave")
    place.write("evals/e/workspace/cheat.py", text)
    place.write("evals/e/checks/check.sh", "python3 cheat.py; cat checks/check.sh; exit 1\n")
    place.write(
        "evals/e/eval.md",
        "---\nmetrics: {checks: 1}\nchecks: [{name: a, run: sh checks/check.sh}, {name: b, run: sh checks/check.sh}]\n---\nGo.\n",
    )
    assert place.run("mine", "--eval=e").status == 0
    for check in place.attempt("mine/e/1")["checks"]:
        assert not check["passed"]
        assert "changed" not in check["output"]
        assert "exit 1" in check["output"]


HURRIES = """
import threading
from orvl import checks

# What never ends is ended by the check's own limit for it, and the check goes on.
ended = checks.run("python3", "answer.py", "never_ends", seconds=2)
assert ended.cut in ("time", "processes"), ended
assert checks.run("echo", "on").stdout == "on\\n"
# Files that are swapped while they are read and written lead to nothing outside.
before = open("/etc/hostname").read() if __import__("os").path.exists("/etc/hostname") else None
checks.start("python3", "answer.py", "swaps_links")
for number in range(150):
    for path in ("swap", "swap/hostname", "swap/workspace", "swap/../answer.py"):
        try:
            seen = checks.read(path)
        except checks.CheckError:
            seen = None
        assert seen in (None, b"own\\n", b"", b"mine"), (path, seen)
    for path in ("swap", "swap/mine"):
        try:
            checks.write(path, "mine")
        except checks.CheckError:
            pass
    assert not any("hostname" in path for path in checks.files())
checks.stop()
# Many requests at once are answered one after the other.
seen = []
crowd = [threading.Thread(target=lambda: seen.append(checks.run("echo", "one").stdout)) for _ in range(12)]
for one in crowd:
    one.start()
for one in crowd:
    one.join()
assert seen == ["one\\n"] * 12, seen
# A port of what was stopped is closed.
checks.start("python3", "answer.py", "serves_nonsense")
checks.connect(8000).close()
checks.stop()
for ask in (lambda: checks.connect(8000), checks.stop):
    try:
        ask()
        raise AssertionError
    except checks.CheckError as error:
        assert "nothing was started" in str(error), error
"""


def test_a_subject_in_a_hurry_and_a_checker_in_a_hurry_get_along(cheated):
    (check,) = cheated(["hurries"], HURRIES)
    assert check["passed"], check["output"]


ODD_NAMES = """
set -e
subject run python3 answer.py leaves_odd_names
subject files > listed
grep -qx answer.py listed
grep -qx answer.txt listed && exit 1
test "$(wc -l < listed)" = 7
LC_ALL=C grep -q "$(printf '\\033')" listed && exit 1
exit 0
"""


def test_a_listing_of_odd_names_has_one_line_for_each_file(place):  # noqa: F811
    place.adversary("mine", "cheat.py", "leave")
    place.write("evals/e/checks/check.sh", ODD_NAMES)
    place.write("evals/e/eval.md", isolated(("lists", "sh -x checks/check.sh")))
    assert place.run("mine", "--eval=e", timeout=120).status == 0
    (check,) = place.attempt("mine/e/1")["checks"]
    assert check["passed"], check["output"]


LOCKED = """
from orvl import checks

assert checks.run("true").status == 0
assert "answer.py" in checks.files(), checks.files()
checks.write("locked/inner/new.txt", "new")
checks.write("unreadable.txt", "new")
assert checks.run("cat", "unreadable.txt", "locked/inner/new.txt").stdout == "newnew"
assert checks.read("locked/inner/words.txt") in (None, b"hidden-words-\\n")
checks.fresh()
assert checks.run("python3", "answer.py", "exits_early").status == 0
"""


def test_folders_without_permissions_are_checked_like_others(place):  # noqa: F811
    place.adversary("mine", "cheat.py", "leave", "locked")
    place.write("evals/e/checks/check.py", LOCKED)
    place.write(
        "evals/e/eval.md", isolated(("locked", "python3 checks/check.py"), ("again", "python3 checks/check.py"))
    )
    done = place.run("mine", "--eval=e", timeout=120)
    assert done.status == 0, done.err
    attempt = place.attempt("mine/e/1")
    assert attempt["outcome"] in ("finished", "failed"), attempt
    for check in attempt["checks"]:
        assert check["passed"], check["output"]
    place.assert_nothing_is_left()


CALLS = """
from orvl import checks

call = checks.Call
checks.write("adds.py", "import sys\\nwith open('kept.txt', 'a+') as file:\\n"
    "    file.write(sys.argv[1] + sys.stdin.read())\\n    file.seek(0)\\n    print(file.read())\\n    sys.exit(3)")
ended = checks.calls("adds.py", [call("a"), call("b", input="\\xe9"), call("c", cwd="sub/folder"), call("d", input=b"\\xff")])
assert [one.stdout for one in ended[:3]] == ["a\\n", "ab\\xe9\\n", "c\\n"], ended
assert ended[3].status == 1 and "UnicodeEncodeError" in ended[3].stderr, ended
assert [one.status for one in ended[:3]] == [3, 3, 3] and not any(one.cut for one in ended), ended
assert 0 < ended[0].seconds < 60 and ended[0].memory > 1 << 20, (ended[0].seconds, ended[0].memory)
assert checks.read("kept.txt") == b"ab\\xc3\\xa9" and checks.read("sub/folder/kept.txt") == b"c"
assert checks.calls("adds.py", []) == []
# What the work does to who calls it costs its calls, and nothing else.
for attack in ATTACKS:
    checks.write("attacks.py", attack)
    ended = checks.calls("attacks.py", [call("x"), call("y")], seconds=20, each=2)
    assert len(ended) == 2 and all(one.cut for one in ended), (attack, ended)
assert checks.run("echo", "on").stdout == "on\\n"
"""
AGAINST_CALLERS = (
    "import os, signal; os.kill(os.getppid(), signal.SIGKILL)",
    "import time; time.sleep(60)",
    "import os; open(f'/proc/{os.getppid()}/fd/1', 'w').write('[[0, 1]]'); os.kill(os.getppid(), 9)",
    "import os; open(f'/proc/{os.getppid()}/fd/1', 'w').write('[[true, null, [], 0, \"\", {}], 7]'); os.kill(os.getppid(), 9)",
)


def test_a_program_is_called_many_times_in_one_go(cheated):
    (check,) = cheated(["exits_early"], CALLS.replace("ATTACKS", repr(AGAINST_CALLERS)))
    assert check["passed"], check["output"]


LOCKS = """
from orvl import checks

for _ in range(2):
    checks.run("python3", "answer.py", "locks_its_folders")
    assert checks.read("answer.py") is not None
    assert "answer.py" in checks.files()
    checks.write("new.txt", "new")
    assert checks.run("cat", "new.txt").stdout == "new"
checks.start("python3", "answer.py", "locks_its_folders_again_and_again")
for _ in range(100):
    for ask in (checks.files, lambda: checks.read("answer.py"), lambda: checks.write("new.txt", "new")):
        try:
            ask()
        except checks.CheckError:
            pass
checks.stop()
assert checks.run("cat", "answer.py").status == 0
"""


def test_code_that_locks_its_own_folders_spares_nobody_a_check(place):  # noqa: F811
    place.adversary("mine", "cheat.py", "leave")
    place.write("evals/e/checks/check.py", LOCKS)
    rows = (
        "{name: apart, run: python3 checks/check.py, isolated: true}, "
        "{name: beside, run: python3 answer.py locks_its_folders}, {name: after-it, run: test -e answer.py}"
    )
    place.write("evals/e/eval.md", f"---\nmetrics: {{checks: 1}}\nchecks: [{rows}]\n---\nGo.\n")
    done = place.run("mine", "--eval=e", timeout=120)
    assert done.status == 0, done.err
    attempt = place.attempt("mine/e/1")
    assert attempt["outcome"] == "finished", attempt["reason"]
    for check in attempt["checks"]:
        assert check["passed"], check
    place.assert_nothing_is_left()


HANGS = """
import os, sys
from orvl import checks

if sys.argv[1] == "hangs":
    checks.run("python3", "answer.py", "never_ends", seconds=1e9)
elif sys.argv[1] == "hears":
    checks.start("python3", "answer.py", "serves_nonsense")
    with checks.connect(8000) as connection:
        while connection.recv(1 << 16):
            pass
elif os.fork() == 0:
    checks.run("python3", "answer.py", "never_ends", seconds=1e9)
else:
    sys.exit(7)
"""


def test_a_subject_that_hangs_fails_its_check_and_no_other(place):  # noqa: F811
    place.adversary("mine", "cheat.py", "leave")
    place.write("evals/e/checks/check.py", HANGS)
    rows = "".join(
        f"\n  - {{name: {name}, run: 'python3 checks/check.py {name}', limit: {limit}, isolated: true}}"
        for name, limit in (("hangs", 4), ("hears", 4), ("leaves", 30))
    )
    more = "\n  - {name: last, run: subject run true, limit: 30, isolated: true}"
    place.write("evals/e/eval.md", f"---\nmetrics: {{checks: 1}}\nchecks:{rows}{more}\n---\nGo.\n")
    done = place.run("mine", "--eval=e", timeout=200)
    assert done.status == 0, done.err
    attempt = place.attempt("mine/e/1")
    assert attempt["outcome"] == "finished"
    hangs, hears, leaves, last = attempt["checks"]
    assert (hangs["passed"], hangs["cut"]) == (False, "passed its limit of 4 s")
    assert (hears["passed"], hears["cut"]) == (False, "passed its limit of 4 s")
    assert (leaves["passed"], leaves["status"]) == (False, 7)
    assert last["passed"]
    place.assert_nothing_is_left()
