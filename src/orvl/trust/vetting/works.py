"""Work of known quality, as it is put into a workspace: controls after some of their turns, and changes over them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orvl.project.control_scripts import SCRIPT
from orvl.project.controls import turns_of
from orvl.run.controls import lay_control
from orvl.store import beneath
from orvl.trust.vetting.episodes import as_drawn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orvl.sandbox.workdir import RunFolders
    from orvl.trust.controls.control import ControlFiles
    from orvl.types import Eval


@dataclass(frozen=True)
class Work:
    """What an agent of known quality leaves. Two of the same name are the same."""

    name: str
    control: Path | None = None
    """A folder that is laid down turn by turn."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Laid over the control; in the first turn where there is none."""
    deleted: frozenset[str] = frozenset()
    executable: frozenset[str] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict)
    is_heard: bool = False
    """Whether what checks ask of it is kept."""
    command: str = ""
    """Run in the agent's own sandbox afterwards, as the last thing that the agent did."""

    @classmethod
    def of(cls, made: ControlFiles) -> Work:
        """A control of the ladder."""
        if made.by_turn is not None:
            return cls(made.name, control=made.by_turn)
        return cls(made.name, files=made.files, deleted=made.deleted, executable=made.executable)

    @property
    def turns(self) -> tuple[int, ...]:
        """The turns in which it lays something down."""
        return tuple(turns_of(self.control)) if self.control else (1,)

    def stage(self, turn: int) -> int:
        """The last of its turns up to this one; 0 before the first. What it leaves is the same from one to the next."""
        return max((one for one in self.turns if one <= turn), default=0)

    def scripts(self, turn: int) -> list[Path]:
        """The folders with the scripts that make what it leaves by this turn, where it is made by scripts."""
        folders = turns_of(self.control).items() if self.control else ()
        return [folder for one, folder in folders if one <= turn and (folder / SCRIPT).is_file()]

    def lay(self, turn: int, folders: RunFolders, eval_: Eval) -> None:
        """Does to the workspace what its turns up to this one do; nothing before the first."""
        if self.control is not None and not self.scripts(max(self.turns)):
            for one in self.turns:
                if one <= turn:
                    lay_control(self.control, one, folders.workspace, eval_.drawn)
        if turn <= 0:
            return
        for path in sorted(self.deleted):
            beneath.delete(folders.workspace, path)
        for path, content in self.files.items():
            mode = 0o755 if path in self.executable else 0o644
            beneath.put(folders.workspace, path, as_drawn(content, eval_), mode)
        for path, target in self.links.items():
            beneath.remove(folders.workspace / path)
            folders.link(folders.workspace, PurePosixPath(path), target)


EMPTY = Work("empty")
