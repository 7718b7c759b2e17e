"""Runs tests of the project beside an agent's work, and says whether they are the original ones and pass.

    python3 checks/run_tests.py NAME                  exit status 0: the tests that `plan.json` lists for NAME pass
    python3 checks/run_tests.py --report FILE NAME    writes all results as JSON, for whoever makes the plan

The tests and their configuration are laid over the agent's files, as they were; what the agent put beside them that
could steer them is out of the way meanwhile. The agent's code runs in the same process as the tests, and could pretend:
so the names and the number of tests must be those that the original run reported.

It needs nothing but Python 3.8.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    Results = dict[str, str]
    """Of each test whether it passed, failed or was skipped."""

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = os.path.join(HERE, "tests")
PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
WORST = (FAILED, SKIPPED, PASSED)
NOT_LOOKED_INTO = {".git", "node_modules", ".venv", "venv", "__pycache__"}
LONG_AGO = 1_000_000_000
"""When what is laid down was written, so that no fixture passes for a report of this run."""
TAP = re.compile(r"( *)(not )?ok\b *\d* *-? *(.*)")
SUBTEST = re.compile(r"( *)# Subtest: (.*)")
DIRECTIVE = re.compile(r"(?<!\\)#\s*(skip|todo)\b.*", re.IGNORECASE)
SHOWN = 3000
OF_A_RUNNER = ("scripts", "jest", "mocha", "ava", "tap", "c8", "nyc", "vitest")
"""Keys of a package.json that say how tests are run; the others are the agent's."""


# -- the tests and their configuration, as they were


def original_files(plan: dict[str, Any], state: int) -> dict[str, str]:
    """What is laid over the agent's work: each path, and where its content is."""
    files = {}
    for turn in range(state + 1):
        layer = os.path.join(LAYERS, str(turn))
        for folder, _, names in os.walk(layer):
            for name in names:
                path = os.path.join(folder, name)
                files[os.path.relpath(path, layer)] = path
        for path in plan["deleted"].get(str(turn), []):
            files.pop(path, None)
    return files


@contextlib.contextmanager
def laid_over(plan: dict[str, Any], state: int, workspace: str) -> Iterator[None]:
    """The original tests in place of whatever the agent has there; afterwards all is as it was."""
    files = original_files(plan, state)
    aside = tempfile.mkdtemp(prefix="aside-")
    moved: list[tuple[str, str]] = []
    made: list[str] = []
    try:
        for path in list(strange_files(plan, workspace, files)):
            move_aside(workspace, path, aside, moved)
        for path, source in files.items():
            content = merged(source, os.path.join(workspace, path)) if path.endswith("package.json") else None
            make_way(workspace, path, aside, moved)
            target = os.path.join(workspace, path)
            made += new_folders(os.path.dirname(target))
            shutil.copy(source, target)
            os.chmod(target, os.stat(source).st_mode | 0o200)
            if content is not None:
                with open(target, "wb") as file:
                    file.write(content)
            os.utime(target, (LONG_AGO, LONG_AGO))
            made.append(target)
        yield
    finally:
        for target in reversed(made):
            with contextlib.suppress(OSError):
                (os.rmdir if os.path.isdir(target) else os.unlink)(target)
        for place, kept in reversed(moved):
            with contextlib.suppress(OSError):
                if os.path.isdir(place) and not os.path.islink(place):
                    shutil.rmtree(place)  # what tests wrote where the agent had something else
                os.makedirs(os.path.dirname(place), exist_ok=True)
                shutil.move(kept, place)
        shutil.rmtree(aside, ignore_errors=True)


def new_folders(path: str) -> list[str]:
    """Makes a folder, and those above it; those that were not there."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        os.mkdir(folder)
    return missing[::-1]


def strange_files(plan: dict[str, Any], workspace: str, files: Iterable[str]) -> Iterator[str]:
    """Tests and configuration of the agent's own, which the original has not."""
    original = set(files)
    is_test = re.compile(plan["tests"])
    for folder, names in walk(workspace):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), workspace)
            configures = any(fnmatch.fnmatchcase(name, pattern) for pattern in plan["configuration"])
            if path not in original and (configures or is_test.search(path)):
                yield path


def walk(workspace: str) -> Iterator[tuple[str, list[str]]]:
    """The folders of the workspace with the names of their files, but for what others installed and hidden files."""
    for folder, folders, names in os.walk(workspace):
        folders[:] = [name for name in folders if name not in NOT_LOOKED_INTO and os.path.join(folder, name) != HERE]
        yield folder, names


def make_way(workspace: str, path: str, aside: str, moved: list[tuple[str, str]]) -> None:
    """Moves aside what is in the place of a file, or in that of a folder above it."""
    parts = path.split(os.sep)
    for end in range(1, len(parts) + 1):
        place = os.path.join(workspace, *parts[:end])
        is_in_the_way = os.path.islink(place) or not os.path.isdir(place) or end == len(parts)
        if os.path.lexists(place) and is_in_the_way:
            move_aside(workspace, os.path.join(*parts[:end]), aside, moved)


def move_aside(workspace: str, path: str, aside: str, moved: list[tuple[str, str]]) -> None:
    kept = os.path.join(aside, str(len(moved)))
    place = os.path.join(workspace, path)
    shutil.move(place, kept)
    moved.append((place, kept))


def merged(original: str, present: str) -> bytes | None:
    """The agent's package.json, with the original's say on how tests are run; None where it has none that is JSON."""
    try:
        with open(original, encoding="utf-8") as file:
            old = json.load(file)
        with open(present, encoding="utf-8") as file:
            new = json.load(file)
    except (OSError, ValueError):
        return None
    if not isinstance(old, dict) or not isinstance(new, dict):
        return None
    kept = {key: value for key, value in new.items() if key not in OF_A_RUNNER}
    return json.dumps({**kept, **{key: old[key] for key in OF_A_RUNNER if key in old}}, indent=2).encode()


# -- how they are run


def run(plan: dict[str, Any], check: dict[str, Any], workspace: str) -> tuple[Results | None, int, str]:
    """The results by test, or None where only the exit status is known; that status; and the end of the output."""
    runner = plan["runner"]
    with tempfile.TemporaryDirectory(prefix="results-") as folder, laid_over(plan, check["state"], workspace):
        written, printed = os.path.join(folder, "results"), os.path.join(folder, "output")
        began = os.stat(folder).st_mtime_ns
        with open(printed, "wb") as output:
            status = subprocess.run(
                command_of(runner, check["files"], written),
                cwd=workspace,
                env=environment(runner),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        with open(printed, encoding="utf-8", errors="replace") as file:
            said = file.read()
        return results_of(runner["kind"], written, said, workspace, began), status, said[-SHOWN:]


def environment(runner: dict[str, Any]) -> dict[str, str]:
    """What the tests see of their surroundings: nothing that says where the answers are."""
    plain = {name: value for name, value in os.environ.items() if name != "CHECKS"}
    return {**plain, "PYTHONDONTWRITEBYTECODE": "1", **runner["env"]}


def command_of(runner: dict[str, Any], files: list[str], written: str) -> list[str]:
    kind, words = runner["kind"], runner["words"]
    files = [f"./{path}" if path.startswith("-") else path for path in files]
    if kind == "status":
        return ["/bin/sh", "-c", runner["line"]]
    if kind == "npm":
        return list(words)
    if kind == "node":
        own = [word for word in words if not word.startswith("--test-reporter")]
        return [*own, "--test-reporter=tap", f"--test-reporter-destination={written}", *files]
    if "-m" not in words:
        return [*words, *pytest_options(written), *files]
    # Not `python -m`: what the agent put beside its files under a well-known name would be imported instead.
    place = words.index("-m")
    return [*words[:place], os.path.abspath(__file__), f"--inner-{kind}", written, *words[place + 2 :], *files]


def pytest_options(written: str) -> list[str]:
    return ["-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junit-xml={written}"]


def inner_pytest(written: str, words: list[str]) -> int:
    """pytest, imported before anything of the agent's can be."""
    import pytest

    sys.path[0] = os.getcwd()
    return int(pytest.main([*pytest_options(written), *words]))


def inner_unittest(written: str, files: list[str]) -> int:
    import unittest

    sys.path[0] = os.getcwd()
    results: dict[str, str] = {}

    class Recorder(unittest.TextTestResult):
        """Writes down how each test ended; of several ends, the worst."""

        def note(self, test: Any, outcome: str) -> None:
            name = test.id()
            results[name] = min((results.get(name, PASSED), outcome), key=WORST.index)

        def addSuccess(self, test: Any) -> None:
            super().addSuccess(test)
            self.note(test, PASSED)

        def addError(self, test: Any, err: Any) -> None:
            super().addError(test, err)
            self.note(test, FAILED)

        def addFailure(self, test: Any, err: Any) -> None:
            super().addFailure(test, err)
            self.note(test, FAILED)

        def addSkip(self, test: Any, reason: str) -> None:
            super().addSkip(test, reason)
            self.note(test, SKIPPED)

        def addExpectedFailure(self, test: Any, err: Any) -> None:
            super().addExpectedFailure(test, err)
            self.note(test, PASSED)

        def addUnexpectedSuccess(self, test: Any) -> None:
            super().addUnexpectedSuccess(test)
            self.note(test, FAILED)

        def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
            super().addSubTest(test, subtest, err)
            if err is not None:
                self.note(test, FAILED)

    suite = unittest.TestSuite()
    for path in files:
        if path.startswith("-"):
            continue
        folder, name = os.path.split(os.path.abspath(path))
        top = folder
        while os.path.exists(os.path.join(top, "__init__.py")) and top != os.getcwd():
            top = os.path.dirname(top)
        pattern = re.sub(r"([*?[])", r"[\1]", name)
        suite.addTests(unittest.TestLoader().discover(folder, pattern, top))
    make: Any = Recorder
    passed = unittest.TextTestRunner(resultclass=make).run(suite).wasSuccessful()
    with open(written, "w", encoding="utf-8") as file:
        json.dump(results, file)
    return 0 if passed else 1


# -- what they reported


def results_of(kind: str, written: str, said: str, workspace: str, began: int) -> Results | None:
    if kind == "status":
        return None
    if kind == "npm":
        return newest_junit(workspace, began) or (from_tap(said) or None)
    try:
        if kind == "pytest":
            return from_junit(written)
        with open(written, encoding="utf-8", errors="replace") as file:
            return from_tap(file.read()) if kind == "node" else dict(json.load(file))
    except (OSError, ValueError, ElementTree.ParseError):
        return {}


def from_junit(path: str) -> Results:
    results: dict[str, str] = {}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        kinds = {child.tag for child in case}
        outcome = FAILED if kinds & {"failure", "error"} else SKIPPED if "skipped" in kinds else PASSED
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        results[name] = min((results.get(name, PASSED), outcome), key=WORST.index)
    return results


def newest_junit(workspace: str, began: int) -> Results:
    """The results in XML files that were written since the tests began."""
    results: dict[str, str] = {}
    for folder, names in walk(workspace):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".xml") and not os.path.islink(path) and os.stat(path).st_mtime_ns >= began:
                with contextlib.suppress(OSError, ElementTree.ParseError):
                    results.update(from_junit(path))
    return results


def from_tap(text: str) -> Results:
    """Tests by the names of what they are in, then their own; a name that comes again has its number."""
    results: dict[str, str] = {}
    around: list[tuple[int, str]] = []
    details = None
    for line in text.splitlines():
        if details is not None:
            details = None if line.strip() == "..." and indent_of(line) <= details else details
            continue
        if line.strip() == "---":
            details = indent_of(line)
            continue
        begun, ended = SUBTEST.fullmatch(line), TAP.fullmatch(line)
        if begun:
            around = [*(one for one in around if one[0] < len(begun[1])), (len(begun[1]), begun[2])]
        elif ended:
            name, outcome = ended[3].strip(), FAILED if ended[2] else PASSED
            directive = DIRECTIVE.search(name)
            if directive:
                name, outcome = name[: directive.start()].rstrip(), SKIPPED
            outer = [one for level, one in around if level < len(ended[1])]
            whole = number = " > ".join([*outer, name])
            count = 1
            while number in results:
                count += 1
                number = f"{whole} #{count}"
            results[number] = outcome
    return results


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


# -- whether they are what they should be


def faults(check: dict[str, Any], results: Results | None, status: int) -> list[str]:
    """What is wrong, a line each; nothing where the check passes."""
    if check["reported"] is None:
        return [] if status == 0 else [f"the tests ended with status {status}"]
    found = results or {}
    reported = set(check["reported"])
    lines = [f"failed: {name}" for name in check["expected"] if found.get(name, PASSED) != PASSED]
    missing, more = sorted(reported - found.keys()), sorted(found.keys() - reported)
    lines += [f"did not run: {name}" for name in missing]
    lines += [f"is no test of the original: {name}" for name in more]
    return lines


def main(words: list[str]) -> int:
    if words[0] == "--inner-pytest":
        return inner_pytest(words[1], words[2:])
    if words[0] == "--inner-unittest":
        return inner_unittest(words[1], words[2:])
    with open(os.path.join(HERE, "plan.json"), encoding="utf-8") as file:
        plan = json.load(file)
    check = plan["checks"][words[-1]]
    results, status, said = run(plan, check, os.getcwd())
    if words[0] == "--report":
        with open(words[1], "w", encoding="utf-8") as file:
            json.dump({"results": results, "status": status, "output": said}, file)
        return 0
    wrong = faults(check, results, status)
    if wrong:
        print(said)
        print("\n".join(wrong[:20]))
        if len(wrong) > 20:
            print(f"and {len(wrong) - 20} more")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
