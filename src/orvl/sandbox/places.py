"""A run's folders at the absolute paths that its eval wants."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.project.places import kept_at

if TYPE_CHECKING:
    from orvl.sandbox import Sandbox
    from orvl.sandbox.workdir import RunFolders
    from orvl.types import Eval


def placed(folders: RunFolders, eval_: Eval) -> RunFolders:
    """The same folders, with where a sandbox shows them."""
    if not (eval_.workdir or eval_.places):
        return folders
    shown = {Path(place): folders.workspace / kept_at(place) for place in eval_.places}
    return replace(folders, inside=Path(eval_.workdir) if eval_.workdir else None, shown=shown)


def missing_walls(eval_: Eval, sandbox: Sandbox) -> str | None:
    """Why an eval cannot be run in a sandbox; None if it can."""
    wanted = [path for path in (eval_.workdir, *eval_.places) if path]
    if any(check.verifier for check in eval_.checks):
        wanted.append("/tests")
    if not wanted or sandbox.has_walls:
        return None
    return f"{eval_.name} needs {', '.join(wanted)}, which only a sandbox has; run it without --sandbox none"
