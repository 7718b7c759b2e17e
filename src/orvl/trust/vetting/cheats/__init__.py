"""Cheats that fit any eval: what an agent without the work could leave to look as if it had done it.

Each file here has a function `cheats(scene)` that gives them. Those that take the place of programs are laid on the
untouched workspace; those that lie beside programs on bad work, too.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orvl.trust.vetting.cheats.scene import Cheat, Scene


def generic_cheats(scene: Scene) -> list[Cheat]:
    """All of them, found by listing this folder."""
    found = []
    for module in iter_modules(__path__, f"{__name__}."):
        make = getattr(import_module(module.name), "cheats", None)
        found += list(make(scene)) if make else []
    return found
