"""An Exercism exercise → an eval of the tier `smoke`: its instructions and stub, its tests hidden, its example as good.

Tests that are skipped for learners count here, too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from orvl.errors import TaskRefused
from orvl.project.places import TESTS
from orvl.project.tasks.draft import eval_name
from orvl.project.tasks.folder import copy_file, files_in, folders_with, text_of
from orvl.project.tasks.machine import check_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.project.tasks.draft import Draft
    from orvl.project.tasks.machine import Machine

FROM = "polyglot"
CONFIG = ".meta/config.json"
PROMPTS = (".docs/introduction.md", ".docs/instructions.md", ".docs/instructions.append.md")
NOT_GIVEN = (".meta", ".docs", ".approaches", ".articles", "node_modules")
LONGEST_CONFIG = 64 << 10
MOST_FILES = 100
RUNNER = Path(__file__).parent / "inside" / "run_tests.py"
SECONDS = 300.0


@dataclass(frozen=True)
class Language:
    """How exercises of a language are tested."""

    name: str
    programs: tuple[str, ...]
    test: re.Pattern[str]
    """One test in its files."""
    packages: tuple[str, ...] = ()
    """Debian packages with what its tests need."""
    setup: Callable[[Draft], str | None] = lambda _draft: None
    """The command that installs what an exercise depends on."""
    skipped: tuple[tuple[str, str], ...] = ()
    """How a skipped test is written, and how one that counts."""


def _cargo(draft: Draft) -> str | None:
    manifest = draft.source / "Cargo.toml"
    has_dependencies = manifest.is_file() and re.search(
        r"^\[dependencies\]\s*\n\s*[^\s\[#]", text_of(draft.source, "Cargo.toml"), re.MULTILINE
    )
    return "cargo fetch" if has_dependencies else None


def _npm(draft: Draft) -> str | None:
    return "npm install --no-audit --no-fund" if (draft.source / "package.json").is_file() else None


LANGUAGES = {
    ".py": Language("python", ("python3",), re.compile(r"^\s+def test_\w+\(self", re.MULTILINE)),
    ".js": Language(
        "javascript",
        ("node", "npm"),
        re.compile(r"^\s*(?:test|it)\(", re.MULTILINE),
        setup=_npm,
        skipped=((r"\bx(test|it|describe)\(", r"\1("), (r"\b(test|it|describe)\.skip\(", r"\1(")),
    ),
    ".go": Language("go", ("go",), re.compile(r"^func Test\w+\(", re.MULTILINE)),
    ".rs": Language("rust", ("cargo",), re.compile(r"^\s*#\[test\]", re.MULTILINE), setup=_cargo),
    ".java": Language(
        "java",
        ("java", "javac"),
        re.compile(r"^\s*@(?:Test|ParameterizedTest)\b", re.MULTILINE),
        ("junit5", "libassertj-core-java"),
        skipped=((r"@Disabled(?:\([^)]*\))?", ""),),
    ),
    ".cpp": Language("cpp", ("cmake", "make", "g++"), re.compile(r"^\s*TEST_CASE\(", re.MULTILINE)),
}


def exercises(root: Path) -> list[Path]:
    """The exercises at or below a folder."""
    return folders_with(root, CONFIG)


def draft_exercise(draft: Draft, machine: Machine) -> str:
    """Makes an eval of the exercise that was copied into a draft; gives its name."""
    files = _config(draft.source)
    solution, tests, examples = (_listed(draft.source, files, kind) for kind in ("solution", "test", "example"))
    language = _language(solution)
    for program in language.programs:
        if not machine.has_program(program):
            raise TaskRefused(f"{program} is not installed here")
    check_packages(machine, language.packages)
    _lay_workspace(draft, tests)
    number = _lay_tests(draft, language, tests)
    _lay_example(draft, solution, examples)
    setup = language.setup(draft)
    name = draft.root.name
    draft.prompts = [_prompt(draft, solution)]
    head: dict[str, Any] = {
        "tier": "smoke",
        "imported": {"from": FROM, "task": f"{language.name}/{name}"},
        "setup": setup,
        "network": "setup" if setup else None,
        "checks": [
            {"name": "tests", "verifier": "tests", "run": f"python3 {TESTS}/{RUNNER.name}", "limit": SECONDS},
        ],
    }
    draft.head = {key: value for key, value in head.items() if value}
    draft.notes.append(f"{number} hidden tests")
    return eval_name(f"{language.name}-{name}")


def _config(source: Path) -> Mapping[str, Any]:
    try:
        data = json.loads(text_of(source, CONFIG, LONGEST_CONFIG))
    except (ValueError, RecursionError) as error:
        raise TaskRefused(f"{CONFIG} is not JSON") from error
    files = data.get("files") if isinstance(data, dict) else None
    if not isinstance(files, dict):
        raise TaskRefused(f"{CONFIG} names no files")
    return files


def _listed(source: Path, files: Mapping[str, Any], kind: str) -> list[str]:
    names = files.get(kind, [])
    if not isinstance(names, list) or len(names) > MOST_FILES or not all(isinstance(name, str) for name in names):
        raise TaskRefused(f"'{kind}' of {CONFIG} is no list of files")
    known = set(files_in(source))
    for name in names:
        if name not in known:
            raise TaskRefused(f"{CONFIG} names {ascii(name)[:60]}, which is not there")
    if kind != "example" and not names:
        raise TaskRefused(f"{CONFIG} names no {kind} files")
    return names


def _language(solution: Sequence[str]) -> Language:
    for name in solution:
        if language := LANGUAGES.get(PurePosixPath(name).suffix):
            return language
    raise TaskRefused(f"orvl does not know how to test {PurePosixPath(solution[0]).suffix or 'such'} files")


def _lay_workspace(draft: Draft, tests: Sequence[str]) -> None:
    for name in files_in(draft.source):
        if name.partition("/")[0] not in NOT_GIVEN and name not in tests:
            copy_file(draft.source / name, draft.folder / "workspace" / name)


def _lay_tests(draft: Draft, language: Language, names: Sequence[str]) -> int:
    number = 0
    for name in names:
        text = text_of(draft.source, name)
        for skipped, counted in language.skipped:
            text = re.sub(skipped, counted, text)
        number += len(language.test.findall(text))
        draft.put(f"checks/tests/files/{name}", text)
    if not number:
        raise TaskRefused("no test was found in its test files")
    expected = {"language": language.name, "tests": number, "files": list(names)}
    draft.put("checks/tests/expected.json", json.dumps(expected, indent=2) + "\n")
    draft.put(f"checks/tests/{RUNNER.name}", RUNNER.read_bytes())
    return number


def _lay_example(draft: Draft, solution: Sequence[str], examples: Sequence[str]) -> None:
    """Each example file in the place of the solution file that it is for: of the same name, else of the same kind."""
    free = list(solution)
    for example in examples:
        path = PurePosixPath(example)
        same = [name for name in free if PurePosixPath(name).name == path.name]
        alike = [name for name in free if PurePosixPath(name).suffix == path.suffix]
        place = (same or alike or [str(PurePosixPath(solution[0]).parent / path.name)])[0]
        if place in free:
            free.remove(place)
        copy_file(draft.source / example, draft.folder / "controls" / "good" / place)
    if not examples:
        draft.notes.append("no solution")


def _prompt(draft: Draft, solution: Sequence[str]) -> str:
    there = [name for name in PROMPTS if (draft.source / name).is_file()]
    if PROMPTS[1] not in there:
        raise TaskRefused(f"it has no {PROMPTS[1]}")
    texts = [text_of(draft.source, name).strip() for name in there]
    files = ", ".join(f"`{name}`" for name in solution)
    return "\n\n".join(
        (*texts, f"Write the solution into {files}. Keep the names that are there, and use the standard library alone.")
    )
