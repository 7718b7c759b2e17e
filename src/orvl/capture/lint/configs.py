"""What an agent changed in the configurations of linters, and the workspace without these changes."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from posixpath import basename, join, normpath
from typing import Any

from orvl.capture.lint.node import PACKAGE, package_of
from orvl.capture.lint.registry import LINTERS, roots_of
from orvl.capture.lint.workspace import MODULES, Workspace, folder_of, shown
from orvl.store.tree import Entry

PYPROJECT = "pyproject.toml"
LED_TO = re.compile(
    r"""(?:\bfrom|\brequire\s*\(|\bimport\s*\(?|\bextends?["']?\s*[:=]\s*\[?)\s*["']([\w@./-]{1,200})["']"""
)
ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js", "/tsconfig.json")
KEYS = {key for linter in LINTERS.values() for key in linter.package_keys}
TABLES = tuple(dict.fromkeys(linter.pyproject_table for linter in LINTERS.values() if linter.pyproject_table))
MAX_CONFIGS = 100
MAX_EDITS = 20
MAX_DIFF_LINES = 20
MAX_DIFF_LINE = 200
TOO_LONG = 3000


@dataclass(frozen=True)
class ConfigEdit:
    """A configuration that the agent added, changed or removed, with the lines that differ."""

    path: str
    kind: str
    diff: tuple[str, ...] = ()


def configs_of(files: Workspace, names: Iterable[str]) -> set[str]:
    """The files that configure some linters, including files that they import and ignore files."""
    wanted = set(names)
    found = {path for root in roots_of(files) if root.name in wanted for path in root.configs}
    for name in wanted:
        if pattern := LINTERS[name].other_configs:
            found |= {path for path in files.own if pattern.fullmatch(basename(path))}
    waiting = sorted(found)
    while waiting and len(found) < MAX_CONFIGS:
        path = waiting.pop()
        for other in _led_to(files, path) - found:
            found.add(other)
            waiting.append(other)
    return found


def _led_to(files: Workspace, path: str) -> set[str]:
    """The project's own files that a configuration extends or imports."""
    if basename(path) == PACKAGE:
        return set()
    found = set()
    for target in LED_TO.findall(files.text_of(path)):
        places = (normpath(join(folder_of(path), target + ending)) for ending in ENDINGS)
        found |= {place for place in places if place in files.own and basename(place) != PACKAGE}
    return found


def edits(before: Workspace, after: Workspace, names: Iterable[str]) -> list[ConfigEdit]:
    """What the agent changed in the configurations of some linters, and in the linters themselves."""
    wanted = set(names)
    paths = configs_of(before, wanted) | configs_of(after, wanted)
    found = []
    for path in sorted(paths):
        old, new = _part(before, path), _part(after, path)
        if old != new:
            kind = "added" if old is None else "removed" if new is None else "changed"
            found.append(ConfigEdit(shown(path), kind, _difference(old or "", new or "")))
    programs = _programs(after, wanted)
    for place, parts in _programs(before, wanted).items():
        if _modules_are_there(after, place) and parts != programs.get(place):
            found.append(ConfigEdit(shown(place), "changed", ("the program itself was replaced",)))
    return found[:MAX_EDITS]


def _modules_are_there(files: Workspace, place: str) -> bool:
    """Whether the node_modules folder of a package exists."""
    return place[: place.index(MODULES) + len(MODULES)] in files.by_path


def _part(files: Workspace, path: str) -> str | None:
    """The part of a file that is for linters; None if there is none."""
    entry = files.by_path.get(path)
    if entry is None or entry.kind == "folder":
        return None
    content = files.bytes_of(path)
    if content is None:
        return f"a {entry.kind} of {entry.size} bytes {entry.hash or entry.target or ''}"
    text = content.decode("utf-8", "backslashreplace")
    if basename(path) == PACKAGE:
        said = {key: value for key, value in package_of(files, path).items() if key in KEYS}
        return json.dumps(said, indent=2, sort_keys=True) if said else None
    if basename(path) == PYPROJECT:
        return _tables(text)
    return text


def _tables(text: str) -> str | None:
    """The part of a pyproject.toml that is for linters."""
    try:
        tool: Any = tomllib.loads(text).get("tool", {})
        tables = [table for name in TABLES if (table := tool.get(name)) is not None]
    except (ValueError, AttributeError, RecursionError):
        return text
    return "\n".join(json.dumps(table, indent=2, sort_keys=True, default=str) for table in tables) or None


def _difference(old: str, new: str) -> tuple[str, ...]:
    a, b = old.splitlines(), new.splitlines()
    if len(a) + len(b) > TOO_LONG:
        return (f"{len(a)} lines became {len(b)}",)
    lines = [line for line in difflib.unified_diff(a, b, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))]
    kept = [shown(line[:MAX_DIFF_LINE]) for line in lines[:MAX_DIFF_LINES]]
    return (*kept, f"{len(lines) - MAX_DIFF_LINES} more lines") if len(lines) > MAX_DIFF_LINES else tuple(kept)


def _programs(files: Workspace, names: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """The npm packages of some linters in the workspace, each with its files and their hashes."""
    found: dict[str, dict[str, str | None]] = {}
    ends = tuple(f"{MODULES}/{package}" for name in names if (package := LINTERS[name].npm_package))
    for entry in files.entries:
        at = entry.path.find(MODULES + "/")
        if at < 0 or (at and entry.path[at - 1] != "/"):
            continue
        for end in ends:
            if entry.path.startswith(end, at) and entry.path[at + len(end) : at + len(end) + 1] in ("", "/"):
                place = entry.path[: at + len(end)]
                found.setdefault(place, {})[entry.path] = entry.hash or entry.target
    return found


def with_modules(files: Workspace, other: Workspace) -> Workspace:
    """A workspace, with the installed packages of another if it has none of its own."""
    lent = [
        entry
        for entry in other.entries
        if (at := f"/{entry.path}/".find(f"/{MODULES}/")) >= 0 and entry.path[: at + len(MODULES)] not in files.by_path
    ]
    kept = [entry for entry in lent if _folder_is_there(files, entry.path)]
    return _made({**files.by_path, **{entry.path: entry for entry in kept}}, files)


def _folder_is_there(files: Workspace, path: str) -> bool:
    folder = path[: path.index(MODULES)].rstrip("/")
    return not folder or (folder in files.by_path and files.by_path[folder].kind == "folder")


def with_configs(after: Workspace, before: Workspace, names: Iterable[str]) -> Workspace:
    """What the agent left, with the configurations and programs of some linters as they were at the start."""
    wanted = set(names)
    entries = dict(after.by_path)
    more = dict(after.made)
    old = configs_of(before, wanted)
    for path in configs_of(after, wanted) - old:
        if basename(path) not in (PACKAGE, PYPROJECT):
            entries.pop(path, None)
        elif basename(path) == PACKAGE:
            _put(entries, _merged(after, before, path, more))
        elif path in before.by_path:
            _put(entries, before.by_path[path])
        else:
            entries.pop(path, None)
    for path in sorted(old):
        is_package = basename(path) == PACKAGE and path in after.own
        _put(entries, _merged(after, before, path, more) if is_package else before.by_path[path])
    theirs = _programs(after, wanted)
    for place, parts in _programs(before, wanted).items():
        for path in theirs.get(place, {}):
            entries.pop(path, None)
        for path in sorted(parts):
            _put(entries, before.by_path[path])
    return _made(entries, replace(after, made=more))


def _merged(after: Workspace, before: Workspace, path: str, more: dict[str, bytes]) -> Entry:
    """A package.json as the agent left it, except for the part that is for linters."""
    entry = after.by_path[path]
    if _part(after, path) == _part(before, path):
        return entry
    said = {key: value for key, value in package_of(after, path).items() if key not in KEYS}
    said |= {key: value for key, value in package_of(before, path).items() if key in KEYS}
    content = (json.dumps(said, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")
    name = hashlib.sha256(content).hexdigest()
    more[name] = content
    return replace(entry, hash=name, size=len(content))


def _put(entries: dict[str, Entry], entry: Entry) -> None:
    """Adds an entry, replacing whatever is in its way."""
    parents = entry.path.split("/")[:-1]
    for depth in range(1, len(parents) + 1):
        folder = "/".join(parents[:depth])
        if folder not in entries or entries[folder].kind != "folder":
            entries[folder] = Entry(folder, "folder", 0o755)
    if entry.path in entries and entries[entry.path].kind == "folder" and entry.kind != "folder":
        for path in [path for path in entries if path.startswith(entry.path + "/")]:
            del entries[path]
    entries[entry.path] = entry


def _made(entries: dict[str, Entry], files: Workspace) -> Workspace:
    """A workspace with other entries, a folder before its content."""
    return replace(files, entries=sorted(entries.values(), key=lambda entry: entry.path.split("/")))
