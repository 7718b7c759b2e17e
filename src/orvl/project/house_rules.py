"""What of an eval's workspace an agent has to adhere to: linters that it configures, and rules for agents.

By names of files, so that a plan can say what counts; the linters themselves decide when they look (capture/lint).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from orvl.store.tree import MADE_BY_OTHERS

LINTERS = ("ruff.toml", ".ruff.toml", "tsconfig.json", ".editorconfig", ".eslintrc", ".prettierrc")
BEGINNINGS = (".eslintrc.", "eslint.config.", ".prettierrc.", "prettier.config.")
TABLES = {"pyproject.toml": ("tool.ruff",), "package.json": ('"eslintConfig"', '"prettier"')}
"""Files that configure a linter only if they have one of these words."""
RULES = (
    *("AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md", "CONVENTIONS.md", "CONTRIBUTING.md"),
    *("copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules", ".rules"),
)
MOST_FILES = 20_000
LARGEST = 256 << 10


def house_rules(workspace: Path | None) -> tuple[bool, bool]:
    """Whether a workspace configures linters, and whether it has rules for agents."""
    paths = _files(workspace) if workspace else []
    return any(map(_configures, paths)), any(path.name in RULES or path.suffix == ".mdc" for path in paths)


def _configures(path: Path) -> bool:
    if path.name in LINTERS or path.name.startswith(BEGINNINGS):
        return True
    words = TABLES.get(path.name, ())
    with suppress(OSError):
        return bool(words) and path.stat().st_size <= LARGEST and any(word in _text(path) for word in words)
    return False


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace")


def _files(workspace: Path) -> list[Path]:
    found: list[Path] = []
    for folder, folders, names in os.walk(workspace):
        folders[:] = [name for name in folders if name not in MADE_BY_OTHERS]
        found += [Path(folder, name) for name in names]
        if len(found) > MOST_FILES:
            break
    return found
