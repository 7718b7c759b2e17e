"""Controls that are scripts: what a control leaves may have to be made by running something, in a sandbox.

`controls/NAME/.run`, or `controls/NAME/turn-K/.run` for a turn of its own, is run by the shell, instead of files that
are laid down; the folder that it is in is shown to it at /solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.controls import turns_of

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.types import Eval

SCRIPT = ".run"


def script_folder(eval_: Eval, control: str | None, turn: int) -> Path | None:
    """The folder with the script that makes what a control leaves in a turn; None where there is none."""
    folder = eval_.part(f"controls/{control}") if control else None
    found = turns_of(folder).get(turn) if folder else None
    return found if found and (found / SCRIPT).is_file() else None


def is_scripted(eval_: Eval, control: str | None) -> bool:
    """Whether a control needs a sandbox, because a script of the eval's makes something of it."""
    return any(script_folder(eval_, control, turn) for turn in range(1, len(eval_.prompts) + 1))
