"""The folder listing is the architecture: a stage imports only what is to its left."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import orvl

SOURCE = Path(orvl.__file__).parent
ORDER = (
    ["errors", "types", "loopback"],
    ["tree", "diff", "store", "reading", "prices", "testing", "local_model"],
    ["project"],
    ["words", "hosts", "ladder"],
    ["install"],
    ["plan"],
    ["sandbox", "workdir", "command", "start"],
    ["gateway", "acp"],
    ["job", "told", "replay"],
    ["run"],
    ["capture", "checks", "browser", "lint"],
    ["judges", "similarity"],
    ["score", "cards"],
    ["rating", "stats"],
    ["state"],
    ["engine"],
    ["certify"],
    ["report"],
    ["cli"],
)
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}
USER_FORM = ("agents", "evals", "scores")


def imports_of(path: Path) -> set[str]:
    """The rooms of orvl that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(
                f"{node.module}.{alias.name}" if node.module == "orvl" else node.module for alias in node.names
            )
    parts = [name.split(".") for name in found]
    return {part[1] for part in parts if part[0] == "orvl" and len(part) > 1 and not part[1].startswith("_")}


def test_every_room_has_its_place_and_looks_only_to_its_left():
    wrong = []
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if room in USER_FORM or room.startswith("__"):
            continue
        assert room in RANK, f"{room} has no place in the order of stages"
        wrong += [f"{path.name} imports {other}" for other in imports_of(path) if RANK[other] > RANK[room]]
    assert not wrong


def test_built_in_files_are_in_a_users_form():
    for kind in ("agents", "scores"):
        for path in (SOURCE / kind).glob("*.py"):
            assert imports_of(path) <= {"Command", "reading", "agents", "similarity"}, (
                f"{path} imports what is not for users"
            )


def test_the_public_names():
    assert orvl.__all__ == ["Command", "Rating", "__version__", "rate"]
    assert all(getattr(orvl, name) for name in orvl.__all__)


def test_no_public_name_is_also_a_module():
    """Importing a module would put it in the place of the name."""
    for name in orvl.__all__:
        assert not (SOURCE / f"{name}.py").exists()
        assert not (SOURCE / name).is_dir()


def test_nothing_heavy_is_imported_for_help():
    code = "import sys, orvl.cli\ntry: orvl.cli.main()\nexcept SystemExit: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pydantic", "rich", "asyncio", "sqlite3", "yaml", "zstandard"} & set(done.stderr.split())
    assert not heavy


def test_small_files_and_functions():
    for path in SOURCE.rglob("*.py"):
        if "evals" in path.relative_to(SOURCE).parts:
            continue
        text = path.read_text()
        assert text.count("\n") <= 350, f"{path} is long"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert (node.end_lineno or 0) - node.lineno <= 60, f"{path}: {node.name} is long"
