"""The tests of a repository: which files they are, what configures them, and how they are run."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

from orvl.errors import UserError
from orvl.trust.mutate.syntax import is_test

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.new.history import History
    from orvl.new.repository import Tree, TreeEntry

RunnerKind = Literal["pytest", "unittest", "node", "npm", "status"]
WHOLE: tuple[RunnerKind, ...] = ("npm", "status")
"""Runners that are told no files: they run all tests that there are."""
SUPPORT = re.compile(
    r"(^|/)(testdata|test_data|fixtures|__fixtures__|__snapshots__|__mocks__)/|(^|/)(test(-[^/]*)?|[^/]*-test)\.[cm]?[jt]sx?$"
)
"""What tests use, and tests that only node knows by their names."""
CONFIGURATION = (
    *("pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "conftest.py", "sitecustomize.py"),
    *("usercustomize.py", "package.json", ".npmrc", ".mocharc*", "jest.config.*", "vitest.config.*", "ava.config.*"),
    *(".taprc", ".c8rc*", ".nycrc*"),
)
PYTHON_TEST = re.compile(r"(test_.*|.*_test|tests?)\.py")
NODE_TEST = re.compile(r"(.*[-_.])?(test|spec)\.[cm]?[jt]s|test-.*\.[cm]?js")
SCRIPTED = re.compile(r"\.[cm]?[jt]sx?")
OPERATORS = re.compile(r"[|&;<>()$`\n]")
ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
PYTEST_SECTIONS = {"pyproject.toml": "[tool.pytest", "setup.cfg": "[tool:pytest]", "tox.ini": "[pytest]"}
PYTEST_STYLE = re.compile(r"^\s*(import pytest|from pytest)\b|^(async )?def test_", re.MULTILINE)
TAP_OF_NODE = "--test-reporter=tap"
BEFORE_A_VALUE = frozenset(
    (
        "-k",
        "-m",
        "-p",
        "-c",
        "-o",
        "-n",
        "-W",
        "-r",
        "--ignore",
        "--deselect",
        "--rootdir",
        "--import",
        "--require",
        "--loader",
    )
)
"""Options of runners whose next word is theirs."""


@dataclass(frozen=True)
class TestRunner:
    """How tests are run: the words of the command, or a line for the shell where only its exit status counts."""

    __test__ = False  # the name is no invitation to pytest
    kind: RunnerKind
    words: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    line: str = ""

    @property
    def shown(self) -> str:
        return self.line or shlex.join(self.words)

    def is_runnable(self, path: str) -> bool:
        """Whether a file is one that the runner is told, and not one that others use."""
        name = posixpath.basename(path)
        if self.kind == "node":
            return NODE_TEST.fullmatch(name) is not None or _is_in_test_folder(path)
        return self.kind not in WHOLE and PYTHON_TEST.fullmatch(name) is not None

    def as_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "words": list(self.words), "env": dict(self.env), "line": self.line}


def _is_in_test_folder(path: str) -> bool:
    """As node looks for tests: every script below a folder `test`."""
    return "test" in path.split("/")[:-1] and SCRIPTED.fullmatch(posixpath.splitext(path)[1]) is not None


def is_of_tests(path: str) -> bool:
    """Whether a file is a test, or something that tests use."""
    return is_test(path) or SUPPORT.search(path) is not None


def is_configuration(path: str) -> bool:
    name = posixpath.basename(path)
    return any(fnmatchcase(name, pattern) for pattern in CONFIGURATION)


def laid_anew(tree: Mapping[str, TreeEntry]) -> Tree:
    """The tests of a tree and their configuration: what is laid over an agent's work before they run."""
    return {
        path: one for path, one in tree.items() if (is_of_tests(path) or is_configuration(path)) and not one.is_link
    }


def runner_of(command: str | None, history: History) -> TestRunner:
    """The runner that a command is, or that the repository's tests are written for."""
    if command is not None:
        return _named(command, history)
    changed = [path for step in history.steps for path in step.changed if is_of_tests(path)]
    return _python(history, changed) or _node(history, changed) or _refuse(history)


def _named(command: str, history: History) -> TestRunner:
    if not command.strip():
        raise UserError("--test is empty; name the command that runs the tests, such as 'python3 -m pytest'.")
    try:
        words = [] if OPERATORS.search(command) else shlex.split(command)
    except ValueError:
        words = []
    env: dict[str, str] = {}
    while words and (match := ASSIGNED.fullmatch(words[0])):
        env[match[1]] = match[2]
        words = words[1:]
    kind = _kind(words)
    if kind == "status":
        return TestRunner("status", line=command)
    if kind == "npm":
        return TestRunner(kind, tuple(words), env | _tap_by_npm(words, history))
    return TestRunner(kind, _without_files(words, history), env)


def _kind(words: Sequence[str]) -> RunnerKind:
    """The runner that a command calls, directly or by another program: `uv run pytest`."""
    programs = [posixpath.basename(word) for word in words[:3]]
    module = words[words.index("-m") + 1 : words.index("-m") + 2] if "-m" in words else []
    if module == ["unittest"]:
        return "unittest"
    if module == ["pytest"] or {"pytest", "py.test"} & {*programs}:
        return "pytest"
    if "node" in programs and "--test" in words:
        return "node"
    return "npm" if programs[:1] in (["npm"], ["pnpm"], ["yarn"]) and len(words) > 1 else "status"


def _without_files(words: Sequence[str], history: History) -> tuple[str, ...]:
    """A command without the words that say which tests to run, which orvl says itself."""
    values = {place + 1 for place, word in enumerate(words) if word in BEFORE_A_VALUE}
    return tuple(
        word for place, word in enumerate(words) if place in values or place == 0 or not _names_files(word, history)
    )


def _names_files(word: str, history: History) -> bool:
    if word.startswith("-"):
        return False
    place = word.removeprefix("./").partition("::")[0].rstrip("/")
    trees = [history.base, *(step.tree for step in history.steps)]
    return "*" in word or any(path == place or path.startswith(f"{place}/") for tree in trees for path in tree)


def _python(history: History, changed: Iterable[str]) -> TestRunner | None:
    tests = [path for path in changed if path.endswith(".py")]
    if not tests:
        return None
    last = history.steps[-1].tree
    known = (".py", ".toml", ".cfg", ".ini")
    texts = {path: history.text(entry) or "" for path, entry in last.items() if path.endswith(known)}
    has_section = any(section in texts.get(path, "") for path, section in PYTEST_SECTIONS.items())
    has_file = any(posixpath.basename(path) in ("pytest.ini", "conftest.py") for path in texts)
    styled = any(PYTEST_STYLE.search(text) for path, text in texts.items() if is_of_tests(path))
    return TestRunner(*(("pytest", ("python3", "-m", "pytest")) if has_section or has_file or styled else _UNITTEST))


_UNITTEST: tuple[RunnerKind, tuple[str, ...]] = ("unittest", ("python3", "-m", "unittest"))


def _node(history: History, changed: Iterable[str]) -> TestRunner | None:
    tests = [path for path in changed if SCRIPTED.fullmatch(posixpath.splitext(path)[1])]
    if not tests:
        return None
    script = _script(history, "test")
    if script and not OPERATORS.search(script) and _kind(words := shlex.split(script)) == "node":
        return TestRunner("node", _without_files(words, history))
    if script:
        return TestRunner("npm", ("npm", "test"), _tap_by_npm(["npm", "test"], history))
    return TestRunner("node", ("node", "--test"))


def _script(history: History, name: str) -> str:
    """What a script of the package.json at the top says."""
    entry = history.steps[-1].tree.get("package.json")
    try:
        scripts = json.loads(history.read(entry))["scripts"] if entry else {}
    except (ValueError, LookupError, TypeError):
        return ""
    found = scripts.get(name) if isinstance(scripts, dict) else None
    return found if isinstance(found, str) else ""


def _tap_by_npm(words: Sequence[str], history: History) -> dict[str, str]:
    """Where a script is node's own test runner, what makes it say each test's name."""
    name = next((word for word in words[1:] if word not in ("run", "run-script") and not word.startswith("-")), "test")
    script = _script(history, name)
    is_node = re.search(r"\bnode\b.* --test\b", f"{script} ") is not None and "--test-reporter" not in script
    return {"NODE_OPTIONS": TAP_OF_NODE} if is_node else {}


def _refuse(history: History) -> TestRunner:
    changed = any(is_of_tests(path) for step in history.steps for path in step.changed)
    if not changed:
        raise UserError(
            "None of these commits changes a test, so nothing would tell whether an agent's work is right. Name a "
            "range with tests."
        )
    raise UserError("How these tests are run is not plain: say it with --test COMMAND; exit status 0 is a pass.")
