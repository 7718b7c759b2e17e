"""The hidden checks of fix-slugs: python3 -I checks/check.py NAME."""

import ast
import contextlib
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

WORKSPACE = Path.cwd()
EXISTING = Path("tests/test_slugs.py")
SHA256 = "e8eb58f6c614bcce3172d16de0c6906c14e6d5ea4809f21e75ff62e64d0d8776"
EXISTING_TESTS = 8

# Run apart from this process: it knows the questions, not the answers.
ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import slugs
answers = []
for question in json.loads(sys.argv[2]):
    try:
        answers.append(eval(question, {"slugs": slugs}))
    except Exception as error:
        answers.append({"raises": type(error).__name__})
print("\\n" + json.dumps(answers, default=repr))
"""
TEST = """
import sys, unittest
sys.path.insert(0, sys.argv[1])
unittest.main(module=None, argv=["unittest", "discover", "-s", "tests", "-p", sys.argv[2]])
"""


def fail(sentence):
    print(sentence)
    sys.exit(1)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


def python(code, *args):
    """Run code with the workspace as first argument; give its status, stdout and stderr."""
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", code, str(WORKSPACE), *args]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, preexec_fn=limit_files,
        )
        try:
            status = process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            fail("Expected the package to answer, but it still ran after 15 seconds.")
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")


def answers(wanted):
    """Expect these answers to these questions, asked in order in one process."""
    _, out, err = python(ASK, json.dumps(list(wanted)))
    try:
        seen = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        fail(f"Expected to import slugs and call it, saw {ascii((err or out).split(chr(10))[-2:])[-200:]}.")
    if not isinstance(seen, list) or len(seen) != len(wanted):
        fail(f"Expected {len(wanted)} answers, saw {ascii(seen)[:200]}.")
    for (question, answer), given in zip(wanted.items(), seen, strict=True):
        if given != answer or type(given) is not type(answer):
            fail(f"Expected {ascii(answer)} from {ascii(question)}, saw {ascii(given)[:200]}.")


def run_tests(pattern):
    """Expect the tests in these files to pass; give how many there were."""
    status, _, err = python(TEST, pattern)
    ran = re.findall(r"^Ran (\d{1,6}) tests? in ", err, re.MULTILINE)
    if status != 0 or not ran or not re.search(r"^OK", err, re.MULTILINE):
        fail(f"Expected the tests in {pattern} to pass, saw status {status} and {ascii(err[-150:])}.")
    return int(ran[-1])


def accents():
    answers({
        "slugs.slugify('Ångström à la façon')": "angstrom-a-la-facon",
        "slugs.slugify('cafe\\u0301 NOËL')": "cafe-noel",
        "slugs.slugify('¿Señor Muñoz?')": "senor-munoz",
        "slugs.slugify('日本')": "",
        "slugs.slugify_all(['Pâté', 'Pate'])": ["pate"],
    })


def separators():
    answers({
        "slugs.slugify('(One) two?', '_')": "one_two",
        "slugs.slugify('... One, two & three!', separator='.')": "one.two.three",
        "slugs.slugify('One two', '+')": "one+two",
        "slugs.slugify('-One - two-', '--')": "one--two",
        "slugs.slugify('?!', '_')": "",
        "slugs.slugify_all(['One!', 'Two, three.'], '_')": ["one", "two_three"],
    })


def lists():
    answers({
        "slugs.slugify_all(['Ah', 'Be', 'ah!'])": ["ah", "be"],
        "slugs.slugify_all(['Be', 'Ah'])": ["be", "ah"],
        "slugs.slugify_all(iter(['Ah', 'Be', 'Ce']), '-', {'be'})": ["ah", "ce"],
        "slugs.slugify_all(['Ah', 'Be', 'Ce'])": ["ah", "be", "ce"],
    })


def existing():
    if not EXISTING.is_file() or hashlib.sha256(EXISTING.read_bytes()).hexdigest() != SHA256:
        fail("Expected tests/test_slugs.py as it was, but it was edited or removed.")
    count = run_tests(EXISTING.name)
    if count != EXISTING_TESTS:
        fail(f"Expected {EXISTING_TESTS} tests in tests/test_slugs.py to run, saw {count}.")


def length():
    answers({
        "slugs.slugify('One two three four', max_length=13)": "one-two-three",
        "slugs.slugify('One two three four', max_length=12)": "one-two",
        "slugs.slugify('One two three four', max_length=8)": "one-two",
        "slugs.slugify('One two three four', max_length=7)": "one-two",
        "slugs.slugify('One two three four', max_length=6)": "one",
        "slugs.slugify('One two three four', max_length=99)": "one-two-three-four",
        "slugs.slugify('One two three four', max_length=None)": "one-two-three-four",
        "slugs.slugify('A considerable b', max_length=3)": "a",
    })


def edges():
    answers({
        "slugs.slugify('Considerable', max_length=5)": "",
        "slugs.slugify('Considerable b', max_length=5)": "",
        "slugs.slugify('One two', '--', 8)": "one--two",
        "slugs.slugify('One two', '--', 7)": "one",
        "slugs.slugify('Éa été', '.', max_length=6)": "ea.ete",
        "slugs.slugify('', max_length=5)": "",
        "slugs.slugify('One', max_length=0)": {"raises": "ValueError"},
        "slugs.slugify('One', max_length=-3)": {"raises": "ValueError"},
        "slugs.slugify('', max_length=0)": {"raises": "ValueError"},
    })


def unique():
    answers({
        "slugs.unique('tea', [])": "tea",
        "slugs.unique('tea', {'tea-2', 'teas'})": "tea",
        "slugs.unique('tea', ('tea', 'tea-3'))": "tea-2",
        "slugs.unique('tea', ['tea-3', 'tea', 'tea-2'])": "tea-4",
        "slugs.unique('tea-2', {'tea-2': 1})": "tea-2-2",
        "slugs.unique('tea', (slug for slug in ['tea-2', 'x', 'tea']))": "tea-3",
        "(lambda taken: [slugs.unique('tea', taken), taken])(['tea'])": ["tea-2", ["tea"]],
        "'unique' in slugs.__all__ and {'is_slug', 'slugify', 'slugify_all'} <= set(slugs.__all__)": True,
    })


def rules():
    public = set()
    for path in sorted(Path("slugs").rglob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            fail(f"Expected Python in {ascii(str(path))}, but it cannot be read.")
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                if name.split(".")[0] not in sys.stdlib_module_names | {"slugs"}:
                    fail(f"Expected the standard library only, saw {ascii(name)} imported in {ascii(str(path))}.")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                public.add(node.name)
                given = node.args
                every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
                if not node.returns or any(arg and not arg.annotation for arg in every):
                    fail(f"Expected type hints all over {ascii(node.name)}, but some are missing.")
                if not ast.get_docstring(node):
                    fail(f"Expected a docstring in {ascii(node.name)}, but there is none.")
    lacking = {"is_slug", "slugify", "slugify_all", "unique"} - public
    if lacking:
        fail(f"Expected public functions {sorted(lacking)} in slugs, but they are not there.")
    readme = Path("README.md").read_text("utf-8", "replace") if Path("README.md").is_file() else ""
    if "unique" not in readme or "max_length" not in readme:
        fail("Expected README.md to describe unique and max_length, but it does not.")


def tests():
    new = [path for path in Path("tests").glob("test_*.py") if path.name != EXISTING.name and path.is_file()]
    text = "".join(path.read_text("utf-8", "replace") for path in new)
    for word in ("slugify_all", "max_length", "unique"):
        if word not in text:
            fail(f"Expected a new file tests/test_*.py that tests {word}, saw {ascii(sorted(map(str, new)))[:200]}.")
    count = run_tests("test_*.py")
    if count < EXISTING_TESTS + 3:
        fail(f"Expected new tests beside the {EXISTING_TESTS} that were there, saw {count} in all.")


CHECKS = {
    check.__name__: check
    for check in (accents, separators, lists, existing, length, edges, unique, rules, tests)
}

if __name__ == "__main__":
    try:
        CHECKS[sys.argv[1]]()
    except Exception as error:
        fail(f"The check could not be carried out: {ascii(error)[:200]}.")
