"""The folder listing is the architecture: a stage knows only what is to its left."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import orvl

SOURCE = Path(orvl.__file__).parent
pytestmark = pytest.mark.xdist_group("layout")  # one process reads all files once
TIERS = (
    ("errors", "types"),
    ("store", "prices", "worker", "local_model"),
    ("project",),
    ("install", "sandbox", "gateway", "testing", "plan"),
    ("run",),
    ("capture",),
    ("score",),
    ("rate", "stats"),
    ("trust", "engine", "new"),
    ("report", "pipeline", "web", "cli"),
)
RANK = {room: rank for rank, rooms in enumerate(TIERS) for room in rooms}
USER_FORM = ("agents", "evals", "scores")
"""Built-in files in a user's form."""
OWN_PROGRAMS = (
    "sandbox/guard/",
    "capture/browser/inside/",
    "run/acp/drive.py",
    "run/acp/client.py",
    "checks/",
    "new/inside/",
    "project/tasks/inside/",
)
"""Programs that run in a process of their own, without the package around them."""

SQL = re.compile(r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|WITH|BEGIN|COMMIT)\b.*\w", re.S)
ENVIRONMENT = {
    "cli": "the command line reads it",
    "pipeline": "so does the library",
    "install": "where agents are installed, and what installers need",
    "sandbox": "PATH, HOME and TMPDIR of what runs inside",
    "plan": "PATH, for an agent's version command",
    "capture": "PATH, for the browser's program",
    "worker": "what child processes inherit",
}


def sources() -> list[Path]:
    paths = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in USER_FORM]
    return sorted(path for path in paths if not path.relative_to(SOURCE).as_posix().startswith(OWN_PROGRAMS))


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    """The rooms of orvl that a file imports, at its top, for its types, or inside a function."""
    names = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            package = node.module == "orvl"
            names.update(f"orvl.{alias.name}" if package else node.module for alias in node.names)
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "orvl" and len(part) > 1 and not part[1].startswith("_")}


def test_every_file_has_a_room_and_looks_only_to_its_left():
    assert len(TIERS) <= 10
    wrong = []
    for path in sources():
        room = room_of(path)
        if room.startswith("__"):
            continue
        assert room in RANK, f"{room} has no place in the order of stages"
        wrong += [
            f"{path.relative_to(SOURCE)} imports {other}" for other in imports_of(path) if RANK[other] > RANK[room]
        ]
    assert not wrong


def test_no_two_rooms_need_each_other():
    graph: dict[str, set[str]] = {}
    for path in sources():
        if room_of(path) in RANK:
            graph.setdefault(room_of(path), set()).update(imports_of(path) - {room_of(path)})
    TopologicalSorter(graph).prepare()


def test_nothing_else_is_at_the_top():
    files = {path.name for path in SOURCE.iterdir() if path.is_file()}
    assert files == {"__init__.py", "__main__.py", "errors.py", "pipeline.py", "py.typed", "stats.py", "types.py"}
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders <= {*RANK, *USER_FORM, "checks"}


def constants(path: Path) -> list[tuple[int, str]]:
    nodes = [node for node in nodes_of(path) if isinstance(node, ast.Constant)]
    return [(node.lineno, node.value) for node in nodes if isinstance(node.value, str)]


def test_sql_stands_in_the_store_alone():
    texts = [(path, *text) for path in sources() if room_of(path) != "store" for text in constants(path)]
    assert not [f"{path.relative_to(SOURCE)}:{line}" for path, line, text in texts if SQL.match(text)]


def attributes(path: Path) -> list[tuple[int, str]]:
    nodes = [node for node in nodes_of(path) if isinstance(node, ast.Attribute | ast.Name)]
    return [(node.lineno, ast.unparse(node)) for node in nodes]


@pytest.mark.parametrize(
    ("names", "rooms"),
    [
        (("os.environ", "os.environb", "os.getenv"), set(ENVIRONMENT)),
        (("print", "sys.stdout", "sys.stderr"), {"report", "cli"}),
    ],
)
def test_the_environment_and_the_terminal_are_for_few(names, rooms):
    """A module that is a program of its own, __main__, talks to whoever started it."""
    places = [(path, *use) for path in sources() if room_of(path) not in rooms for use in attributes(path)]
    used = [f"{path.relative_to(SOURCE)}:{line} {name}" for path, line, name in places if name in names]
    assert not [use for use in used if "__main__.py" not in use]


def test_no_class_name_is_given_twice():
    names = Counter(node.name for path in sources() for node in nodes_of(path) if isinstance(node, ast.ClassDef))
    assert not [name for name, number in names.items() if number > 1 and not name.startswith("_")]


def test_exceptions_stand_in_one_file():
    found = [
        f"{path.relative_to(SOURCE)}: {node.name}"
        for path in sources()
        for node in nodes_of(path)
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    ]
    assert not [line for line in found if not line.startswith("errors.py")]


def test_built_in_files_are_in_a_users_form():
    for kind in ("agents", "scores"):
        for path in (SOURCE / kind).glob("*.py"):
            allowed = {"Command", "run", "agents", "score"}
            assert imports_of(path) <= allowed, f"{path} imports what is not for users"


def test_the_public_names():
    assert all(getattr(orvl, name) for name in orvl.__all__)
    assert "rate" in orvl.__all__ and "Command" in orvl.__all__


def test_rate_can_be_called_whatever_was_imported_before():
    code = "import orvl.rate.rating, orvl; from orvl import rate; print(orvl.rate([[0.5]], [1], [1]).R, rate([[0.5]], [1], [1]).R)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "0.5 0.5\n"


def test_nothing_heavy_is_imported_for_help():
    code = "import sys, orvl.cli\ntry: orvl.cli.main()\nexcept SystemExit: print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pydantic", "rich", "asyncio", "sqlite3", "yaml", "zstandard"} & set(done.stderr.split())
    assert not heavy
