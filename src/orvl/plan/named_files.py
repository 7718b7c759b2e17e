"""The files behind an agent: the script that its command names, what lies or is imported beside it, and its `paths`.

They are part of what makes a run, so they count in its identity by content, under a name relative to the project:
never by an absolute path or a time.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import shlex
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import redirect_stderr, redirect_stdout, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from fnmatch import fnmatch
from itertools import count
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from orvl.project import PARTS, python_file
from orvl.sandbox.programs import PRIVATE
from orvl.types import AgentEndpoint, Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from orvl.project import Project
    from orvl.types import Agent, Eval

LONGEST_PATH = 4096
PROGRAM_IN_FOLDER = ("__main__.py", "package.json", "index.js")
"""What makes a folder something that `python3` or `node` can run."""
MOST_FILES = 2000
MOST_BYTES = 32 << 20
"""What is hashed of a folder at most: `orvl report` looks at it each time."""
LARGEST_SOURCE = 1 << 20
COMMAND_SECONDS = 5.0
CLOCK = 0.005
"""Seconds by which the time of a new file may be behind."""
NOT_SOURCE = (
    *("__pycache__", "node_modules", "site-packages", ".git", ".hg", ".svn", ".orvl", "venv", ".venv", ".tox", ".nox"),
    *(".*_cache", ".cache", ".idea", ".vscode", ".DS_Store", "Thumbs.db", ".ipynb_checkpoints", "*.egg-info"),
    *("*.pyc", "*.pyo", "*~", ".*.sw[a-p]", "#*#", ".#*", "*.orig", "*.rej"),
    *("*.log", "*.pid", "*.tmp", "*.sock", "*.db", "*.sqlite", "*.sqlite3", "*-wal", "*-shm", "*-journal"),
)
"""Caches, repositories, editors' files, what runs leave, and installed packages, for which a lock file stands."""
SOURCES = {
    *(".py", ".pyz", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx", ".sh", ".bash", ".zsh", ".fish"),
    *(".rb", ".pl", ".php", ".lua", ".jar", ".wasm", ".toml", ".yaml", ".yml", ".json", ".jsonc", ".ini", ".cfg"),
    *(".conf", ".md", ".txt"),
}
"""Programs and settings. Other files that a command names may be what it writes, as a log or a flag."""
SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", "/run", "/nix")))
SCRIPTS = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"}
EXTENSIONS = ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/index.ts")
QUOTED = re.compile(r"""(["'`])((?:(?!\1)[^\\\n]){1,300})\1""")
WORD = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*")
PROMPT = "prompt"
MUTABLE = (list, dict, set, bytearray, deque, count)


@dataclass(frozen=True)
class Named:
    """Files by their names, with the hash of each; a word that the run's workspace has itself does not mean them."""

    always: Mapping[str, str] = field(default_factory=dict)
    by_word: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def on(self, agent: Agent, eval_: Eval) -> dict[str, str]:
        """Those that count on one eval."""
        variants = [eval_.part(f"variants/{key}/{value}") for key, some in eval_.variants.items() for value in some]
        folders = [eval_.part("workspace"), *variants, *(overlay.workspace for overlay in agent.overlays)]
        files = dict(self.always)
        for word, some in self.by_word.items():
            if not any(folder and os.path.lexists(folder / word) for folder in folders):
                files |= some
        return files


@dataclass
class _Known:
    """What was looked at for one open project: a folder is hashed once, however many models its agent has."""

    named: dict[tuple[str, str, str], Named] = field(default_factory=dict)
    files: dict[tuple[str, Path], _Files] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)
    """Agents whose command did not return."""

    def of(self, kind: str, path: Path, look: Callable[[], _Files]) -> _Files:
        if (kind, path) not in self.files:
            self.files[kind, path] = look()
        return self.files[kind, path]


_KNOWN: WeakKeyDictionary[Project, _Known] = WeakKeyDictionary()


def named_files(project: Project, agent: Agent, provider: str, model_id: str) -> Named:
    """The files behind an agent on one model, as they are now; looked at once for each open project."""
    if agent.origin == "built-in":
        return Named()
    known = _KNOWN.setdefault(project, _Known())
    key = (agent.name, provider, model_id)
    if key not in known.named:
        known.named[key] = _look(known, project.root.resolve(), agent, provider, model_id)
    return known.named[key]


def may_be_path(word: str, *, is_program: bool) -> bool:
    """Whether a word looks like a path: a subcommand such as `run` does not, even where a file has that name."""
    if not word or word.startswith(("-", "/", "~")) or len(word) > LONGEST_PATH or "\0" in word or "\n" in word:
        return False
    return "/" in word if is_program else "/" in word or "." in word.strip(".")


def is_program(path: Path) -> bool:
    # Not `Path.is_file`, which fails for a word that is too long to be a name.
    return os.path.isfile(path) or any(os.path.isfile(path / name) for name in PROGRAM_IN_FOLDER)


def _look(known: _Known, root: Path, agent: Agent, provider: str, model_id: str) -> Named:
    own = known.of("agent", agent.path, lambda: _of_agent(root, agent))
    found, notes, by_word = dict(own.found), dict(own.notes), {}
    began = time.time()
    for place, word in _words(known, agent, provider, model_id):
        if place and not _is_source(root / word):
            continue
        if may_be_path(word, is_program=not place) and is_program(root / word):
            path = (root / word).resolve()
            files = known.of("program", path, lambda path=path: _Files(root).program(path))  # type: ignore[misc]
            by_word[word] = files.found
        elif word.startswith("/") and _is_own(Path(word), root, began, is_first=not place):
            path = Path(word).resolve()
            files = known.of("script", path, lambda path=path: _Files(root).imported(path, []))  # type: ignore[misc]
            found |= files.found
        else:
            continue
        notes |= files.notes
    if agent.name in known.silent:
        notes[f"its command did not return within {COMMAND_SECONDS:g} s when it was asked for the files it names."] = (
            None
        )
    return Named(found, by_word, tuple(notes))


def _of_agent(root: Path, agent: Agent) -> _Files:
    """What the agent's own file imports and names, and its `paths`; the file itself is in the agent's digest."""
    files = _Files(root).imported(agent.path, [root])
    files.found.pop(files.name_of(agent.path), None)
    for path in agent.paths:
        files.everything(path)
    return files


def _is_source(path: Path) -> bool:
    """Whether a file that a command names makes the agent what it is: a program, or its settings."""
    try:
        if path.suffix.lower() in SOURCES or path.is_dir() or os.access(path, os.X_OK):
            return True
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except (OSError, ValueError):
        return False


def _is_own(path: Path, root: Path, began: float, *, is_first: bool) -> bool:
    """Whether a file that is named by an absolute path is part of the agent: not the system's, nor an interpreter, nor
    one that `command` itself has just written."""
    try:
        real = path.resolve()
        info = real.stat()
        if not os.path.isfile(real) or info.st_size > MOST_BYTES:
            return False
        if real.is_relative_to(root):
            return True
        if real.is_relative_to(tempfile.gettempdir()) and info.st_ctime >= began - CLOCK:
            return False
        if any(real.is_relative_to(folder) for folder in SYSTEM) or path.is_relative_to(sys.prefix):
            return False
        with open(real, "rb") as file:
            return not (is_first and file.read(4) == b"\x7fELF")
    except (OSError, ValueError):
        return False


# -- what a command says


def _words(known: _Known, agent: Agent, provider: str, model_id: str) -> list[tuple[int, str]]:
    """The words of the command's first and later turns, with their places; none where it cannot be called like this."""
    words: dict[tuple[int, str], None] = {}
    values = {PROMPT, provider, model_id}
    if agent.name in known.silent:
        return []

    def work() -> None:
        with suppress(Exception, SystemExit), tempfile.TemporaryDirectory(prefix="orvl-") as folder:
            command = _copy_of_command(agent)
            for turn in (1, 2):
                available = {
                    "provider": provider,
                    "model": model_id,
                    "prompt": PROMPT,
                    "session": None if turn == 1 else "session",
                    "workspace": Path(folder),
                    "endpoint": AgentEndpoint("http://127.0.0.1:9/v1", "key", next(iter(agent.protocols), "openai")),
                    "turn": turn,
                    "controls": None,
                    "arguments": (),
                }
                said = command(**available)
                argv = said.argv if isinstance(said, Command) else said
                split = shlex.split(argv) if isinstance(argv, str) else [str(word) for word in argv]
                words.update(((place, word), None) for place, word in enumerate(split) if word not in values)

    # In a thread, because a report must not wait for a command that never returns.
    thread = threading.Thread(target=work, daemon=True)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        thread.start()
        thread.join(COMMAND_SECONDS)
    if thread.is_alive():
        known.silent.add(agent.name)
        return []
    return list(words)


def _copy_of_command(agent: Agent) -> Any:
    """The function with a copy of what its module remembers: its calls by runs are counted without this one.

    The file itself is not run a second time.
    """
    original = agent.command
    assert isinstance(original, python_file.UserFunction)
    if not isinstance(original.function, FunctionType):
        return original
    names = original.function.__globals__
    copied: dict[str, Any] = {}
    for name, value in names.items():
        if isinstance(value, FunctionType) and value.__globals__ is names:
            copied[name] = _with_globals(value, copied)
        else:
            copied[name] = deepcopy(value) if isinstance(value, MUTABLE) and not name.startswith("__") else value
    function = _with_globals(original.function, copied)
    return python_file.UserFunction(agent.path, "command", function, (*original.wants, *original.by_place))


def _with_globals(function: FunctionType, names: dict[str, Any]) -> FunctionType:
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


# -- the files


class _Files:
    """Collects files with their hashes; bounded, with a note where a folder was too large."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.found: dict[str, str] = {}
        self.notes: dict[str, None] = {}
        self._closed = [root / part for part in (*PARTS, ".orvl")]

    def name_of(self, path: Path) -> str:
        """Relative to the project; of a file elsewhere its own name alone."""
        return path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name

    def program(self, path: Path) -> _Files:
        """A script or a folder that is one, with what its sandbox shows beside it."""
        folder = path if path.is_dir() else path.parent
        is_alone = not folder.is_relative_to(self.root) or folder == self.root or self._is_closed(folder)
        if is_alone or not self.everything(folder):
            for start in (path / name for name in PROGRAM_IN_FOLDER) if path.is_dir() else (path,):
                self.imported(start, [folder])
        return self

    def _is_closed(self, folder: Path) -> bool:
        return any(folder.is_relative_to(part) or part.is_relative_to(folder) for part in self._closed)

    def everything(self, path: Path) -> bool:
        """A file, or the files of a folder; False, with a note, where these are too many."""
        if not path.is_dir():
            self._add(path)
            return True
        found: dict[str, str] = {}
        size = 0
        for file in _walk(path):
            size += _size(file)
            if len(found) >= MOST_FILES or size > MOST_BYTES:
                self.notes[
                    f"{self.name_of(path) or path} has more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB: changes "
                    "in it do not make runs anew, except in the script itself and in what it imports."
                ] = None
                return False
            inside = file.relative_to(path).as_posix()
            found[f"{self.name_of(path)}/{inside}"] = _hash(file)
        self.found |= found
        return True

    def imported(self, path: Path, folders: list[Path]) -> _Files:
        """A source file, and the files beside it that it imports or names, and those that these do."""
        todo, seen = [path], {path}
        while todo and len(seen) < MOST_FILES:
            file = todo.pop()
            self._add(file)
            for other in _references(file, folders):
                if other not in seen and _counts(other.name):
                    seen.add(other)
                    todo.append(other)
        return self

    def _add(self, path: Path) -> None:
        if digest := _hash(path):
            self.found[self.name_of(path)] = digest


def _walk(folder: Path) -> Iterator[Path]:
    """The files that count, in order; links to folders are not followed."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if _counts(name))
        yield from (Path(here, name) for name in sorted(names) if _counts(name))


def _counts(name: str) -> bool:
    return not PRIVATE.fullmatch(name) and not any(fnmatch(name, pattern) for pattern in NOT_SOURCE)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _hash(path: Path) -> str:
    """Empty where there is no regular file to read."""
    try:
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


def _references(path: Path, folders: Iterable[Path]) -> Iterator[Path]:
    """The files beside a source file that it imports, or names in a string or a word of its own."""
    if _size(path) > LARGEST_SOURCE:
        return
    try:
        source = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return
    is_python = path.suffix == ".py" or re.match(r"#!.*python", source)
    modules, names = _python_names(source) if is_python else ((), _script_names(path, source))
    for some, places in ((modules, (path.parent, *folders)), (names, (path.parent,))):
        for name in some:
            if place := next((folder / name for folder in places if os.path.isfile(folder / name)), None):
                yield Path(os.path.normpath(place))


def _python_names(source: str) -> tuple[list[str], list[str]]:
    """Where the modules that a file imports may lie, and its strings that may be names of files."""
    modules: list[str] = []
    names: list[str] = []
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return modules, names
    for node in nodes:
        if isinstance(node, ast.Import):
            modules += [place for alias in node.names for place in _module(alias.name)]
        elif isinstance(node, ast.ImportFrom):
            above, module = "../" * (node.level - 1), node.module or ""
            inner = [f"{module}.{alias.name}" for alias in node.names]
            modules += [above + place for name in (module, *inner) for place in _module(name)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _is_file_name(node.value):
            names.append(node.value.lstrip("/"))
    return modules, names


def _module(name: str) -> Iterator[str]:
    """The files of a module and of the packages around it."""
    parts = [part for part in name.split(".") if part]
    for depth in range(1, len(parts) + 1):
        place = "/".join(parts[:depth])
        yield f"{place}/__init__.py"
        yield f"{place}.py"
    if not parts:
        yield "__init__.py"


def _script_names(path: Path, source: str) -> Iterator[str]:
    """Of a script in JavaScript its quoted words; of a shell's, or any other, all words that look like a file."""
    if path.suffix in SCRIPTS:
        for match in QUOTED.finditer(source):
            if match[2].startswith(".") or _is_file_name(match[2]):
                yield from (match[2] + extension for extension in EXTENSIONS)
    elif source.startswith("#!") or path.suffix in (".sh", ".bash", ".zsh"):
        yield from (word for word in WORD.findall(source) if _is_file_name(word))


def _is_file_name(text: str) -> bool:
    return 0 < len(text) < 300 and "." in text.strip(".") and not re.search(r"[\s\0]", text)
