# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 tools/house.py: the house rules that a program can see, and where they are broken."""

import ast
import configparser
import json
import sys
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
LICENCE = "# SPDX-License-Identifier: LicenseRef-Papierhof"
LONGEST = {"billing": 30, "reports": 40}
OWN = {"billing", "reports", "tests"}
CLOCK = {"today", "now", "utcnow", "time", "localtime"}
FOLDERS = ("billing", "reports", "scripts", "tests", "tools")
SKIPS = {"skip", "skipIf", "skipUnless", "skipTest", "SkipTest", "expectedFailure"}

Finding = tuple[int, str]


def check_file(path: Path, codes: set[str], is_legacy: bool) -> Iterator[Finding]:
    """All that is wrong with a file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    folder = path.relative_to(HOME).parts[0]
    yield from check_text(text)
    yield from check_imports(tree, folder)
    if folder == "tests":
        yield from check_skips(tree)
    if folder in ("billing", "reports", "scripts") and not is_legacy:
        yield from check_money(tree)
        yield from check_codes(tree, codes)
    if folder in LONGEST:
        yield from check_shape(tree, folder)
        yield from check_calls(tree, path)


def check_text(text: str) -> Iterator[Finding]:
    rows = text.splitlines() or [""]
    if rows[0] != LICENCE:
        yield 1, "the first line is not the licence"
    for number, row in enumerate(rows, 1):
        if len(row) > 100:
            yield number, "longer than 100 characters"
        if "# no" + "qa" in row or "type: " + "ignore" in row:
            yield number, "a comment that silences a linter"


def check_imports(tree: ast.Module, folder: str) -> Iterator[Finding]:
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "billing"]
        for name in names:
            top = name.split(".")[0]
            if top not in sys.stdlib_module_names and top not in OWN:
                yield node.lineno, f"{top} is not in the standard library"
            if folder == "billing" and top in OWN - {"billing"}:
                yield node.lineno, f"billing must not import {top}"


def check_skips(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
        if name in SKIPS or (isinstance(node, ast.alias) and node.name in SKIPS):
            yield getattr(node, "lineno", 1), "a test is skipped"


def check_money(tree: ast.Module) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            yield node.lineno, "a float"
        elif isinstance(node, ast.Name) and node.id in ("float", "Decimal"):
            yield node.lineno, f"{node.id}, where money is whole cents"
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div):
            if not is_path(node):
                yield node.lineno, "a division with /"


def is_path(node: ast.AST) -> bool:
    """Paths are joined with / as well: one side is a text or HOME."""
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        or (isinstance(part, ast.Name) and part.id == "HOME")
        for part in ast.walk(node)
    )


def check_codes(tree: ast.Module, codes: set[str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value in codes:
            yield node.lineno, f"the country {node.value}"


def check_shape(tree: ast.Module, folder: str) -> Iterator[Finding]:
    if not is_sentence(ast.get_docstring(tree)):
        yield 1, "the module needs a docstring that begins with a sentence"
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        if not node.name.startswith("_") and not is_sentence(ast.get_docstring(node)):
            yield node.lineno, f"{node.name} needs a docstring that begins with a sentence"
        if isinstance(node, ast.FunctionDef):
            if (node.end_lineno or 0) - node.lineno + 1 > LONGEST[folder]:
                yield node.lineno, f"{node.name} is longer than {LONGEST[folder]} lines"
            if not node.name.startswith("_") and not is_typed(node):
                yield node.lineno, f"{node.name} lacks types"


def is_sentence(text: str | None) -> bool:
    """Whether the first line begins with a capital (or is a command) and ends with a full stop."""
    first = (text or "").strip().split("\n")[0]
    return first.endswith(".") and (first[0].isupper() or first[0] == "`" or "python3" in first)


def is_typed(node: ast.FunctionDef) -> bool:
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return node.returns is not None and all(
        one.annotation is not None for one in given if one.arg not in ("self", "cls")
    )


def check_calls(tree: ast.Module, path: Path) -> Iterator[Finding]:
    in_main = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name == "main"
        for part in ast.walk(node)
    }
    may_print = path.name == "__main__.py"
    is_report = path.parent.name == "reports"
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name == "print" and not may_print and not (is_report and id(node) in in_main):
            yield node.lineno, "print in the library"
        if name in ("open", "read_text", "read_bytes") and path.name != "files.py":
            yield node.lineno, "only files.py opens files"
        if name in CLOCK:
            yield node.lineno, "the clock is asked"


def main() -> int:
    """Looks at all files; the status is 1 if something is wrong."""
    config = configparser.ConfigParser()
    config.read(HOME / "tools/house.ini", encoding="utf-8")
    legacy = config.get("house", "legacy", fallback="").split()
    codes = set(json.loads((HOME / "billing/rates.json").read_text(encoding="utf-8")))
    wrong = 0
    for folder in FOLDERS:
        for path in sorted((HOME / folder).rglob("*.py")):
            name = path.relative_to(HOME).as_posix()
            for line, what in check_file(path, codes, name in legacy):
                print(f"{name}:{line}: {what}")
                wrong += 1
    print(f"{wrong} findings" if wrong else "The house is in order.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
