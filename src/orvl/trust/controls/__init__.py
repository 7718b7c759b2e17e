"""The controls: work of known quality by which judges are judged. One file each, found by listing this folder."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from orvl.errors import ControlUnavailable, UserError
from orvl.project.controls import DELETED, has_turns
from orvl.project.overlays import lay
from orvl.store.beneath import put
from orvl.trust.controls.control import FIXED, FROM_BAD, Control, ControlFiles
from orvl.trust.mutate.source import ControlSource

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from orvl.trust.mutate.source import FolderFiles
    from orvl.types import Eval


def _listed() -> Iterator[Control]:
    for module in iter_modules(__path__, f"{__name__}."):
        yield from getattr(import_module(module.name), "CONTROLS", ())


CONTROLS = {control.name: control for control in sorted(_listed(), key=lambda control: int(control.id[1:]))}
"""By name, in the order of the ladder: C0, C1, …"""
GATE = tuple(name for name, control in CONTROLS.items() if control.is_in_gate)
"""The controls that T1 to T5 need."""


def make_controls(
    eval_: Eval, names: Collection[str] | None = None, source: ControlSource | None = None
) -> tuple[dict[str, ControlFiles], dict[str, str]]:
    """The controls of an eval, and for each that it cannot have a sentence that says what to add."""
    if unknown := sorted(set(names or ()) - set(CONTROLS)):
        raise UserError(f"There is no control '{unknown[0]}'; the controls are {', '.join(CONTROLS)}.")
    source = source or ControlSource(eval_)
    made: dict[str, ControlFiles] = {}
    lacking: dict[str, str] = {}
    for name, control in CONTROLS.items():
        if names is None or name in names:
            try:
                made[name] = _files(control, source)
            except ControlUnavailable as error:
                lacking[name] = f"{error}"
    return made, lacking


def _files(control: Control, source: ControlSource) -> ControlFiles:
    """A folder that a user wrote always wins over what would be derived."""
    written = source.by_hand(control.name)
    if written is not None:
        origin = f"by hand: controls/{control.name}"
        folder = source.folder_of(control.name)
        by_turn = folder if folder and has_turns(folder) else None
        return ControlFiles(
            control.name, written.files, origin, control.by_hand, written.executable, written.deleted, by_turn
        )
    files, origin, detail = control.make(source)
    if origin == FIXED:
        return ControlFiles(control.name, files, origin, detail)
    base = _base(source, origin)
    return ControlFiles(
        control.name, files, origin, detail, base.executable & files.keys(), base.deleted - files.keys()
    )


def _base(source: ControlSource, origin: str) -> FolderFiles:
    """What a derived control was made from."""
    bad = source.by_hand("bad") if origin == FROM_BAD else None
    return bad or source.good


def write(control: ControlFiles, folder: Path) -> None:
    """Puts a control into an empty folder, in the form in which a user would write it."""
    folder.mkdir(parents=True, exist_ok=True)
    if control.by_turn is not None:
        lay(control.by_turn, folder)
        return
    if control.deleted:
        folder = folder / "turn-1"
        folder.mkdir()
        put(folder, DELETED, "".join(f"{path}\n" for path in sorted(control.deleted)).encode())
    for path, content in control.files.items():
        put(folder, path, content, 0o755 if path in control.executable else 0o644)
