"""What a control that is a script leaves, as files by turn: bad work, bugs and cheats are made of files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from orvl.capture.diff import changes
from orvl.project.controls import DELETED
from orvl.store import beneath, tree
from orvl.trust.vetting.works import Work

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from orvl.capture.diff import FileChange
    from orvl.store.protocol import Blobs
    from orvl.trust.vetting.bench import CheckBench


async def performed(bench: CheckBench, control: Path) -> Path:
    """Runs the scripts of a control, and gives a folder in the form of one that is laid down."""
    folder, blobs, work = bench.place.root / "performed", bench.store.blobs, Work("good", control=control)
    before = tree.entries_of(blobs, await bench.tree_at(work, 0))
    for turn in work.turns:
        after = tree.entries_of(blobs, await bench.tree_at(work, turn))
        await asyncio.to_thread(_write, changes(before, after), folder / f"turn-{turn}", blobs)
        before = after
    return folder


def _write(changed: Iterable[FileChange], folder: Path, blobs: Blobs) -> None:
    """Plain files alone: nothing is derived from links, and a folder without files is no work."""
    folder.mkdir(parents=True)
    gone = []
    for change in changed:
        now, was = change.after, change.before
        if now is not None and now.kind == "file" and now.hash:
            beneath.put(folder, now.path, blobs.get(now.hash, now.size), now.mode)
        elif now is None and was is not None and was.kind == "file" and "\n" not in was.path:
            gone.append(was.path)
    if gone:
        beneath.put(folder, DELETED, "".join(f"{path}\n" for path in gone).encode())
