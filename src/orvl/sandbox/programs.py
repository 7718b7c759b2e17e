"""What of a user's home a program needs in order to start, and nothing else of it.

A program that is not the system's needs the links that lead to it, the installation that its file belongs to, its
interpreter, and what a wrapper script names. Nothing is executed to find out.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

AGENT_HOME = Path("/home/agent")
SYSTEM = frozenset(("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "proc", "dev", "sys"))
SYSTEM_BELOW = (Path("/nix/store"), Path("/etc/alternatives"))
CROWDED = tuple(map(Path, ("/", "/home", "/media", "/run", "/run/user", "/var")))
MOST_READ = 1 << 16
MOST_LINKS, MOST_PROGRAMS, LONGEST_VALUE = 40, 64, 4096
BINS = ("bin", "sbin", "libexec", "shims")
SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash", "fish")
SCRIPTS = (".js", ".mjs", ".cjs", ".py", ".jar")
COMMON = re.compile(
    r"\.|bin|src|code|projects|repos|git|work|dev|Desktop|Documents|Downloads|go|snap"
    r"|\.(bin|cargo|config|cache|npm|ssh|aws|gnupg|kube|docker|azure)|\.local(/(share|lib|opt|state))?"
)
PARTS = re.compile(
    r"bin|sbin|lib\d*|libexec|include|share|src|dist|build|out|node_modules|package\.json|pyvenv\.cfg"
    r"|pkg|VERSION|go\.env|versions|host|shared|sdk|packs"
)
PRIVATE = re.compile(
    r"\.(env(\..*)?|netrc|npmrc|pypirc|condarc|git-credentials|ssh|aws|gnupg|config)|pip\.conf|.*\.(pem|key|pfx|p12)"
    r"|id_(rsa|dsa|ecdsa|ed25519)|\.?(credentials?|token)"
    r"|\.?(.*[-_.])?(o?auth|creds|credentials?|secrets?|tokens?|api[-_]?keys?)\.(json|ya?ml|toml|txt|ini|db)",
    re.IGNORECASE,
)
MANAGERS = {"asdf": "ASDF_DATA_DIR", "mise": "MISE_DATA_DIR", "volta": "VOLTA_HOME"}
MANAGERS |= {name: f"{name.upper()}_ROOT" for name in ("pyenv", "rbenv", "nodenv", "goenv", "jenv")}
INNER_CALL = re.compile(r"\$\([^()]*\)|`[^`\n]*`")
TOKEN = re.compile(r"""(?:(\w+)=)?(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"';|&<>()]+))""")
VARIABLE = re.compile(r"\$\{\w+:?-([^{}]*)\}|\$\{(\w+)[^{}]*\}|\$(\w+)")
COMMAND = re.compile(r"(?:^|[;&|(]|\b(?:exec|then|else|do|env)\b)[ \t]*(\w[\w.+-]*)", re.MULTILINE)


@dataclass(frozen=True)
class ProgramFiles:
    """What a program needs to be seen in order to start, each at its own path, and nothing inside something else.

    `paths` are bound read-only, `links` made anew with their own text; `env` is needed because the home is another one.
    """

    paths: tuple[Path, ...] = ()
    links: tuple[tuple[Path, str], ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def installation(program: Path, search: str, closed: Sequence[Path] = ()) -> ProgramFiles:
    """What a program needs, with its interpreters from `search`; no folder that holds a `closed` one is part of it."""
    return _installation(program, search, tuple(closed), Path.home())


@lru_cache(maxsize=256)
def _installation(program: Path, search: str, closed: tuple[Path, ...], home: Path) -> ProgramFiles:
    finder = _Finder(search, closed, home)
    finder.add(program)
    return together([ProgramFiles(tuple(finder.paths), tuple(finder.links.items()), finder.env)])


def unstartable(program: Path) -> str | None:
    """Why a file cannot be started as a program, with what helps; None if nothing is known to be in the way."""
    if not os.path.isfile(program):
        return "it is a folder" if os.path.isdir(program) else "it is not there"
    if not os.access(program, os.X_OK):
        return f"it is not executable; make it so with: chmod +x {shlex.quote(str(program))}"
    begins = _bytes(program, LONGEST_VALUE)
    first = begins.partition(b"\n")[0].decode("utf-8", "surrogateescape") if begins.startswith(b"#!") else ""
    interpreter = _interpreter(first)
    if first.endswith("\r"):
        mend = f"sed -i 's/\\r$//' {shlex.quote(str(program))}"
        return f"its lines end as on Windows, which hides its interpreter; mend it with: {mend}"
    if interpreter.startswith("/") and not os.path.exists(interpreter):
        return f"its interpreter {interpreter} is not there"
    if begins.startswith(b"\x7fELF") and begins[18:20] != _machine():
        return "it is a program for another kind of machine"
    return None


@cache
def _machine() -> bytes:
    """What kind of processor this machine's ELF files are for."""
    return _bytes(Path("/proc/self/exe"), 20)[18:]


def search_path() -> str:
    """Where the user's programs are."""
    return os.environ.get("PATH", os.defpath)


def own_environment() -> str | None:
    """The programs' folder of the virtual or conda environment that orvl lives in; None if it lives in none."""
    return _own_environment(sys.prefix, sys.base_prefix)


@cache
def _own_environment(prefix: str, base: str) -> str | None:
    is_conda = os.path.isdir(os.path.join(prefix, "conda-meta"))
    return os.path.realpath(os.path.join(prefix, "bin")) if prefix != base or is_conda else None


def inner_path() -> str:
    """Where agents and checks find programs: where the user does, but for the environment that orvl lives in.

    It has packages of orvl's own, and a Python that the user may not even know of. Where there is no other one, they
    get the Python that the environment is built on.
    """
    return _inner_path(search_path(), own_environment())


@lru_cache(maxsize=8)
def _inner_path(search: str, own: str | None) -> str:
    folders = [folder for folder in search.split(os.pathsep) if own is None or os.path.realpath(folder) != own]
    if not shutil.which("python3", path=os.pathsep.join(folders)):
        folders.append(os.path.join(sys.base_prefix, "bin"))
    return os.pathsep.join(folders)


def any_path() -> str:
    """Where an agent's own program may be: where agents find programs, else in the environment that orvl lives in."""
    return os.pathsep.join((inner_path(), search_path()))


def together(installations: Iterable[ProgramFiles]) -> ProgramFiles:
    """Several installations as one, in which nothing is nested; of two values of a variable the first one holds."""
    every = list(installations)[::-1]
    paths = {path for each in every for path in each.paths}
    links = {place: text for each in every for place, text in each.links}
    env = {name: value for each in every for name, value in each.env.items()}
    outer = sorted(path for path in paths if not _is_system(path) and not any(up in paths for up in path.parents))
    outside = sorted(item for item in links.items() if not _is_system(item[0]) and not _inside(item[0], paths))
    return ProgramFiles(tuple(outer), tuple(outside), MappingProxyType(env))


def visible_path(search: str, seen: ProgramFiles) -> str:
    """The folders of a PATH that are the system's, or of which something is seen."""
    folders = dict.fromkeys(folder for folder in search.split(os.pathsep) if folder.startswith("/"))
    return os.pathsep.join(folder for folder in folders if _is_seen(Path(folder), seen))


def _is_seen(folder: Path, seen: ProgramFiles) -> bool:
    links = dict(seen.links)
    walked = None if _is_system(folder) else _walk(folder, lambda place: place not in links)
    real = walked[0] if walked else folder
    return _is_system(real) or _inside(real, seen.paths) or any(real == it.parent for it in (*seen.paths, *links))


class _Finder:
    """Gathers the installations that one program leads to."""

    def __init__(self, search: str, closed: tuple[Path, ...], home: Path) -> None:
        self.search = os.pathsep.join(folder for folder in search.split(os.pathsep) if folder.startswith("/"))
        self.closed = _both(closed)
        self.homes = (*_both((home,)), *self.closed, Path("/root"))
        self.paths: set[Path] = set()
        self.links: dict[Path, str] = {}
        self.env: dict[str, str] = {}
        self.done: set[Path] = set()

    def add(self, program: Path) -> None:
        """Gathers what a program needs, and then what the programs that it names need."""
        walked = None if program in self.done or len(self.done) >= MOST_PROGRAMS else _walk(program, self.stays)
        if walked is None or not os.path.isfile(walked[0]):
            return
        real, links = walked
        self.done.add(program)
        self.links.update(links)
        for place in dict.fromkeys((program, *(place for place, _ in links), real)):
            self.manager(place)
            self.environment(place)
            self.rustup(place, real)
        if not _is_system(real) and not _inside(real.parent, self.paths):
            self.place(real)
        self.script(program, real)

    def bind(self, *paths: Path) -> None:
        """Binds what is there, but never a folder that holds more than an installation."""
        for path in paths:
            walked = _walk(path, self.stays)
            if walked is not None and not (os.path.isdir(walked[0]) and self.is_shared(walked[0])):
                self.links.update(walked[1])
                self.paths.add(walked[0])

    def stays(self, link: Path) -> bool:
        """Whether a link stands for the folder behind it: inside, something else is mounted there or below."""
        return (len(link.parts) == 2 and not _is_system(link)) or any(_inside(home, (link,)) for home in self.homes)

    def holds_closed(self, folder: Path) -> bool:
        return any(_inside(closed, (folder,)) for closed in self.closed)

    def is_shared(self, folder: Path) -> bool:
        return self.is_common(folder) or self.holds_closed(folder)

    def is_common(self, folder: Path) -> bool:
        """Whether a folder is a place for many things, by its name."""
        crowded = folder.parent in CROWDED or folder in self.closed
        return crowded or any(COMMON.fullmatch(name) for name in self.names_in_home(folder))

    def is_mixed(self, folder: Path) -> bool:
        """Whether a folder keeps settings or secrets beside its program, as most do that have a dot in a home."""
        dotted = any(re.fullmatch(r"\.[^/]+|\.config/[^/]+", name) for name in self.names_in_home(folder))
        return dotted or os.path.exists(folder / "etc/npmrc") or any(map(PRIVATE.fullmatch, _names(folder)))

    def names_in_home(self, folder: Path) -> list[str]:
        homes = (*self.homes, Path(*folder.parts[:3])) if folder.is_relative_to("/home") else self.homes
        return [str(folder.relative_to(home)) for home in homes if folder.is_relative_to(home)]

    def place(self, real: Path) -> None:
        """Binds the installation that a file belongs to."""
        brewed = next((above for above in real.parents if os.path.isfile(above / "bin/brew")), Path("/"))
        if not self.is_shared(brewed):
            self.bind(brewed)
        elif ".pnpm" in real.parts:
            self.bind(_upto(real, ".pnpm").parent, real)
        elif "node_modules" in real.parts:
            self.module(real)
        elif real.parent.name == "bin" and (libraries := _libraries(real.parent.parent)):
            self.prefix(real.parent.parent, real, *libraries)
        else:
            self.folder(real)

    def prefix(self, prefix: Path, file: Path, *needed: Path) -> None:
        """Binds a prefix of its own whole; one with more in it by its parts; a common one only as far as needed."""
        if self.is_common(prefix):
            self.bind(file, *needed)
        elif self.holds_closed(prefix) or self.is_mixed(prefix):
            self.bind(file, *needed, *(prefix / name for name in _names(prefix) if PARTS.fullmatch(name)))
        else:
            self.bind(prefix)

    def module(self, real: Path) -> None:
        """Binds a Node package: alone where it has its own dependencies, else with those beside it."""
        modules = _upto(real, "node_modules")
        first, *rest = real.relative_to(modules).parts
        package = modules.joinpath(first, *rest[: first.startswith("@")])
        prefix = modules.parent.parent
        if modules.parent.name != "lib":
            self.bind(modules, real)
        elif os.path.isfile(prefix / "bin/node"):
            self.prefix(prefix, real, package)
        else:
            self.bind(package, real)

    def folder(self, real: Path) -> None:
        """Binds the folder that looks like a file's installation, or the file alone."""
        folder = real.parent.parent if real.parent.name in BINS else real.parent
        package = next((above for above in real.parents if os.path.isfile(above / "package.json")), folder)
        folder = folder if self.is_shared(package) else package
        self.bind(real) if self.is_shared(folder) else self.prefix(folder, real)

    def manager(self, place: Path) -> None:
        """Binds a version manager whole, whose launchers look for it in the home."""
        root = place.parent.parent
        name = root.name.lstrip(".")
        if place.parent.name in BINS and name in MANAGERS and (name == "volta" or os.path.isdir(root / "shims")):
            self.bind(root)
            self.env.setdefault(MANAGERS[name], str(root))

    def environment(self, place: Path) -> None:
        """Binds a virtual environment, and the Python that it is built on."""
        root = next((above for above in place.parents if os.path.isfile(above / "pyvenv.cfg")), None)
        if root is None or _is_system(root):
            return
        real = (_walk(root, self.stays) or (root,))[0]
        self.prefix(real, place, *real.glob("lib/python*"), real / "pyvenv.cfg")
        self.add(root / "bin/python")
        for base in re.findall(r"^home\s*=\s*(/.*?)\s*$", _read(root / "pyvenv.cfg"), re.MULTILINE):
            self.add(Path(base) / "python3")

    def rustup(self, place: Path, real: Path) -> None:
        """Binds the toolchains behind a launcher of rustup, which are looked for in the home."""
        launcher = real.with_name("rustup")
        if len(place.parts) < 4 or not os.path.isfile(launcher) or not launcher.samefile(real):
            return
        roots = (*(place.parents[2] / name for name in (".rustup", "rustup")), *(it / ".rustup" for it in self.homes))
        if root := next((root for root in roots if os.path.isdir(root / "toolchains")), None):
            self.bind(root, *(root / "toolchains" / name for name in _names(root / "toolchains")))
            self.env.setdefault("RUSTUP_HOME", str(root))

    def script(self, program: Path, real: Path) -> None:
        """Follows a script to its interpreter, and to what it names or imports."""
        text = _read(real)
        interpreter = _interpreter(text)
        if found := shutil.which(interpreter, path=self.search):
            self.add(Path(found))
        name = os.path.basename(interpreter)
        if name.startswith(("python", "pypy")) and real.parent.name == "bin":
            self.user_site(real.parent.parent)
        elif name in SHELLS and (not _is_system(real) or real.is_relative_to("/usr/local")):
            self.wrapper(re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE), program, real)

    def user_site(self, base: Path) -> None:
        """Binds what `pip install --user` put beside a script, which Python looks for in the home."""
        sites = list(base.glob("lib/python*/site-packages"))
        if sites and not (_is_system(base) or _libraries(base) or os.path.exists(base / "pyvenv.cfg")):
            self.bind(*sites)
            self.env.setdefault("PYTHONUSERBASE", str(base))

    def wrapper(self, text: str, program: Path, real: Path) -> None:
        """Follows the programs that a shell script names; one named by its home is linked into the home inside."""
        while (simpler := INNER_CALL.sub("$HERE", text)) != text:
            text = simpler
        home = next((home for home in self.homes if home in program.parents), AGENT_HOME)
        named = [_named(text, here, it) for it in (home, AGENT_HOME) for here in (program.parent, real.parent)]
        for outside, inside in zip(named[0] + named[1], named[2] + named[3], strict=True):
            runs = os.path.isfile(outside) and (os.access(outside, os.X_OK) or outside.suffix in SCRIPTS)
            if runs and not _is_system(outside):
                self.add(outside)
                if inside != outside and ".." not in inside.parts:
                    self.links.setdefault(inside, str(outside))
        for found in (shutil.which(name, path=self.search) for name in dict.fromkeys(COMMAND.findall(text))):
            if found and not _is_system(Path(os.path.realpath(found))):
                self.add(Path(found))


def _named(text: str, here: Path, home: Path) -> list[Path]:
    """The absolute paths that a shell script seems to name; a variable that is not understood is its own folder."""
    values, named = {"HOME": str(home)}, []

    def expand(words: str) -> str:
        return VARIABLE.sub(lambda it: it[1] or values.get(it[2] or it[3], str(here)), words)

    for name, *words in TOKEN.findall(text):
        word = expand(expand("".join(words)))
        word = f"{home}{word[1:]}" if word.startswith("~/") else word
        if name and name not in values and len(word) < LONGEST_VALUE:
            values[name] = word
        named.append(Path(word) if word.startswith("/") else here)
    return named


def _interpreter(text: str) -> str:
    """The program that a script's first line names, past `env`; nothing for what is no script."""
    words = text[2:].split("\n", 1)[0].split() if text.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env":
        words = [word.removeprefix("-S") for word in words[1:]]
        words = [word for word in words if word and not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def _walk(path: Path, stays: Callable[[Path], bool]) -> tuple[Path, list[tuple[Path, str]]] | None:
    """The real path behind a path, and every link on the way to it; None if it leads nowhere."""
    links: list[tuple[Path, str]] = []
    here, rest = Path("/"), str(path).split("/")[::-1]
    while rest and len(links) <= MOST_LINKS:
        name = rest.pop()
        place = here.parent if name == ".." else here / name
        try:
            text = os.readlink(place) if stat.S_ISLNK(place.lstat().st_mode) and not stays(place) else ""
        except (OSError, ValueError):
            return None
        if not text:
            here = place
            continue
        links.append((place, text))
        rest += text.split("/")[::-1]
        here = Path("/") if text.startswith("/") else here
    return (here, links) if not rest else None


def _read(file: Path) -> str:
    """The beginning of a file, nothing if it cannot be read."""
    return _bytes(file, MOST_READ).decode("utf-8", "surrogateescape")


def _bytes(file: Path, most: int) -> bytes:
    with suppress(OSError):
        fd = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            return os.read(fd, most)
        finally:
            os.close(fd)
    return b""


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []


def _libraries(prefix: Path) -> list[Path]:
    """The standard libraries of a Python prefix."""
    return [found.parent for found in prefix.glob("lib/python*/os.py")]


def _both(folders: Iterable[Path]) -> tuple[Path, ...]:
    """Every folder as it is named, and as it really is."""
    return tuple(Path(spelled(folder)) for folder in folders for spelled in (os.path.abspath, os.path.realpath))


def _inside(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _upto(path: Path, name: str) -> Path:
    return Path(*path.parts[: path.parts.index(name) + 1])


def _is_system(path: Path) -> bool:
    """Whether every sandbox shows it anyway."""
    return not SYSTEM.isdisjoint(path.parts[1:2]) or _inside(path, SYSTEM_BELOW)
