"""Modules that users' files may import by an earlier name: a project of before goes on working as it is."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

MOVED: dict[str, tuple[str, dict[str, str]]] = {
    "orvl.reading": ("orvl.run.agent_output", {"told": "turn_report"}),
    "orvl.similarity": ("orvl.score.similarity", {}),
}
"""The module's present name, and the present names of functions that were called otherwise."""


def provide(name: str | None) -> bool:
    """Makes a module available by its earlier name; False if it has none, or has it already."""
    if name not in MOVED or name in sys.modules:
        return False
    target, renamed = MOVED[name]
    now = vars(import_module(target))
    module = ModuleType(name)
    vars(module).update(now, **{old: now[new] for old, new in renamed.items()})
    sys.modules[name] = module
    return True
