"""The files of an eval that somebody is about to write: its prompts, what it starts from, and how it is checked."""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from orvl.errors import UserError
from orvl.new.eval_text import eval_text
from orvl.new.place import adding
from orvl.new.python_text import quoted
from orvl.project import PARTS
from orvl.project.evals import load_eval
from orvl.project.find import SourceFile
from orvl.project.names import count
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from orvl.project import Project

CheckKind = Literal["isolated", "command", "none"]
NOT_COPIED = frozenset((*tree.NOT_GIVEN, "node_modules", ".venv", "venv", ".orvl"))
EXAMPLE = "Write greet.py: `python3 greet.py Ada` prints `Hello, Ada!`, for any name."
EXAMPLE_RUN, EXAMPLE_PRINTS = "python3 greet.py Ada", "Hello, Ada!"
EXAMPLE_COMMAND = """test "$(python3 greet.py Ada)" = "Hello, Ada!\""""
EXAMPLE_GOOD = """import sys

print(f"Hello, {sys.argv[1]}!")
"""
CHECK_HEAD = '''"""Is it what was asked for?

No agent sees this file. It runs in a sandbox of its own, and asks for the agent's work through orvl.checks: run a
command, read or write a file, start a server and connect to it, take a fresh copy. `checks.grade` counts the cases that
passed. Ask for more than the prompt shows, with inputs that nobody can know beforehand.
"""

'''
CHECK_BODY = """

passed = 0
for command, expected in CASES:
    ended = checks.run(*command)
    printed = ended.stdout.strip()
    if ended.status == 0 and printed and expected in (None, printed):
        passed += 1
    else:
        print(f"{' '.join(command)}: status {ended.status}, printed {printed[:200]!r}, expected {expected!r}")
checks.grade(passed, len(CASES))
"""
EXAMPLE_CASES = """import string

from orvl import checks

random = checks.random()  # in each episode another, in one episode the same for all agents
NAMES = ["Ada", *("".join(random.choices(string.ascii_letters, k=8)) for _ in range(2))]
# Commands, and what each must print; None for anything.
CASES = [(["python3", "greet.py", name], f"Hello, {name}!") for name in NAMES]
"""
CASES = """from orvl import checks

# Commands, and what each must print; None for anything.
CASES = [
    ({command}, {expected}),
]
"""


@dataclass(frozen=True)
class NewEval:
    """What a new eval is made of."""

    prompts: tuple[str, ...]
    description: str = ""
    check: CheckKind = "isolated"
    run: str = ""
    """The command of its check."""
    prints: str = ""
    """What that command must print, for an isolated check; empty: anything."""
    workspace: Path | None = None
    good: Path | None = None

    @property
    def is_example(self) -> bool:
        return self.prompts == (EXAMPLE,)

    @property
    def has_good(self) -> bool:
        return self.good is not None or (self.is_example and self.check != "none")

    @property
    def is_folder(self) -> bool:
        return self.check == "isolated" or self.workspace is not None or self.has_good


def add_eval(project: Project, name: str, new: NewEval) -> Path:
    """Writes an eval and loads it: what is there afterwards can be run."""
    for folder in (new.workspace, new.good):
        if folder is not None and not folder.is_dir():
            raise UserError(f"There is no folder {folder} to copy.")
    path = project.root / "evals" / (name if new.is_folder else f"{name}.md")
    with adding(path) as made:
        text = eval_text(_settings(new), new.prompts)
        if not new.is_folder:
            made.write_text(text, encoding="utf-8")
            load_eval(SourceFile(name, made, "project"), project.settings.limits.check)
            return path
        made.mkdir()
        (made / "eval.md").write_text(text, encoding="utf-8")
        if new.check == "isolated":
            (made / "checks").mkdir()
            (made / "checks" / "check.py").write_text(_check(new), encoding="utf-8")
        if new.workspace is not None:
            _copy(project, new.workspace, made / "workspace")
        if new.good is not None:
            _copy(project, new.good, made / "controls" / "good")
        elif new.has_good:
            (made / "controls" / "good").mkdir(parents=True)
            (made / "controls" / "good" / "greet.py").write_text(EXAMPLE_GOOD, encoding="utf-8")
        load_eval(SourceFile(name, made / "eval.md", "project"), project.settings.limits.check)
    return path


def _settings(new: NewEval) -> dict[str, Any]:
    settings: dict[str, Any] = {"description": new.description} if new.description else {}
    if new.check == "isolated":
        settings["checks"] = [{"name": "works", "run": "python3 checks/check.py", "isolated": True}]
    elif new.check == "command":
        settings["checks"] = [{"name": "works", "run": new.run or EXAMPLE_COMMAND}]
    return settings or {"description": f"A conversation of {count(len(new.prompts), 'turn')}."}


def _check(new: NewEval) -> str:
    if new.is_example and (new.run, new.prints) == (EXAMPLE_RUN, EXAMPLE_PRINTS):
        return CHECK_HEAD + EXAMPLE_CASES + CHECK_BODY
    command = "[" + ", ".join(quoted(word) for word in _words(new.run)) + "]"
    expected = quoted(new.prints.strip()) if new.prints.strip() else "None"
    return CHECK_HEAD + CASES.format(command=command, expected=expected) + CHECK_BODY


def _words(command: str) -> Sequence[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"'{command}' is no command: {str(error).lower()}.") from error
    return words or shlex.split(EXAMPLE_RUN)


def _copy(project: Project, source: Path, target: Path) -> None:
    """Copies a folder without repositories, installed packages, and what of the project is orvl's own."""
    own = {(project.root / part).resolve() for part in (*PARTS, "overlays")}
    shutil.copytree(source, target, symlinks=True, ignore=_ignored(own))


def _ignored(own: Collection[Path]) -> Callable[[str, list[str]], set[str]]:
    def ignored(folder: str, names: list[str]) -> set[str]:
        here = Path(os.path.realpath(folder))
        return {name for name in names if name in NOT_COPIED or here / name in own}

    return ignored
