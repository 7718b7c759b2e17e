"""Which linters and formatters a workspace configures, told by its own files."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from posixpath import basename, splitext
from typing import TYPE_CHECKING, Any

from orvl.capture.lint.workspace import folder_of, lies_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.capture.lint.workspace import Workspace

RUFF, RUFF_FORMAT, ESLINT, PRETTIER, TSC, EDITORCONFIG = (
    *("ruff", "ruff format", "eslint", "prettier", "tsc"),
    "editorconfig",
)
RUFF_FILES = ("ruff.toml", ".ruff.toml")
FLAT = tuple(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts"))
ESLINTRC = (".eslintrc", *(f".eslintrc.{end}" for end in ("js", "cjs", "json", "yaml", "yml")))
PRETTIERRC = (
    ".prettierrc",
    *(f".prettierrc.{end}" for end in ("json", "json5", "yaml", "yml", "toml", "js", "mjs", "cjs", "ts", "mts", "cts")),
    *(f"prettier.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")),
)
IGNORES = {ESLINT: (".eslintignore", "eslint-suppressions.json"), PRETTIER: (".prettierignore", ".editorconfig")}
PACKAGE, PYPROJECT, TSCONFIG, EDITOR = "package.json", "pyproject.toml", "tsconfig.json", ".editorconfig"
PACKAGE_KEYS = {ESLINT: ("eslintConfig", "eslintIgnore"), PRETTIER: ("prettier",)}
RUFF_TABLE = re.compile(r"^[ \t]*\[\[?[ \t]*tool[ \t]*\.[ \t]*ruff\b", re.MULTILINE)
FORMAT_TABLE = re.compile(r"^[ \t]*\[[ \t]*(?:tool[ \t]*\.[ \t]*ruff[ \t]*\.[ \t]*)?format\b", re.MULTILINE)
CALLS_FORMAT = re.compile(r"ruff[ -]format|ruff\b[^\n]{0,20}\bformat\b")
MENTIONS = (
    *(".pre-commit-config.yaml", "Makefile", "justfile", "Justfile", "tox.ini", "noxfile.py", "package.json"),
    *("pyproject.toml", "AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "README.md"),
)
SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
TYPED = (".ts", ".tsx", ".mts", ".cts")
PAGES = (".vue", ".svelte")
OF_PRETTIER = frozenset(
    (
        *(*SCRIPTS, *TYPED, ".vue", ".css", ".scss", ".less", ".html", ".json", ".json5", ".jsonc", ".md", ".mdx"),
        *(".yaml", ".yml", ".graphql", ".gql", ".hbs"),
    )
)
MAX_ROOTS = 5


@dataclass(frozen=True)
class Tool:
    """A linter or formatter, the folder that it runs in, and the files that configure it there."""

    name: str
    folder: str
    configs: tuple[str, ...]
    endings: frozenset[str] | None = None
    """How the names of the files end that it looks at; None for all."""
    flat: bool = True
    """Whether eslint's configuration is of the flat kind."""

    def looks_at(self, path: str) -> bool:
        return lies_in(path, self.folder) and (self.endings is None or splitext(path)[1] in self.endings)


def tools_of(files: Workspace) -> list[Tool]:
    """Every tool that a workspace configures, once for each folder that it has to run in."""
    return [*_ruff(files), *_eslint(files), *_prettier(files), *_tsc(files), *_editorconfig(files)]


def named(files: Workspace, names: Iterable[str]) -> list[str]:
    wanted = set(names)
    return sorted((path for path in files.own if basename(path) in wanted), key=lambda path: (path.count("/"), path))


def package_of(files: Workspace, path: str) -> dict[str, Any]:
    """What a package.json says; nothing where it is broken."""
    try:
        found = json.loads(files.text_of(path))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _with_key(files: Workspace, keys: Iterable[str]) -> list[str]:
    wanted = set(keys)
    return [path for path in named(files, [PACKAGE]) if wanted & package_of(files, path).keys()]


def _ruff(files: Workspace) -> list[Tool]:
    configs = named(files, RUFF_FILES)
    configs += [path for path in named(files, [PYPROJECT]) if RUFF_TABLE.search(files.text_of(path))]
    if not configs:
        return []
    endings = frozenset((".py", ".pyi"))
    found = [Tool(RUFF, "", tuple(configs), endings)]
    return [*found, Tool(RUFF_FORMAT, "", tuple(configs), endings)] if _formats(files, configs) else found


def _formats(files: Workspace, configs: list[str]) -> bool:
    """Whether the project formats with ruff: by a table of its configuration, or a file that says so."""
    if any(FORMAT_TABLE.search(files.text_of(path)) for path in configs):
        return True
    mentions = [*MENTIONS, *(path for path in files.own if path.startswith(".github/workflows/"))]
    return any(CALLS_FORMAT.search(files.text_of(path)) for path in mentions[:50])


def _eslint(files: Workspace) -> list[Tool]:
    flat = named(files, FLAT)
    found = []
    for folder in _some_folders(flat):
        configs = tuple(path for path in flat if folder_of(path) == folder)
        found.append(Tool(ESLINT, folder, configs, frozenset((*SCRIPTS, *TYPED, *PAGES))))
    old = [path for path in named(files, ESLINTRC) if not _below_one(path, found)]
    old += [path for path in _with_key(files, ["eslintConfig"]) if not _below_one(path, found)]
    for folder in _outermost(old):
        configs = tuple(path for path in old if lies_in(path, folder))
        said = " ".join(files.text_of(path) for path in configs)
        more = (*(TYPED if "typescript" in said else ()), *(end for end in PAGES if end[1:] in said))
        found.append(Tool(ESLINT, folder, configs, frozenset((*SCRIPTS, *more)), flat=False))
    return found


def _below_one(path: str, tools: list[Tool]) -> bool:
    return any(lies_in(path, tool.folder) for tool in tools)


def _prettier(files: Workspace) -> list[Tool]:
    configs = [*named(files, PRETTIERRC), *_with_key(files, PACKAGE_KEYS[PRETTIER])]
    return [
        Tool(PRETTIER, folder, tuple(path for path in configs if lies_in(path, folder)), OF_PRETTIER)
        for folder in _outermost(configs)
    ]


def _tsc(files: Workspace) -> list[Tool]:
    return [Tool(TSC, folder_of(path), (path,), frozenset(TYPED)) for path in named(files, [TSCONFIG])[:MAX_ROOTS]]


def _editorconfig(files: Workspace) -> list[Tool]:
    configs = named(files, [EDITOR])
    return [Tool(EDITORCONFIG, "", tuple(configs))] if configs else []


def _some_folders(paths: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(folder_of(path) for path in paths))[:MAX_ROOTS]


def _outermost(paths: Iterable[str]) -> list[str]:
    """The folders of some files, without those that lie in another."""
    folders = sorted({folder_of(path) for path in paths}, key=lambda folder: (folder.count("/"), folder))
    kept: list[str] = []
    for folder in folders:
        if not any(lies_in(folder, other) for other in kept):
            kept.append(folder)
    return kept[:MAX_ROOTS]


def nearest(tools: Iterable[Tool], path: str) -> list[Tool]:
    """The tools that look at a file: of several folders for one tool, the nearest."""
    best: dict[str, Tool] = {}
    for tool in tools:
        if tool.looks_at(path) and (tool.name not in best or len(tool.folder) > len(best[tool.name].folder)):
            best[tool.name] = tool
    return list(best.values())
