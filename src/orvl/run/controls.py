"""What a control leaves: its files, with the values that were drawn for the episode."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.project.controls import DELETED, lay_turn, turns_of
from orvl.project.draw import filled
from orvl.store import beneath, tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.types import Draw

LARGEST = 4 << 20
"""Bytes of a file in which values are put in."""


def lay_control(control: Path, turn: int, workspace: Path, draw: Draw | None) -> None:
    """Lays what a control leaves in a turn over a workspace, and puts values in place of `{{key}}` in its texts."""
    lay_turn(control, turn, workspace)
    folder = turns_of(control).get(turn)
    if folder is None or draw is None or not draw.values:
        return
    for name, mode in _files(folder):
        if folder == control or name != DELETED:
            _fill(folder / name, workspace, name, mode, draw.values)


def _files(root: Path) -> Iterator[tuple[str, int]]:
    """The paths of all plain files, with their modes."""
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in tree.NOT_GIVEN]
        for name in names:
            path = Path(folder, name)
            if stat.S_ISREG(mode := path.lstat().st_mode):
                yield path.relative_to(root).as_posix(), stat.S_IMODE(mode)


def _fill(source: Path, target: Path, name: str, mode: int, values: Mapping[str, str | int]) -> None:
    if source.stat().st_size > LARGEST:
        return
    content = beneath.read(source, LARGEST)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    if (said := filled(text, values)) != text:
        beneath.put(target, name, said.encode(), mode | 0o600)
