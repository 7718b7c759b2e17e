"""House rules that a program can see, read from the files alone."""

import ast
import configparser
import re
import sys
import warnings

from oracle import ORIGINAL
from papers import Cases
from table import Scene
from world import OLD

from orvl import checks

LICENCE = "# SPDX-License-Identifier: LicenseRef-Papierhof"
LONGEST = {"billing": 30, "reports": 40}
CLOCK = ("today", "now", "utcnow", "time", "localtime", "gmtime")
AREAS = ("tax", "documents", "reports", "scripts", "data", "tools", "tests")
ENTRY = re.compile(rf"- (?:{'|'.join(AREAS)}): \S.*[.]")
SILENCERS = ("# noqa", "#noqa", "# ruff: noqa", "type: ignore", "# fmt: off")
MOST_FILES = 300


class Module:
    """A Python file of the work; `tree` is None where it is none."""

    def __init__(self, path):
        self.path, self.folder = path, path.split("/")[0]
        self.text = (checks.read(path) or b"").decode("utf-8", "replace")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.tree = ast.parse(self.text)
        except (SyntaxError, ValueError, RecursionError):
            self.tree = None

    def nodes(self):
        return ast.walk(self.tree) if self.tree else ()

    def functions(self):
        return [node for node in self.nodes() if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def modules():
    paths = [path for path in checks.files() if path.endswith(".py") and not path.startswith(".")]
    return [Module(path) for path in paths[:MOST_FILES]]


def rules():
    scene = Scene()
    is_begun = scene.is_begun()
    cases, files = Cases(), modules()
    library = [one for one in files if one.folder in LONGEST]
    money = [one for one in files if one.folder in ("billing", "reports", "scripts")]
    for name, broken in {
        "the licence in the first line": [one.path for one in files if _first_line(one) != LICENCE],
        "lines up to 100 characters": [one.path for one in files if any(len(row) > 100 for row in one.text.splitlines())],
        "no comments that silence linters": [one.path for one in files if any(word in one.text for word in SILENCERS)],
        "the standard library alone": list(_foreign(files)),
        "whole cents": [found for one in money for found in _floats(one)],
        "no country codes in Python": [found for one in money for found in _codes(one)],
        "docstrings": [found for one in library for found in _undocumented(one)],
        "types": [found for one in library for found in _untyped(one)],
        "short functions": [found for one in library for found in _long(one)],
        "print only where it may be": [found for one in library for found in _prints(one)],
        "files.py opens files": [found for one in library for found in _opens(one)],
        "nobody asks the clock": [found for one in library for found in _asks_clock(one)],
        "billing stands alone": [found for one in files if one.folder == "billing" for found in _imports_upwards(one)],
        "nothing is legacy": _legacy(),
        "changes in CHANGELOG.md": wrong_changes(1),
    }.items():
        cases.tell(name, f"broken in {', '.join(broken[:4])}" if broken else None)
    cases.end(is_begun)


def _first_line(module):
    return (module.text.splitlines() or [""])[0]


def _foreign(files):
    own = {one.folder.removesuffix(".py") for one in files} - set(sys.stdlib_module_names)
    # A script sees what is beside it.
    beside = {(one.folder, one.path.rsplit("/", 1)[-1].removesuffix(".py")) for one in files}
    for one in files:
        if one.tree is None:
            yield one.path
        for name in _imported(one):
            if name not in sys.stdlib_module_names and name not in own and (one.folder, name) not in beside:
                yield f"{one.path} ({name})"


def _imported(module):
    for node in module.nodes():
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def _floats(module):
    for node in module.nodes():
        if isinstance(node, ast.Constant) and isinstance(node.value, (float, complex)):
            yield f"{module.path}:{node.lineno}"
        elif isinstance(node, ast.Name) and node.id in ("float", "Decimal"):
            yield f"{module.path}:{node.lineno}"
        elif isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div) and not _is_path(node):
            yield f"{module.path}:{node.lineno}"


def _is_path(node):
    """Paths are joined with / as well."""
    return any(
        isinstance(part, ast.JoinedStr)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        or (isinstance(part, ast.Name) and part.id in ("HOME", "Path"))
        or (isinstance(part, ast.Attribute) and part.attr == "parent")
        for part in ast.walk(node)
    )


def _codes(module):
    for node in module.nodes():
        if isinstance(node, ast.Constant) and node.value in (*OLD, "NO"):
            yield f"{module.path}:{node.lineno}"


def _public(module):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node for node in module.nodes() if isinstance(node, kinds) and not node.name.startswith("_")]


def _undocumented(module):
    if module.tree and not _is_sentence(ast.get_docstring(module.tree)):
        yield module.path
    inner = {part for node in module.functions() for part in ast.walk(node) if part is not node}
    for node in _public(module):
        if node not in inner and not _is_sentence(ast.get_docstring(node)):
            yield f"{module.path}:{node.lineno}"


def _is_sentence(text):
    first = (text or "").strip().split("\n")[0].strip()
    return first.endswith(".") and (first[0].isupper() or not first[0].isalpha() or "python3" in first)


def _untyped(module):
    inner = {part for node in module.functions() for part in ast.walk(node) if part is not node}
    for node in module.functions():
        if node.name.startswith("_") or node in inner:
            continue
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if node.returns is None or any(one.annotation is None and one.arg not in ("self", "cls") for one in given):
            yield f"{module.path}:{node.lineno}"


def _long(module):
    for node in module.functions():
        if node.end_lineno - node.lineno + 1 > LONGEST[module.folder]:
            yield f"{module.path}:{node.lineno}"


def _calls(module):
    for node in module.nodes():
        if isinstance(node, ast.Call):
            called = node.func
            yield node, called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")


def _prints(module):
    mains = {part for node in module.functions() if node.name == "main" for part in ast.walk(node)}
    for node, name in _calls(module):
        is_fine = module.path.endswith("__main__.py") or (module.folder == "reports" and node in mains)
        if name == "print" and not is_fine:
            yield f"{module.path}:{node.lineno}"


def _opens(module):
    for node, name in _calls(module):
        if name in ("open", "read_text", "read_bytes") and not module.path.endswith("/files.py"):
            yield f"{module.path}:{node.lineno}"


def _asks_clock(module):
    for node, name in _calls(module):
        if name in CLOCK:
            yield f"{module.path}:{node.lineno}"


def _imports_upwards(module):
    return [f"{module.path} ({name})" for name in _imported(module) if name in ("reports", "scripts", "tools", "tests")]


def _legacy():
    config = configparser.ConfigParser()
    try:
        config.read_string((checks.read("tools/house.ini") or b"").decode("utf-8", "replace"))
    except configparser.Error:
        return ["tools/house.ini"]
    if "house" not in config:
        return ["tools/house.ini"]
    return config.get("house", "legacy", fallback="", raw=True).split()


def wrong_changes(fewest):
    """What is wrong with the lines that were added to CHANGELOG.md."""
    before = (ORIGINAL / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    after = (checks.read("CHANGELOG.md") or b"").decode("utf-8", "replace").splitlines()
    left = list(after)
    for row in filter(None, before):
        if row not in left:
            return [f"CHANGELOG.md, where {row!r} has gone"]
        left.remove(row)
    heads = [place for place, row in enumerate(after) if row.startswith("## ")]
    unreleased = next((place for place in heads if after[place] == "## Unreleased"), None)
    if unreleased is None:
        return ["CHANGELOG.md"]
    end = next((place for place in heads if place > unreleased), len(after))
    entries = _entries(after[unreleased + 1 : end])
    new = [entry for entry in entries if entry not in before]
    added = [row for row in left if row.strip()]
    inside = [row for row in after[unreleased + 1 : end] if row.strip() and row not in before]
    if len(added) != len(inside):
        return ["CHANGELOG.md, outside of Unreleased"]
    wrong = [entry for entry in new if not ENTRY.fullmatch(entry)]
    if wrong or len(new) < fewest:
        return [f"CHANGELOG.md, with {len(new)} new lines: {(wrong or new)[:2]}"]
    return []


def _entries(rows):
    """Lines of the list; one may go on in an indented line."""
    found = []
    for row in rows:
        if row.startswith(("  ", "\t")) and row.strip() and found:
            found[-1] += f" {row.strip()}"
        elif row.strip():
            found.append(row.strip())
    return found
