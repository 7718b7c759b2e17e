"""Writes states of the server as files that a control can lay down.

`server/shop.git` is then a file that says where the repository of the variant is: text, in which the drawn name is
filled in. All variants are beside it, each with one pack that has the objects of all turns and of all planted bugs, and
with a file for each ref, so that a turn or a bug is a change of text.
"""

import shutil
from pathlib import Path

from bugs import Wrong
from objects import Commit, Objects, Tag
from states import Refs

POINTER = "gitdir: made/{{colleague}}\n"
MADE = "server/made"


def write_states(control: Path, variant: str, objects: Objects, turns: list[Refs], more: list[Commit | Tag] = ()) -> None:
    """The turns of a control for one variant; `more` are objects that bugs lead to."""
    before: Refs = {}
    for turn, refs in enumerate(turns, 1):
        folder = control / f"turn-{turn}" if len(turns) > 1 else control
        place = folder / MADE / variant
        folder.mkdir(parents=True, exist_ok=True)
        if turn == 1:
            targets = [target for state in turns for target in state.values()]
            objects.pack(sorted({target.id for target in [*targets, *more]}), place)
            for empty in sorted(path for path in place.rglob("*") if path.is_dir() and not any(path.iterdir())):
                empty.rmdir()
            (folder / "server/shop.git").write_text(POINTER)
        for ref, target in refs.items():
            if ref not in before or before[ref].id != target.id:
                (place / ref).parent.mkdir(parents=True, exist_ok=True)
                (place / ref).write_text(f"{target.id}\n")
        if gone := [ref for ref in before if ref not in refs]:
            with (folder / ".delete").open("a") as file:
                file.writelines(f"{MADE}/{variant}/{ref}\n" for ref in gone)
        before = refs


def clear(control: Path) -> None:
    """Takes away what was made before, and leaves what was written by hand."""
    for folder in (control, *control.glob("turn-*")):
        shutil.rmtree(folder / "server", ignore_errors=True)
        (folder / ".delete").unlink(missing_ok=True)


def patch(variant: str, refs: Refs, wrong: Wrong) -> str:
    """A bug as a change of the files of refs."""
    parts = []
    for ref, target in wrong.items():
        path = f"{MADE}/{variant}/{ref}"
        before, after = refs.get(ref), target
        parts.append(f"--- {f'a/{path}' if before else '/dev/null'}\n+++ {f'b/{path}' if after else '/dev/null'}\n")
        parts.append(f"@@ -{int(bool(before))}{'' if before else ',0'} +{int(bool(after))}{'' if after else ',0'} @@\n")
        parts.append((f"-{before.id}\n" if before else "") + (f"+{after.id}\n" if after else ""))
    return "".join(parts)
