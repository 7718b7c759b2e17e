"""The hidden checks of fix-slugs: python3 checks/check.py NAME.

The package runs in a sandbox of its own. What it answers comes from there as data and is compared here.
"""

import ast
import hashlib
import json
import re
import sys
from pathlib import Path, PurePosixPath

from orvl import checks

REFERENCE = Path(__file__).with_name("reference")
EXISTING = "tests/test_slugs.py"
SHA256 = "e8eb58f6c614bcce3172d16de0c6906c14e6d5ea4809f21e75ff62e64d0d8776"
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
import json, sys, unittest
sys.path.insert(0, ".")
class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []
    def addSuccess(self, test):
        self.passed.append(test.id())
result = Result()
for name in json.loads(sys.argv[1]):
    unittest.defaultTestLoader.discover("tests", pattern=name).run(result)
print("\\n" + json.dumps(sorted(result.passed)))
"""
# The tests are run with one package after the other, two at a time, each in a copy of the workspace.
TEST_ALL = """
import json, os, shutil, subprocess, sys
asked = json.load(sys.stdin)
running, passed = [], []
def last_line_of(process):
    try:
        return process.communicate(timeout=30)[0][-100000:].decode("utf-8", "replace").strip().rpartition("\\n")[2]
    except subprocess.TimeoutExpired:
        process.kill()
        return ""
for number, package in enumerate([*asked["packages"], None]):
    if package is not None:
        folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"copies-{os.getpid()}", str(number))
        shutil.copytree(".", folder, symlinks=True, ignore=shutil.ignore_patterns(".git", "__pycache__"))
        for path, content in package.items():
            with open(os.path.join(folder, path), "w") as file:
                file.write(content)
        command = [sys.executable, "-I", "-S", "-B", "-X", "utf8", "-c", asked["code"], json.dumps(asked["names"])]
        quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        running.append(subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, **quiet))
    while len(running) > (package is not None):
        passed.append(last_line_of(running.pop(0)))
print("\\n" + json.dumps(passed))
"""
PYTHON = (sys.executable, "-I", "-S", "-B", "-X", "utf8")
# What must not happen, each in a package that is otherwise right.
BUGS = {
    "accents vanish": ('"NFKD"', '"NFKC"'),
    "a separator stays at the end": ("    slug = separator.join(words)\n    while", "    slug = separator.join([*words, \"\"])\n    while"),
    "the second call finds nothing": ("seen: set[str] | None = None", "seen: set[str] | None = set()"),
    "words are cut": ("        words.pop()\n        slug = separator.join(words)\n", "        slug = slug[:max_length]\n"),
    "a taken slug is given": ("    if slug not in used:", "    if slug:"),
}
random = checks.random()


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
    return checks.run(*PYTHON, "-c", code, *args, seconds=60, **how)


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


def answers(fresh, fixed):
    """Grade these answers to these questions. What is fixed counts only beside something that is made up: whoever knows
    these checks by heart passes none."""
    wanted = fresh | fixed
    wrong = [
        "" if is_right(seen, answer) else f"Expected {ascii(answer)} from {ascii(question)}, saw {ascii(seen)[:200]}."
        for (question, answer), seen in zip(wanted.items(), asked(list(wanted)), strict=True)
    ]
    first = wrong[: len(fresh)]
    grade([[said] for said in first] + [[said, first[place % len(first)]] for place, said in enumerate(wrong[len(first) :])])


def grade(cases):
    """Of each case, what is wrong with it; empty texts where nothing is."""
    wrong = [[said for said in case if said] for case in cases]
    for sentence in dict.fromkeys(said for case in wrong for said in case):
        print(sentence)
    checks.grade(sum(not case for case in wrong), len(cases))
    sys.exit(int(any(wrong)))


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
        f"slugs.slugify('É{SIX}è, {TWO}û')": f"e{SIX}e-{TWO}u",
    }, {
        "slugs.slugify('Ångström à la façon')": "angstrom-a-la-facon",
        "slugs.slugify('cafe\\u0301 NOËL')": "cafe-noel",
        "slugs.slugify('¿Señor Muñoz?')": "senor-munoz",
        "slugs.slugify('日本')": "",
        "slugs.slugify_all(['Pâté', 'Pate'])": ["pate"],
    })


def separators():
    answers({
        f"slugs.slugify('({ONE}) {TWO}?', '_')": f"{ONE}_{TWO}",
        f"slugs.slugify('... {ONE}, {TWO} & {SIX}!', separator='.')": f"{ONE}.{TWO}.{SIX}",
    }, {
        "slugs.slugify('(One) two?', '_')": "one_two",
        "slugs.slugify('One two', '+')": "one+two",
        "slugs.slugify('-One - two-', '--')": "one--two",
        "slugs.slugify('?!', '_')": "",
        "slugs.slugify_all(['One!', 'Two, three.'], '_')": ["one", "two_three"],
    })


def lists():
    """Each question is asked twice, and has a title twice: who forgets everything is not right, either."""
    answers({
        f"[slugs.slugify_all(['{ONE}', '{TWO}', '{ONE}!']) for _ in range(2)]": [[ONE, TWO]] * 2,
        f"[slugs.slugify_all(['{SIX}', '{TWO}', '{SIX}?']) for _ in range(2)]": [[SIX, TWO]] * 2,
        f"[slugs.slugify_all(['{ONE}', '{SIX}', '{ONE}'], '-', seen) for seen in ({{'{SIX}'}}, set())] + "
        f"[slugs.slugify_all(['{SIX}', '{ONE}'])]": [[ONE], [ONE, SIX], [SIX, ONE]],
    }, {
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
    }, {
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
        f"[slugs.slugify('{ONE} {TWO} {SIX}', max_length=most) for most in (19, 20)]": [f"{ONE}-{TWO}", f"{ONE}-{TWO}-{SIX}"],
        f"[slugs.slugify('{SIX}, {ONE}', max_length=most) for most in (13, 12, None)]": [f"{SIX}-{ONE}", SIX, f"{SIX}-{ONE}"],
    }, {
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
        f"[slugs.slugify('{ONE} {TWO}', '--', most) for most in (14, 13)]": [f"{ONE}--{TWO}", ONE],
        f"[slugs.slugify('{SIX} {TWO}', max_length=most) for most in (6, 5, 1)]": [SIX, "", ""],
    }, {
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
    }, {
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
    """Of code that does most of what was asked for: rules that are kept by code that does nothing are worth nothing."""
    expect_work()
    public, foreign, unhinted, undocumented = set(), [], [], []
    for path in [path for path in checks.files() if re.fullmatch(r"slugs/.*\.py", path)]:
        try:
            tree = ast.parse(source_of(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            checks.fail(f"Expected Python in {ascii(path)}, but it cannot be read.")
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            foreign += [name for name in names if name.split(".")[0] not in sys.stdlib_module_names | {"slugs"}]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                public.add(node.name)
                given = node.args
                every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
                unhinted += [node.name] * (not node.returns or any(arg and not arg.annotation for arg in every))
                undocumented += [node.name] * (not ast.get_docstring(node))
    readme, lacking = text_of("README.md"), {"is_slug", "slugify", "slugify_all", "unique"} - public
    grade([
        [f"Expected the standard library only, saw {ascii(foreign[0])} imported." if foreign else ""],
        [f"Expected type hints all over {ascii(unhinted[0])}, but some are missing." if unhinted else ""],
        [f"Expected a docstring in {ascii(undocumented[0])}, but there is none." if undocumented else ""],
        [f"Expected public functions {sorted(lacking)} in slugs, but they are not there." if lacking else ""],
        *([f"Expected README.md to describe {word}, but it does not." * (word not in readme)] for word in ("unique", "max_length")),
    ])


def tests():
    """The new tests are run on the package, on one that is right, and on some that are not, in any order: they have to
    tell them apart."""
    expect_work()
    new = [path for path in checks.files() if re.fullmatch(r"tests/test_[^/]*\.py", path) and path != EXISTING]
    if not new:
        checks.fail("Expected new tests in a new file tests/test_*.py, but there is none.")
    packages = {"its own": {}, "right": {path: (REFERENCE / path).read_text() for path in ("slugs/__init__.py", "slugs/core.py")}}
    for bug, (old, wrong) in BUGS.items():
        packages[bug] = {**packages["right"], "slugs/core.py": packages["right"]["slugs/core.py"].replace(old, wrong)}
    order = random.sample(list(packages), len(packages))
    names = [PurePosixPath(path).name for path in new]
    asked_for = {"packages": [packages[name] for name in order], "names": names, "code": TEST}
    ended = python(TEST_ALL, input=json.dumps(asked_for))
    passed = dict(zip(order, map(passing, listed(last_line_of(ended)) or [""] * len(order))))
    sound = passed["its own"] & passed["right"]
    grade([[f"Expected a new test that fails where {bug}, but none does." * (not sound - passed[bug])] for bug in BUGS])


def last_line_of(ended):
    return ended.stdout.strip().rpartition("\n")[2]


def listed(text):
    """The items of a list in JSON; none where that cannot be told."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        found = []
    return found if isinstance(found, list) else []


def passing(line):
    """The tests that passed."""
    return {str(name) for name in listed(line)}


CHECKS = {
    check.__name__: check
    for check in (accents, separators, lists, existing, length, edges, unique, rules, tests)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()
