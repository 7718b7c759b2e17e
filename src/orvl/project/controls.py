"""`controls/NAME/`: what a control leaves. Plain files are its final state; folders `turn-1/`, `turn-2/` … are laid
over the workspace turn by turn, and a text file `.delete` in one of them names what that turn removes.

Control files are somebody else's data: what they name is checked here, and no link among them is followed.
"""

from __future__ import annotations

import errno
import os
import re
from typing import TYPE_CHECKING

from orvl.errors import FileError, disk_sentence
from orvl.project.names import count
from orvl.project.overlays import lay
from orvl.store import beneath, tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TURN = re.compile(r"turn-([1-9]\d{0,3})")
LIKE_A_TURN = re.compile(r"turn[-_ ]?\d*", re.IGNORECASE)
DELETED = ".delete"
MOST_DELETED = 1 << 18
"""Bytes of one list of paths."""
NOT_CONTROLS = ("bugs", "cheats")
"""Folders in `controls/` that hold other things: patches of the good control, and ways to cheat."""


def turns_of(control: Path) -> dict[int, Path]:
    """The folders of a control by the turn in which each is laid down; plain files are laid down in the first."""
    if not control.is_dir():
        return {}
    matches = {name: TURN.fullmatch(name) for name in os.listdir(control) if (control / name).is_dir()}
    found = {int(match[1]): control / name for name, match in matches.items() if match}
    return dict(sorted(found.items())) or {1: control}


def has_turns(control: Path) -> bool:
    return any(folder != control for folder in turns_of(control).values())


def lay_turn(control: Path, turn: int, workspace: Path) -> None:
    """Does to a workspace what a control does in a turn: removes what it removes, and lays its files over the rest."""
    folder = turns_of(control).get(turn)
    if folder is None:
        return
    is_whole = folder == control
    for number, path in () if is_whole else deleted_in(folder):
        try:
            beneath.delete(workspace, path)
        except OSError as error:
            raise FileError(folder / DELETED, number, _not_deleted(path, error)) from error
    lay(folder, workspace, skip=() if is_whole else (DELETED,))


def _not_deleted(path: str, error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return f"there is no '{path}' in the workspace that this turn could remove."
    return f"'{path}' cannot be removed ({disk_sentence(error)})."


def deleted_in(folder: Path) -> Iterator[tuple[int, str]]:
    """The paths that a turn removes, each with its line."""
    path = folder / DELETED
    if not os.path.lexists(path):
        return
    if path.is_symlink():
        raise FileError(path, None, "this must be a text file, not a link.")
    try:
        text = beneath.read(path, MOST_DELETED).decode("utf-8-sig")
    except OSError as error:
        raise FileError(path, None, f"it cannot be read ({disk_sentence(error)}).") from error
    except UnicodeDecodeError as error:
        raise FileError(path, None, "this must be UTF-8 text, one path a line.") from error
    for number, line in enumerate(text.split("\n"), 1):
        name = line.strip("\r ").rstrip("/")
        if name and not beneath.stays_inside(name):
            raise FileError(path, number, f"'{name}' is no path inside the workspace, such as 'docs/old.md'.")
        if name:
            yield number, name


def check_controls(controls: Path, turns: int) -> None:
    """Refuses what would silently be laid down wrongly."""
    for entry in sorted(path for path in controls.iterdir() if path.is_dir()):
        if LIKE_A_TURN.fullmatch(entry.name):
            raise FileError(entry, None, "a turn belongs to a control: move this folder into controls/good/.")
        if entry.name == "cheats":
            for cheat in sorted(path for path in entry.iterdir() if path.is_dir()):
                _check_turns(cheat, turns)
        elif entry.name not in NOT_CONTROLS:
            _check_turns(entry, turns)


def _check_turns(control: Path, turns: int) -> None:
    names = sorted(os.listdir(control))
    meant = [name for name in names if LIKE_A_TURN.fullmatch(name) and (control / name).is_dir()]
    if not meant:
        return
    for name in meant:
        match = TURN.fullmatch(name)
        if match is None:
            raise FileError(control / name, None, "a control's turns are named turn-1, turn-2 and so on.")
        if (control / name).is_symlink():
            raise FileError(control / name, None, "this must be a folder, not a link.")
        if int(match[1]) > turns:
            raise FileError(control / name, None, f"the conversation has {count(turns, 'turn')}, so this is never due.")
    beside = [name for name in names if name not in (*meant, *tree.NOT_GIVEN) and not name.lower().startswith("readme")]
    if other := next(iter(beside), None):
        raise FileError(
            control / other,
            None,
            f"beside '{meant[0]}' this is laid down in no turn: move it into a turn, or put all files into one folder.",
        )
    for name in meant:
        for _ in deleted_in(control / name):
            pass
