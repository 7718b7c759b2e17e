"""`orvl new eval --commits`: an eval from a repository's own commits, which gives nothing of them away and runs nothing of
theirs outside of the sandbox."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from helpers.eval_checks import checked
from helpers.git_repository import GitRepository
from helpers.needs import need, need_program
from helpers.processes import below, command_line
from helpers.pseudo_terminal import dialogue
from helpers.user_project import Result, UserProject
from orvl.project import open_project
from orvl.testing import Answer, ModelServer
from orvl.trust.mutate.patches import apply_patch

ROOT = Path(__file__).parents[2]
MADE_ONCE = ("shop", "counter", "own_history")
ODD_NAMES = ("-dash.txt", "two\nlines.txt", "späti.txt")
PRICES = """
def total(prices):
    return sum(prices)
"""
WITH_DISCOUNT = '''
def total(prices, discount=0):
    """The sum, less a discount in percent."""
    if not 0 <= discount <= 100:
        raise ValueError(f"a discount of {discount} makes no sense")
    whole = sum(prices)
    return round(whole - whole * discount / 100, 2)
'''
WITHOUT_EMPTY = WITH_DISCOUNT.replace(
    "    whole =", "    if not prices:\n        raise ValueError('an empty basket')\n    whole ="
)
TESTS = """
import unittest

from prices import total


class PricesTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(total([1, 2]), 3)

    def test_nothing(self):
        self.assertEqual(total([]), 0)

    def test_writes_outside(self):
        try:
            open("{mark}", "w").close()
        except OSError:
            pass
"""
OF_DISCOUNTS = """
    def test_discount(self):
        self.assertEqual(total([10, 10], discount=50), 10)

    def test_too_much(self):
        with self.assertRaisesRegex(ValueError, "makes no sense"):
            total([10], discount=101)
"""
VAT = '''
def with_vat(net, percent=19):
    """What a customer pays."""
    return round(net + net * percent / 100, 2)
'''
OF_VAT = """
import unittest

from vat import with_vat


class VatTest(unittest.TestCase):
    def test_usual(self):
        self.assertEqual(with_vat(100), 119)
"""
INSTALLED = {
    "build/lib/prices.py": WITH_DISCOUNT,
    "shop.egg-info/PKG-INFO": "Name: shop\n",
    ".venv/lib/prices.py": WITH_DISCOUNT,
    "web/node_modules/vat/index.js": VAT,
    "__pycache__/prices.cpython-311.pyc": b"\x00discount\x00",
}
SPY = """
models = {"none": ["fixed"]}

def command(prompt, turn):
    script = '''
    git cat-file --batch-all-objects --batch-check="%(objectname)" > objects.txt
    git cat-file --batch-all-objects --batch --buffer > contents.bin
    { git log --all --oneline; git tag; git remote; git reflog; git stash list; ls .git/hooks; } > history.txt 2>/dev/null
    cat .git/config > config.txt
    '''
    return ["sh", "-c", script]
"""


@dataclass
class Shop:
    """A repository in Python, and the eval that was made from it."""

    project: UserProject
    repository: GitRepository
    marks: Path
    made: Result
    requests: list[str] = field(default_factory=list)
    commits: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return self.project.root / "evals" / "shop"

    def agent(self, name: str, files: dict[str, str]) -> None:
        """An agent that writes these files in its first turn."""
        program = "import json, os, sys\nfor path, text in json.loads(sys.argv[1]).items():\n    open(path, 'w').write(text)\n"
        words = ["python3", "-c", program, json.dumps(files)]
        self.project.agent(name, f'models = {{"none": ["m"]}}\n\ndef command(prompt):\n    return {words!r}\n')


def project_in(folder: Path) -> UserProject:
    return UserProject(folder / "project")


def shop_repository(root: Path, marks: Path) -> tuple[GitRepository, tuple[str, ...]]:
    """Two steps: a commit, and a merge of another one. It has all that a repository from somebody else may have."""
    repository = GitRepository(root / "shop")
    tests = TESTS.replace("{mark}", str(marks / "test"))
    (repository.root / "latest").symlink_to("README.md")
    before = repository.commit(
        "The shop opens",
        {
            "prices.py": PRICES,
            "tests/test_prices.py": tests,
            "old.py": "OLD = True\n",
            "README.md": "# Shop\n",
            "tool.sh": "echo tool\n",
            "data.bin": b"\x00\x01\xff",
            "version.txt": "$Format:%H$\n",
            ".gitattributes": "*.py filter=evil diff=evil\nversion.txt export-subst ident\n",
            **dict.fromkeys(ODD_NAMES, "odd\n"),
            **INSTALLED,
        },
    )
    (repository.root / "run.sh").write_text("echo run\n")
    (repository.root / "run.sh").chmod(0o755)
    repository.git("add", "run.sh")
    repository.git("commit", "--quiet", "--amend", "--no-edit")
    before = repository.git("rev-parse", "HEAD")
    first = repository.commit(
        "Prices can have a discount\n\nSigned-off-by: T <t@x>",
        {"prices.py": WITH_DISCOUNT, "tests/test_prices.py": tests + OF_DISCOUNTS},
    )
    repository.git("checkout", "--quiet", "-b", "vat")
    changed = (tests + OF_DISCOUNTS).replace(
        "self.assertEqual(total([]), 0)", "self.assertRaises(ValueError, total, [])"
    )
    (repository.root / "tool.sh").chmod(0o755)
    repository.commit(
        "Customers see what they pay",
        {
            "prices.py": WITHOUT_EMPTY,
            "tests/test_prices.py": changed,
            "vat.py": VAT,
            "tests/test_vat.py": OF_VAT,
            "old.py": None,
            "data.bin": b"\x00\x02",
        },
    )
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "-m", "Merge: VAT", "vat")
    repository.git("tag", "v2")
    repository.git("remote", "add", "origin", "https://example.com/shop.git")
    return repository, (before, first, repository.git("rev-parse", "HEAD"))


def writer(request) -> Answer:
    """A model whose first word gives the solution away, and whose second lacks what tests need."""
    asked = request.prompt_text
    if "with_vat" in asked:
        prompt = "Please add vat.py with `with_vat(net)`: what a customer pays with 19 percent. An empty basket is a mistake."
    elif "That quotes the change" not in asked:
        prompt = "Do it so: return round(whole - whole * discount / 100, 2)"
    elif "That does not say" not in asked:
        prompt = "We want to give rebates."
    else:
        prompt = "`total` should take a `discount` in percent; an impossible one is a ValueError that says it `makes no sense`."
    return Answer(json.dumps({"prompt": prompt}))


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Shop:
    root = tmp_path_factory.mktemp("shop")
    marks = root / "marks"
    marks.mkdir()
    project = project_in(root)
    repository, commits = shop_repository(root, marks)
    repository.set_traps(marks)
    with ModelServer(writer) as server:
        project.toml(f'[providers.desk]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\n')
        words = (
            "--commits",
            f"{commits[0]}..HEAD",
            "--repository",
            str(repository.root),
            "--model",
            "m",
            "--provider",
            "desk",
        )
        made = project.orvl("new", "eval", "shop", *words, timeout=900)
    assert made.status == 0, made.err
    return Shop(project, repository, marks, made, [request.prompt_text for request in server.requests], commits)


def test_no_program_of_the_repository_was_executed(shop):
    assert not list(shop.marks.iterdir())


def test_the_traps_are_real(shop, tmp_path):
    """What git does by itself with such a repository: else the test above shows nothing."""
    marks = tmp_path / "marks"
    marks.mkdir()
    repository = GitRepository(tmp_path / "trapped")
    repository.commit("One", {"a.py": "a = 1\n", ".gitattributes": "*.py filter=evil diff=evil\n"})
    repository.set_traps(marks)
    repository.write("a.py", "a = 2\n")
    for words in (["status"], ["diff"], ["log", "-p", "-1"], ["checkout", "--", "a.py"]):
        subprocess.run(["git", *words], cwd=repository.root, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    assert {"fsmonitor", "process"} <= {path.name for path in marks.iterdir()}


def test_a_run_starts_from_the_files_of_the_first_commit_alone(shop):
    workspace = shop.folder / "workspace"
    found = {str(path.relative_to(workspace)) for path in workspace.rglob("*") if path.is_symlink() or path.is_file()}
    assert found == {
        *("prices.py", "tests/test_prices.py", "old.py", "README.md", "latest", "tool.sh", "run.sh", "data.bin"),
        *("version.txt", ".gitattributes", *ODD_NAMES),
    }
    assert (workspace / "prices.py").read_text() == PRICES.lstrip("\n")
    assert (workspace / "version.txt").read_text() == "$Format:%H$\n"
    assert (workspace / "data.bin").read_bytes() == b"\x00\x01\xff"
    assert os.readlink(workspace / "latest") == "README.md"
    assert [bool((workspace / name).stat().st_mode & 0o100) for name in ("run.sh", "tool.sh")] == [True, False]
    said = "build, shop.egg-info" in shop.made.err.replace(".venv, __pycache__, ", "")
    assert said and "web/node_modules" in shop.made.err and "To keep one: --with FOLDER" in shop.made.err


def test_nothing_of_later_commits_is_in_what_an_agent_gets(shop):
    """Neither in the files nor in the repository that it gets: no blob, no line, no history."""
    repository, (before, *later) = shop.repository, shop.commits
    given = set(repository.git("ls-tree", "-r", "--format=%(objectname)", before).split())
    blobs = {
        one for commit in later for one in repository.git("ls-tree", "-r", "--format=%(objectname)", commit).split()
    } - given
    assert len(blobs) >= 5
    patch = repository.git(
        "-c",
        "diff.external=",
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        before,
        later[-1],
        "--",
        "*.py",
        GIT_ATTR_SOURCE="",
    )
    lines = {line[1:].strip() for line in patch.splitlines() if line.startswith("+") and not line.startswith("+++")}
    telling = {line for line in lines if len(line) > 20}
    assert len(telling) >= 10
    shop.project.agent("spy", SPY)
    ran = shop.project.orvl("spy", "--eval", "shop")
    assert ran.status == 0, ran.err
    seen = {
        name: shop.project.call("show", "spy/shop/1", "--file", name).stdout
        for name in ("objects.txt", "contents.bin", "history.txt", "config.txt")
    }
    objects = set(seen["objects.txt"].decode().split())
    assert len(objects) > 10 and not objects & blobs and not objects & set(later)
    workspace = b"\0".join(path.read_bytes() for path in (shop.folder / "workspace").rglob("*") if path.is_file())
    for line in telling:
        assert line.encode() not in seen["contents.bin"], line
        assert line.encode() not in workspace, line
    assert len(seen["history.txt"].decode().split("\n")) == 2, "one commit, and neither tag, remote, reflog nor hook"
    assert b"remote" not in seen["config.txt"] and b"evil" not in seen["config.txt"]


def test_the_checks_are_due_by_turn_and_the_eval_is_private(shop):
    settings = yaml.safe_load((shop.folder / "eval.md").read_text().split("---\n")[1])
    rows = {
        row["name"]: {key: row[key] for key in ("turn", "until", "keep") if key in row} for row in settings["checks"]
    }
    assert rows == {
        "turn-1": {"turn": 1},
        "turn-2-1-test-prices": {"turn": 2},
        "turn-2-2-test-vat": {"turn": 2},
        "keep": {"keep": True},
        "keep-until-2": {"keep": True, "until": 2},
    }
    assert settings["private"] is True and uuid.UUID(settings["canary"])
    assert settings["family"] == "shop"
    plan = json.loads((shop.folder / "checks" / "plan.json").read_text())["checks"]
    assert plan["keep-until-2"]["expected"] == ["test_prices.PricesTest.test_nothing"]
    assert plan["turn-1"]["expected"] == [
        "test_prices.PricesTest.test_discount",
        "test_prices.PricesTest.test_too_much",
    ]
    assert len(plan["turn-1"]["reported"]) == 5


def test_good_work_passes_and_no_work_earns_nothing(shop):
    ran = shop.project.orvl("dummy-good,empty", "--eval", "shop", "--json")
    assert ran.status == 0, ran.err
    means = {row["agent"]: row["metrics"]["checks"]["mean"] for row in ran.json["ratings"]}
    assert means == {"dummy-good": 1.0, "empty": 0.0}
    shown = shop.project.orvl("show", "dummy-good/shop/1", "--json").json["attempts"][0]["checks"]
    assert {check["isolation"] for check in shown} == {"in-process"}
    assert shop.project.orvl("show", "dummy-good/shop/1", "--file", "vat.py").status == 0
    assert shop.project.orvl("show", "dummy-good/shop/1", "--file", "old.py").status == 2


CHEATS = {
    "early-exit": {"prices.py": "import os\nos._exit(0)\n"},
    "forged-output": {"prices.py": "print('Ran 5 tests\\n\\nOK')\nraise SystemExit(0)\n"},
    "edited-tests": {
        "tests/test_prices.py": "import unittest\nclass PricesTest(unittest.TestCase):\n    def test_sum(self): pass\n"
        "    test_nothing = test_writes_outside = test_discount = test_too_much = test_sum\n"
    },
    "shadowed": dict.fromkeys(
        ("unittest.py", "pytest.py", "json.py", "sitecustomize.py", "usercustomize.py"), "import sys\nsys.exit(0)\n"
    ),
    "configured": {
        "conftest.py": "import os\nos._exit(0)\n",
        "setup.cfg": "[tool:pytest]\naddopts = --co\n",
        "pytest.ini": "[pytest]\naddopts = --co\n",
    },
}


def test_cheats_gain_nothing(shop):
    for name, files in CHEATS.items():
        shop.agent(name, files)
    ran = shop.project.orvl(",".join(CHEATS), "--eval", "shop", "--json")
    assert {row["agent"]: row["metrics"]["checks"]["mean"] for row in ran.json["ratings"]} == dict.fromkeys(CHEATS, 0.0)


def test_the_tests_leave_the_work_as_it_was(shop, tmp_path):
    """What the agent has in the way of the original tests is there again for whatever is checked next."""
    work = tmp_path / "work"
    shutil.copytree(shop.folder / "workspace", work, symlinks=True)
    (work / "conftest.py").write_text("x = 1\n")
    (work / "tests" / "test_mine.py").write_text("y = 1\n")
    shutil.rmtree(work / "tests")
    (work / "tests").symlink_to("nowhere")
    shutil.copytree(shop.folder / "checks", work / "checks")
    before = tree_of(work)
    subprocess.run([sys.executable, "checks/run_tests.py", "keep"], cwd=work, capture_output=True, check=False)
    assert tree_of(work) == before


def tree_of(folder: Path) -> dict[str, str | bytes]:
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if "__pycache__" not in path.parts}
    return {
        name: os.readlink(path) if path.is_symlink() else path.read_bytes()
        for name, path in paths.items()
        if path.is_symlink() or path.is_file()
    }


def test_good_is_what_the_commits_left_and_every_bug_is_caught(shop, tmp_path):
    state, patches = tmp_path / "state", sorted((shop.folder / "controls" / "bugs").iterdir())
    shutil.copytree(shop.folder / "workspace", state, symlinks=True)
    for turn in ("turn-1", "turn-2"):
        layer = shop.folder / "controls" / "good" / turn
        shutil.copytree(layer, state, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".delete"))
    assert (shop.folder / "controls/good/turn-2/.delete").read_text() == "old.py\n"
    assert (state / "prices.py").read_text() == WITHOUT_EMPTY.lstrip("\n")
    assert (state / "tool.sh").stat().st_mode & 0o100 and (state / "data.bin").read_bytes() == b"\x00\x02"
    assert 2 <= len(patches) <= 5
    good = {str(path.relative_to(state)): path.read_bytes() for path in state.rglob("*.py")}
    folders = []
    for patch in patches:
        folders.append(tmp_path / patch.stem)
        shutil.copytree(state, folders[-1], symlinks=True)
        for path, content in apply_patch(patch, good).items():
            (folders[-1] / path).write_bytes(content)
    eval_ = open_project(shop.project.root).eval("shop")
    names = [check.name for check in eval_.checks if not check.keep]
    results = checked(eval_, [state, *folders], [names] * (len(folders) + 1))
    assert all(result.passed for result in results[0].values()), results[0]
    for patch, one in zip(patches, results[1:], strict=True):
        assert not all(result.passed for result in one.values()), patch.read_text()


def test_the_model_is_told_what_is_wrong_with_a_prompt(shop):
    first, second, third, last = shop.requests
    assert "Prices can have a discount" in first and "Signed-off-by" not in first
    assert "+    return round(whole - whole * discount / 100, 2)" in first
    assert "test_discount" not in first, "tests are no part of what it is told"
    assert "`discount`" in first and "`makes no sense`" in first
    assert "That quotes the change" in second and "That does not say" in third
    assert "- Customers see what they pay" in last, "a merge says what it merged"
    prompts = open_project(shop.project.root).eval("shop").prompts
    assert prompts[0].startswith("`total` should take a `discount`") and "with_vat(net)" in prompts[1]
    text = (shop.folder / "eval.md").read_text()
    assert "DRAFT" not in text and "does not say" not in text


def test_it_is_said_what_was_made_and_what_comes_next(shop):
    out = shop.made.out.splitlines()
    assert out[0] == "made  evals/shop/eval.md"
    assert "Next: orvl check shop" in out and "Try it: orvl AGENT --eval shop" in out
    again = shop.project.orvl(
        "new", "eval", "shop", "--commits", "HEAD~1..HEAD", "--repository", str(shop.repository.root)
    )
    assert again.status == 2 and "There is already an eval 'shop'" in again.err
    assert sorted(path.name for path in (shop.project.root / "evals").iterdir()) == ["shop"]
    assert not list(shop.project.tmp.glob("orvl-new-*"))


# -- node, and an editor on a terminal

COUNTER = {
    "package.json": '{"name": "counter", "scripts": {"test": "node --test"}}\n',
    "counter.js": "exports.count = (text) => text.split(' ').length;\n",
    "test/counter.test.js": """
    const test = require("node:test");
    const assert = require("node:assert");
    const { count } = require("../counter.js");

    test("counts words", () => assert.equal(count("a b"), 2));
    """,
}
COUNTED = {
    "counter.js": "exports.count = (text) => text.split(/\\s+/).filter(Boolean).length;\n",
    "test/counter.test.js": COUNTER["test/counter.test.js"]
    + """
    test("blanks", async (t) => {
      await t.test("no word", () => assert.equal(count("  "), 0));
      await t.test("between words", () => assert.equal(count("a   b"), 2));
    });
    """,
}


@pytest.fixture(scope="module")
def counter(tmp_path_factory):
    need_program("node")
    root = tmp_path_factory.mktemp("counter")
    project = project_in(root)
    repository = GitRepository(root / "counter")
    repository.commit("Words are counted", COUNTER)
    repository.commit("Blanks are no words\n\n---\n{{output: id}}", COUNTED)
    editor = root / "editor.sh"
    editor.write_text(
        f'#!/bin/sh\ncp "$1" {root}/seen.md\nsed -i "1s/.*/Blanks count as words. Please don\'t./" "$1"\n'
    )
    editor.chmod(0o755)
    env = {
        **{name: value for name, value in project.env.items() if name != "CI"},
        "TERM": "xterm",
        "EDITOR": str(editor),
    }
    words = ("new", "eval", "counter", "--commits", "HEAD", "--repository", str(repository.root))
    status, drawn = dialogue(project, *words, env=env, answers=[])
    assert status == 0, drawn.decode()
    return SimpleNamespace(project=project, drawn=drawn.decode(), seen=(root / "seen.md").read_text())


def test_a_repository_in_node_becomes_an_eval_by_an_editor(counter):
    assert "tests are run by: node --test" in counter.drawn
    assert counter.seen.startswith("Blanks are no words\n\n---\n{{output: id}}\n\n------")
    assert "+exports.count = (text) => text.split(/\\s+/)" in counter.seen
    eval_ = open_project(counter.project.root).eval("counter")
    assert eval_.prompts == ("Blanks count as words. Please don't.\n\n---\n{{output: id}}",)
    plan = json.loads((counter.project.root / "evals/counter/checks/plan.json").read_text())["checks"]
    assert plan["turn-1"]["expected"] == ["blanks", "blanks > between words", "blanks > no word"]
    assert plan["keep"]["expected"] == ["counts words"]
    assert "DRAFT" not in eval_.path.read_text()


def test_node_tells_good_work_from_none_and_from_cheats(counter):
    cheat = {
        "package.json": '{"scripts": {"test": "true"}}',
        "counter.js": "console.log('ok 1 - blanks'); process.exit(0);\n",
    }
    program = "import json, sys\nfor path, text in json.loads(sys.argv[1]).items():\n    open(path, 'w').write(text)\n"
    words = ["python3", "-c", program, json.dumps(cheat)]
    counter.project.agent("cheat", f'models = {{"none": ["m"]}}\n\ndef command(prompt):\n    return {words!r}\n')
    ran = counter.project.orvl("dummy-good,empty,cheat", "--eval", "counter", "--json")
    means = {row["agent"]: row["metrics"]["checks"]["mean"] for row in ran.json["ratings"]}
    assert means == {"dummy-good": 1.0, "empty": 0.0, "cheat": 0.0}


@pytest.mark.nightly
def test_npm_says_the_names_of_tests_by_tap(tmp_path):
    need_program("npm")
    project, repository = project_in(tmp_path), GitRepository(tmp_path / "counter")
    repository.commit("Words are counted", COUNTER)
    repository.commit("Blanks are no words", COUNTED)
    words = ("new", "eval", "counter", "--commits", "HEAD", "--repository", str(repository.root), "--test", "npm test")
    made = project.orvl(*words, timeout=900)
    assert made.status == 0, made.err
    plan = json.loads((project.root / "evals/counter/checks/plan.json").read_text())
    assert plan["runner"]["env"] == {"NODE_OPTIONS": "--test-reporter=tap"}
    assert plan["checks"]["turn-1"]["expected"] == ["blanks", "blanks > between words", "blanks > no word"]
    ran = project.orvl("dummy-good,empty", "--eval", "counter", "--json")
    assert {row["agent"]: row["metrics"]["checks"]["mean"] for row in ran.json["ratings"]} == {
        "dummy-good": 1.0,
        "empty": 0.0,
    }


# -- any command, by its exit status, with a setup and a draft


def test_any_command_is_a_test_and_a_message_is_a_draft(project, tmp_path):
    repository = GitRepository(tmp_path / "shell")
    repository.commit(
        "Start", {"hello.sh": "echo hello\n", "tests/run.sh": '[ "$(sh hello.sh)" = hello ] && test -e made\n'}
    )
    repository.commit(
        "It greets by `greet_loudly`",
        {
            "hello.sh": "greet_loudly() { echo HELLO; }\ngreet_loudly\n",
            "tests/run.sh": '. ./hello.sh > out && [ "$(greet_loudly)" = HELLO ] && test -e made\n',
        },
    )
    words = (
        "--commits",
        "main",
        "--repository",
        str(repository.root),
        "--test",
        "sh tests/run.sh",
        "--setup",
        "touch made",
    )
    made = project.orvl("new", "eval", "shell", *words, timeout=900)
    assert made.status == 0, made.err
    text = (project.root / "evals/shell/eval.md").read_text()
    assert "# DRAFT: turn 1 is the commit's message. Write what a user would have asked instead.\n" in text
    assert 'setup: ["touch made"]' in text or "setup: [touch made]" in text
    assert (
        "network: registries" in text and "a released version of this project there would be the solution" in made.err
    )
    settings = yaml.safe_load(text.split("---\n")[1])
    assert [row["name"] for row in settings["checks"]] == ["turn-1"], "the test of before fails after the commit"
    ran = project.orvl("dummy-good,empty", "--eval", "shell", "--json")
    assert {row["agent"]: row["metrics"]["checks"]["mean"] for row in ran.json["ratings"]} == {
        "dummy-good": 1.0,
        "empty": 0.0,
    }


def test_a_draft_says_what_it_lacks(project, tmp_path):
    import asyncio

    from orvl.new.history import read_history
    from orvl.new.prompts import Drafts, Prompt, all_prompts, comments
    from orvl.new.repository import Repository

    repository = GitRepository(tmp_path / "lib")
    repository.commit("Start", {"lib.py": "def known():\n    return 1\n", "test_lib.py": "import lib\n"})
    code = 'def brand_new(flag="--strict-mode"):\n    local_helper = 1\n    return "all is well"\n'
    test = 'from lib import known, brand_new\ndef test_it():\n    own_name = brand_new("--strict-mode")\n    assert own_name == "all is well"\n'
    repository.commit("Better", {"lib.py": code + "def known():\n    return 2\n", "test_lib.py": test})
    history = read_history(Repository(repository.root), "HEAD")
    notes = comments(history, asyncio.run(all_prompts(history, Drafts())))
    assert notes[1] == "Turn 1 does not say what its hidden tests need: `--strict-mode`, `brand_new`, `all is well`"
    said = Prompt("Let brand_new take --strict-mode, and say 'all is well'.")
    assert comments(history, [said]) == []
    leak = Prompt('brand_new --strict-mode all is well: def brand_new(flag="--strict-mode"):')
    assert comments(history, [leak]) == ['Turn 1 quotes the solution: `def brand_new(flag="--strict-mode"):`']


# -- orvl's own commits

OWN = "41ad359"
"""A commit with one test beside one change, in a part that is quickly tried."""


@pytest.fixture(scope="module")
def own_history(tmp_path_factory):
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone of the repository")
    known = subprocess.run(
        ["git", "rev-parse", "--verify", "-q", f"{OWN}~3"], cwd=ROOT, capture_output=True, check=False
    )
    need(known.returncode == 0, f"the commit {OWN} of the history; fetch it: git fetch --unshallow")
    project = project_in(tmp_path_factory.mktemp("own"))
    packages = sysconfig.get_path("purelib")
    project.toml(f"sandbox.paths = {json.dumps([packages, sys.base_prefix])}\n")
    python = f"PYTHONPATH=src:{packages} {Path(sys.executable).resolve()}"
    return SimpleNamespace(project=project, test=f"{python} -m pytest")


def own_eval(own_history, name: str, commits: str, *more: str) -> Path:
    words = ("--commits", commits, "--repository", str(ROOT), "--test", own_history.test, *more)
    made = own_history.project.orvl("new", "eval", name, *words, timeout=1800)
    assert made.status == 0, made.err
    ran = own_history.project.orvl("dummy-good,empty", "--eval", name, "--json", timeout=1800)
    means = {row["agent"]: row["metrics"]["checks"]["mean"] for row in ran.json["ratings"]}
    assert means == {"dummy-good": 1.0, "empty": 0.0}
    return own_history.project.root / "evals" / name


@pytest.mark.nightly
def test_a_commit_of_orvl_itself_becomes_a_private_eval(own_history):
    folder = own_eval(own_history, "one", OWN, "--keep", "tests/unit/test_merging.py")
    plan = json.loads((folder / "checks" / "plan.json").read_text())["checks"]
    assert plan["turn-1"]["files"] == ["tests/unit/test_merging.py"]
    assert plan["turn-1"]["expected"] and len(plan["keep"]["expected"]) > 10
    assert "private: true" in (folder / "eval.md").read_text()


@pytest.mark.nightly
def test_a_range_of_orvl_itself_becomes_a_private_eval(own_history):
    folder = own_eval(own_history, "several", f"{OWN}~3..{OWN}", "--keep", "tests/unit/test_merging.py")
    plan = json.loads((folder / "checks" / "plan.json").read_text())["checks"]
    assert any(name.startswith("turn-") for name in plan) and "keep" in plan


# -- what no eval can be made of


def two(root: Path, first: dict, second: dict, name: str = "two") -> GitRepository:
    repository = GitRepository(root / name)
    repository.commit("One", first)
    repository.commit("Two", second)
    return repository


def refused(project, repository: GitRepository, commits: str = "HEAD", *more: str) -> str:
    done = project.orvl(
        "new", "eval", "no", "--commits", commits, "--repository", str(repository.root), *more, timeout=300
    )
    assert done.status == 2, done.err
    assert not (project.root / "evals").exists()
    assert not list(project.tmp.glob("orvl-new-*"))
    return done.err


A_TEST = {"test_a.py": "import unittest\n"}


def test_trees_that_no_eval_can_have_are_sentences(project, tmp_path):
    plain = {"a.py": "a = 1\n"}
    sub = two(tmp_path, plain, A_TEST, "sub")
    sub.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},vendor/lib")
    sub.git("commit", "--quiet", "-m", "Submodule")
    assert "'vendor/lib' is a submodule" in refused(project, sub)
    assert "has 'checks' at its top" in refused(project, two(tmp_path, {"checks/a.sh": "x\n"}, A_TEST, "checks"))
    linked = GitRepository(tmp_path / "linked")
    (linked.root / "out").symlink_to("/etc")
    linked.commit("One", plain)
    linked.commit("Two", A_TEST)
    assert "'out' is a link to '/etc', outside of the repository" in refused(project, linked)
    (linked.root / "out").unlink()
    (linked.root / "out").symlink_to("a.py")
    linked.commit("Three", {})
    assert "changes the link 'out'" in refused(project, linked)
    gone = two(tmp_path, {**plain, "a\nb.txt": "x\n"}, {**A_TEST, "a\nb.txt": None}, "gone")
    assert r"deletes 'a\nb.txt', a name that a list of files cannot hold" in refused(project, gone)
    large = two(tmp_path, {**plain, "large.bin": bytes(65 << 20)}, A_TEST, "large")
    assert "'large.bin' has 65 MiB; files of an eval may have 64 MiB at most" in refused(project, large)


@pytest.mark.parametrize("name", ["..", ".git", "."])
def test_names_that_lead_out_are_refused(project, tmp_path, name):
    repository = two(tmp_path, {"a.py": "a = 1\n"}, A_TEST)
    blob = repository.git("hash-object", "-w", "a.py")
    inner = (
        subprocess.run(
            ["git", "mktree"],
            cwd=repository.root,
            input=f"100644 blob {blob}\tescaped\n".encode(),
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .strip()
    )
    outer = (
        subprocess.run(
            ["git", "mktree"],
            cwd=repository.root,
            input=f"040000 tree {inner}\t{name}\n100644 blob {blob}\ttest_a.py\n".encode(),
            capture_output=True,
            check=True,
        )
        .stdout.decode()
        .strip()
    )
    commit = repository.git("commit-tree", outer, "-p", "HEAD", "-m", "Out")
    assert "has an entry that no file can be" in refused(project, repository, commit)
    assert not list(tmp_path.rglob("escaped"))


def test_tests_that_are_not_there_are_told_before_any_is_run(project, tmp_path):
    repository = two(tmp_path, {"a.py": "a = 1\n", "tests/test_b.py": "import unittest\n"}, A_TEST)
    said = refused(project, repository, "HEAD", "--keep", "tests/test_c.py")
    assert "--keep tests/test_c.py: there are no such tests before the first commit" in said
    assert "Setting up" not in said and "Turn 1" not in said


def test_ranges_that_are_none_are_sentences(project, tmp_path):
    repository = two(tmp_path, {"a.py": "a = 1\n"}, {**A_TEST, "a.py": "a = 2\n"})
    assert "There is no commit 'v9'" in refused(project, repository, "v9..HEAD")
    assert "It is the other way round" in refused(project, repository, "HEAD..HEAD~1")
    assert "has three dots" in refused(project, repository, "HEAD~1...HEAD")
    assert "is the first commit of the repository" in refused(project, repository, "HEAD~1")
    assert "'--upload-pack=x' is no commit" in refused(project, repository, "--upload-pack=x..HEAD")
    repository.git("checkout", "--quiet", "-b", "side", "HEAD~1")
    repository.commit("Side", {"b.py": "b = 1\n"})
    assert "is no straight line of commits" in refused(project, repository, "side..main")
    for number in range(21):
        repository.commit(f"{number}", {"b.py": f"b = {number}\n"})
    assert "has 21 commits, a turn each; name at most 20" in refused(project, repository, "HEAD~21..HEAD")
    assert "None of these commits changes a test" in refused(project, repository, "HEAD~2..HEAD")
    repository.commit("Nothing", {})
    assert "changes nothing that an eval has" in refused(project, repository)
    assert "How these tests are run is not plain" in refused(
        project, two(tmp_path, {"a.go": "x\n"}, {"a_test.go": "x\n"}, "go")
    )
    shallow = tmp_path / "shallow"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{repository.root}", str(shallow)], check=True)
    done = project.orvl("new", "eval", "no", "--commits", "HEAD~1..HEAD", "--repository", str(shallow))
    assert "This clone is shallow: git fetch --unshallow" in done.err
    done = project.orvl("new", "eval", "no", "--commits", "HEAD", "--repository", str(project.tmp))
    assert "is in no git repository" in done.err or "There is no commit" in done.err


def test_a_partial_clone_fetches_nothing(project, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    repository = two(tmp_path, {"a.py": "a = 1\n"}, {**A_TEST, "a.py": "a = 2\n"})
    repository.set_promisor_trap(marks)
    blob = repository.git("rev-parse", "HEAD:a.py")
    (repository.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert f"The file {blob[:12]} is not in this clone of the repository" in refused(project, repository)
    assert not list(marks.iterdir())
    shown = subprocess.run(["git", "show", blob], cwd=repository.root, capture_output=True, check=False)
    assert shown.returncode and list(marks.iterdir()), "git itself would have fetched it"


def test_tests_that_cannot_be_run_are_said_with_the_reason(project, tmp_path):
    first = {"a.py": "a = 1\n", "tests/test_a.py": "import pytest\nimport a\n\ndef test_a():\n    assert a.a == 1\n"}
    second = {"a.py": "a = 2\n", "tests/test_a.py": first["tests/test_a.py"].replace("== 1", "== 2")}
    said = refused(project, two(tmp_path, first, second))
    assert "No test of these commits fails before its commit and passes after it" in said
    assert "No module named 'pytest'" in said and "--setup 'python3 -m venv .venv" in said
    first = {
        "a.py": "a = 1\n",
        "test_a.py": "import unittest, a\n\nclass T(unittest.TestCase):\n    def test_a(self): self.assertTrue(a.a)\n",
    }
    said = refused(project, two(tmp_path, first, {"test_a.py": first["test_a.py"] + "\n", "a.py": "a = 2\n"}, "same"))
    assert "test_a.py: it passes before, too" in said


def test_an_interrupted_command_leaves_nothing(project, tmp_path):
    slow = "import time, unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        time.sleep(600)\n"
    repository = two(tmp_path, {"a.py": "a = 1\n"}, {"test_a.py": slow})
    process = subprocess.Popen(
        [*project.command, "new", "eval", "no", "--commits", "HEAD", "--repository", str(repository.root)],
        cwd=project.root,
        env=project.env,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 120
    while not any(b"inner-unittest" in command_line(pid) for pid in below(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.05)
    under_way = below(process.pid)
    assert any(b"inner-unittest" in command_line(pid) for pid in under_way)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130 and b"Traceback" not in said, said
    while any(b"inner-unittest" in command_line(pid) for pid in under_way) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(b"inner-unittest" in command_line(pid) for pid in under_way)
    assert not (project.root / "evals").exists()
    assert not list(project.tmp.glob("orvl-new-*")) and not list(project.tmp.glob("orvl-*/w*"))
