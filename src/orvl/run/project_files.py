"""Files of the project that an agent's command names by a relative path, such as `python3 my_agent.py`.

A folder that is a program, such as a Python package with a `__main__.py`, is one, too. They are found from the
project's folder, unless the run's workspace has such a file when the run starts, and are shown to the agent read-only
with the folder that they lie in.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.plan.named_files import PROGRAM_IN_FOLDER, is_program, may_be_path
from orvl.sandbox.programs import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from orvl.types import Command


@dataclass
class ProjectFiles:
    """What the words of one run's commands stand for; decided when a word is first seen, for all turns."""

    root: Path | None = None
    closed: tuple[Path, ...] = ()
    """Folders of the project that no agent may look into: evals, the store, and the like."""
    _known: dict[str, Path | None] = field(default_factory=dict)

    def located(self, command: Command, workspace: Path, values: Collection[str | None]) -> Command:
        """The command with such words as absolute paths; what it got as `values`, such as the prompt, is no path."""
        words = list(command.argv)
        for place, word in enumerate(words):
            if word not in values and may_be_path(word, is_program=not place):
                found = self._found(word, workspace)
                words[place] = str(found) if found else word
        return replace(command, argv=words)

    def _found(self, word: str, workspace: Path) -> Path | None:
        if word not in self._known:
            path = self.root / word if self.root and not os.path.lexists(workspace / word) else None
            self._known[word] = path.resolve() if path and is_program(path) else None
        return self._known[word]

    def hint(self, program: str) -> str:
        """What to say beside a program that is not in the workspace: it is not in the project either, but maybe …"""
        if self.root is None or program.startswith("/") or "/" not in program:
            return ""
        path = self.root / program
        if path.is_dir():
            return f", and in the project it is a folder with none of {', '.join(PROGRAM_IN_FOLDER)}"
        names = os.listdir(path.parent) if path.parent.is_dir() else []
        close = get_close_matches(path.name, names, 1)
        meant = f" (did you mean {os.path.join(os.path.dirname(program), close[0])}?)" if close else ""
        return f", nor in the project's folder{meant}"

    @property
    def readable(self) -> set[Path]:
        """What the agent has to be shown."""
        return {path for file in self._known.values() if file for path in self._shown(file)}

    def _shown(self, file: Path) -> Iterable[Path]:
        """A file with its folder; alone where the folder holds more than an agent may see."""
        folder, root = file if file.is_dir() else file.parent, (self.root or Path("/")).resolve()
        if not folder.is_relative_to(root) or folder == root or self._is_closed(folder):
            return (file,)
        names = os.listdir(folder)
        if any(map(PRIVATE.fullmatch, names)):
            return (folder / name for name in names if not PRIVATE.fullmatch(name))
        return (folder,)

    def _is_closed(self, folder: Path) -> bool:
        closed = [path.resolve() for path in self.closed]
        return any(folder.is_relative_to(other) or other.is_relative_to(folder) for other in closed)
