"""The hidden checks of fix-slugs: python3 checks/check.py NAME.

The package runs in a sandbox of its own. What it answers comes from there as data and is compared here.
"""

import ast
import hashlib
import json
import random
import re
import sys
from pathlib import Path, PurePosixPath

from orvl import checks

ORIGINAL = Path(__file__).with_name("original")
EXISTING = "tests/test_slugs.py"
SHA256 = "e8eb58f6c614bcce3172d16de0c6906c14e6d5ea4809f21e75ff62e64d0d8776"
EXISTING_TESTS = 8
MOST = 300_000

# Run beside the package: they know the questions, not the answers.
ASK = """
import json, os, sys
sys.path.insert(0, os.getcwd())
import slugs
answers = []
for question in json.load(sys.stdin):
    try:
        answers.append(["is", eval(question, {"slugs": slugs})])
    except Exception as error:
        answers.append(["raises", type(error).__name__])
print("\\n" + json.dumps(answers, default=repr))
"""
TEST = """
import os, sys, unittest
sys.path.insert(0, os.getcwd())
unittest.main(module=None, argv=["unittest", "discover", "-s", "tests", "-p", sys.argv[1]])
"""


def made_up():
    """A word that nobody can know: a package that knows these checks passes none."""
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=6))


ONE, TWO, SIX = made_up(), made_up(), made_up()
# For each report and addition one question that needs it.
WORK = {
    f"slugs.slugify('{ONE}é à {TWO}')": f"{ONE}e-a-{TWO}",
    f"slugs.slugify('{ONE}, ({TWO}) three?', '_')": f"{ONE}_{TWO}_three",
    f"[slugs.slugify_all(['{ONE.upper()}', '{TWO}'])[1:] for _ in range(2)]": [[TWO], [TWO]],
    f"slugs.slugify('{ONE} {TWO} rings', max_length=14)": f"{ONE}-{TWO}",
    f"slugs.unique('{ONE}', ['{ONE}', '{TWO}'])": f"{ONE}-2",
}


class Raises(str):
    """The name of the exception that is expected."""


def python(code, *args, **how):
    return checks.run("python3", "-I", "-B", "-X", "utf8", "-c", code, *args, seconds=20, **how)


def asked(questions):
    """The answers to these questions, asked in order in one process."""
    ended = python(ASK, input=json.dumps(questions))
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        checks.fail(f"Expected to import slugs and call it, saw {ascii(ended.stderr[-200:])}.")
    if not isinstance(seen, list) or len(seen) != len(questions):
        checks.fail(f"Expected {len(questions)} answers, saw {ascii(seen)[:200]}.")
    return seen


def is_right(answer, wanted):
    """Whether an answer is the wanted one, with the same types all over."""
    kind = "raises" if isinstance(wanted, Raises) else "is"
    return json.dumps(answer, sort_keys=True) == json.dumps([kind, wanted], sort_keys=True)


def answers(wanted):
    """Expect these answers to these questions."""
    for (question, answer), seen in zip(wanted.items(), asked(list(wanted)), strict=True):
        if not is_right(seen, answer):
            checks.fail(f"Expected {ascii(answer)} from {ascii(question)}, saw {ascii(seen)[:200]}.")


def expect_work():
    """Expect most of the work to be done: rules that are kept by code that does nothing are worth nothing."""
    right = sum(map(is_right, asked(list(WORK)), WORK.values()))
    if right <= len(WORK) / 2:
        checks.fail(f"Expected the package to do most of what was asked for, saw {right} of {len(WORK)} right answers.")


def source_of(path):
    content = checks.read(path) or b""
    if len(content) > MOST:
        checks.fail(f"Expected a small file {ascii(path)}, saw more than {MOST} bytes.")
    return content


def text_of(path):
    return (checks.read(path) or b"").decode("utf-8", "replace")


def accents():
    answers({
        f"slugs.slugify('{ONE.title()} ö{TWO}ç')": f"{ONE}-o{TWO}c",
        "slugs.slugify('Ångström à la façon')": "angstrom-a-la-facon",
        "slugs.slugify('cafe\\u0301 NOËL')": "cafe-noel",
        "slugs.slugify('¿Señor Muñoz?')": "senor-munoz",
        "slugs.slugify('日本')": "",
        "slugs.slugify_all(['Pâté', 'Pate'])": ["pate"],
    })


def separators():
    answers({
        f"slugs.slugify('({ONE}) {TWO}?', '_')": f"{ONE}_{TWO}",
        "slugs.slugify('(One) two?', '_')": "one_two",
        "slugs.slugify('... One, two & three!', separator='.')": "one.two.three",
        "slugs.slugify('One two', '+')": "one+two",
        "slugs.slugify('-One - two-', '--')": "one--two",
        "slugs.slugify('?!', '_')": "",
        "slugs.slugify_all(['One!', 'Two, three.'], '_')": ["one", "two_three"],
    })


def lists():
    answers({
        f"[slugs.slugify_all(['{ONE}', '{TWO}', '{ONE}!', '{SIX}'], seen={{'{SIX}'}}) for _ in range(2)]": [[ONE, TWO]] * 2,
        f"[slugs.slugify_all(['{TWO}', '{ONE}']) for _ in range(2)]": [[TWO, ONE]] * 2,
        "slugs.slugify_all(['Ah', 'Be', 'ah!'])": ["ah", "be"],
        "slugs.slugify_all(['Be', 'Ah'])": ["be", "ah"],
        "slugs.slugify_all(iter(['Ah', 'Be', 'Ce']), '-', {'be'})": ["ah", "ce"],
        "slugs.slugify_all(['Ah', 'Be', 'Ce'])": ["ah", "be", "ce"],
    })


def existing():
    if hashlib.sha256(checks.read(EXISTING) or b"").hexdigest() != SHA256:
        checks.fail(f"Expected {EXISTING} as it was, but it was edited or removed.")
    # What these tests test, and the same with other titles.
    answers({
        f"slugs.slugify('{ONE.title()}, {TWO} & sugar!')": f"{ONE}-{TWO}-sugar",
        f"slugs.slugify_all(['{ONE}', '{TWO.title()} Tea', '{ONE}!'], seen=set())": [ONE, f"{TWO}-tea"],
        f"[slugs.is_slug(text) for text in ('{ONE}-{TWO}', '{ONE}_{TWO}', '{ONE}')]": [True, False, True],
        "slugs.slugify('Ten Tips for Better Tea')": "ten-tips-for-better-tea",
        "slugs.slugify('  Tea, milk & sugar!  ')": "tea-milk-sugar",
        "slugs.slugify(\"Don't panic\")": "dont-panic",
        "slugs.slugify('?!')": "",
        "slugs.slugify('Green tea', '_')": "green_tea",
        "slugs.slugify_all(['Black Tea', 'White Tea', 'Black tea!'])": ["black-tea", "white-tea"],
        "slugs.slugify_all(['Oolong', 'Matcha'], seen={'oolong'})": ["matcha"],
        "[slugs.is_slug(text) for text in ('green-tea-2', '', 'Green', 'green--tea', '-green', 'green\\n')]":
            [True, False, False, False, False, False],
        "slugs.slugify(\"A cook's 7 spoons (and 2 forks)\")": "a-cooks-7-spoons-and-2-forks",
        "slugs.slugify('Salt / pepper', '_')": "salt_pepper",
        "slugs.slugify_all(['Sage', 'Dill', 'SAGE?', 'Mint'], seen={'mint', 'x'})": ["sage", "dill"],
        "[slugs.is_slug(text) for text in ('7-up', 'a_b', 'tea-', 'tea', 'té', 'tea time', '0')]":
            [True, False, False, True, False, False, True],
    })


def length():
    answers({
        f"slugs.slugify('{ONE} {TWO} {SIX}', max_length=19)": f"{ONE}-{TWO}",
        f"slugs.slugify('{ONE} {TWO} {SIX}', max_length=20)": f"{ONE}-{TWO}-{SIX}",
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
        f"slugs.slugify('{ONE} {TWO}', '--', 14)": f"{ONE}--{TWO}",
        f"slugs.slugify('{ONE} {TWO}', '--', 13)": ONE,
        "slugs.slugify('Considerable', max_length=5)": "",
        "slugs.slugify('Considerable b', max_length=5)": "",
        "slugs.slugify('One two', '--', 8)": "one--two",
        "slugs.slugify('One two', '--', 7)": "one",
        "slugs.slugify('Éa été', '.', max_length=6)": "ea.ete",
        "slugs.slugify('', max_length=5)": "",
        "slugs.slugify('One', max_length=0)": Raises("ValueError"),
        "slugs.slugify('One', max_length=-3)": Raises("ValueError"),
        "slugs.slugify('', max_length=0)": Raises("ValueError"),
    })


def unique():
    answers({
        f"slugs.unique('{ONE}', ['{TWO}', '{ONE}', '{ONE}-3'])": f"{ONE}-2",
        f"slugs.unique('{ONE}', iter(['{ONE}-2', '{ONE}']))": f"{ONE}-3",
        "slugs.unique('tea', [])": "tea",
        "slugs.unique('tea', {'tea-2', 'teas'})": "tea",
        "slugs.unique('tea', ('tea', 'tea-3'))": "tea-2",
        "slugs.unique('tea', ['tea-3', 'tea', 'tea-2'])": "tea-4",
        "slugs.unique('tea-2', {'tea-2': 1})": "tea-2-2",
        "slugs.unique('tea', (slug for slug in ['tea-2', 'x', 'tea']))": "tea-3",
        "(lambda taken: [slugs.unique('tea', taken), taken])(['tea'])": ["tea-2", ["tea"]],
        "sorted({'is_slug', 'slugify', 'slugify_all', 'unique'} & set(slugs.__all__))":
            ["is_slug", "slugify", "slugify_all", "unique"],
    })


def rules():
    expect_work()
    public = set()
    for path in [path for path in checks.files() if re.fullmatch(r"slugs/.*\.py", path)]:
        try:
            tree = ast.parse(source_of(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            checks.fail(f"Expected Python in {ascii(path)}, but it cannot be read.")
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                if name.split(".")[0] not in sys.stdlib_module_names | {"slugs"}:
                    checks.fail(f"Expected the standard library only, saw {ascii(name)} imported in {ascii(path)}.")
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                public.add(node.name)
                given = node.args
                every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
                if not node.returns or any(arg and not arg.annotation for arg in every):
                    checks.fail(f"Expected type hints all over {ascii(node.name)}, but some are missing.")
                if not ast.get_docstring(node):
                    checks.fail(f"Expected a docstring in {ascii(node.name)}, but there is none.")
    lacking = {"is_slug", "slugify", "slugify_all", "unique"} - public
    if lacking:
        checks.fail(f"Expected public functions {sorted(lacking)} in slugs, but they are not there.")
    readme = text_of("README.md")
    if "unique" not in readme or "max_length" not in readme:
        checks.fail("Expected README.md to describe unique and max_length, but it does not.")


def tests():
    expect_work()
    new = [path for path in checks.files() if re.fullmatch(r"tests/test_[^/]*\.py", path) and path != EXISTING]
    text = "".join(map(text_of, new))
    for word in ("slugify_all", "max_length", "unique"):
        if word not in text:
            checks.fail(f"Expected a new file tests/test_*.py that tests {word}, saw {ascii(new)[:200]}.")
    ended = python(TEST, "test_*.py")
    ran = re.findall(r"^Ran (\d{1,6}) tests? in ", ended.stderr, re.MULTILINE)
    if ended.status != 0 or not ran or not re.search(r"^OK", ended.stderr, re.MULTILINE):
        checks.fail(f"Expected the tests to pass, saw status {ended.status} and {ascii(ended.stderr[-150:])}.")
    if int(ran[-1]) < EXISTING_TESTS + 3:
        checks.fail(f"Expected new tests beside the {EXISTING_TESTS} that were there, saw {ran[-1]} in all.")
    checks.fresh()
    for path in sorted(ORIGINAL.rglob("*.py")):
        checks.write(str(PurePosixPath(path.relative_to(ORIGINAL))), path.read_bytes())
    if python(TEST, "test_*.py").status == 0:
        checks.fail("Expected the new tests to fail on the package as it was before, but they pass.")


CHECKS = {
    check.__name__: check
    for check in (accents, separators, lists, existing, length, edges, unique, rules, tests)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()
