"""Runs the eval's checks on what the agent left, after every process of the agent has ended."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.errors import Interrupted
from orvl.sandbox.job import hit, shell_job
from orvl.store import tree
from orvl.types import CheckResult

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from orvl.project.settings import Limits
    from orvl.sandbox import ProcessResult, Sandbox
    from orvl.sandbox.workdir import RunFolders
    from orvl.types import Check, Eval

SHOWN = 4000


def lay_out(eval_: Eval, workspace: Path, folders: RunFolders) -> None:
    """Moves what the agent left into fresh folders and adds the hidden `checks/`."""
    folders.workspace.rmdir()
    workspace.rename(folders.workspace)
    _lay_hidden(eval_, folders)


def lay_out_again(eval_: Eval, entries: Sequence[tree.Entry], blobs_write: tree.Writer, folders: RunFolders) -> None:
    """The same for a stored capture."""
    tree.restore(entries, folders.workspace, blobs_write)
    _lay_hidden(eval_, folders)


def _lay_hidden(eval_: Eval, folders: RunFolders) -> None:
    hidden = eval_.part("checks")
    if hidden is None:
        return
    place = folders.workspace / "checks"
    folders.workspace.chmod(0o700)
    if place.is_symlink() or place.is_file():
        place.unlink()
    tree.remove(place)
    shutil.copytree(hidden, place, symlinks=True)


async def run_checks(eval_: Eval, folders: RunFolders, sandbox: Sandbox, limits: Limits) -> tuple[CheckResult, ...]:
    """Runs the checks one by one, in the eval's order."""
    results = []
    view = sandbox.view(folders)
    for number, check in enumerate(eval_.checks, 1):
        env = view.environment() | {"CHECKS": str(view.workspace / "checks")}
        job = shell_job(check.run, env, folders.logs / f"check{number}", check.limit, limits, folders)
        ended = await sandbox.run(replace(job, adds_only=True))
        if ended.cut == "stopped":
            raise Interrupted
        results.append(_result(check, ended, limits))
    return tuple(results)


def _result(check: Check, ended: ProcessResult, limits: Limits) -> CheckResult:
    printed = (ended.stdout.read() + ended.stderr.read()).decode("utf-8", "replace")
    cut = f"passed its limit of {check.limit:g} s" if ended.cut == "time" else None
    if ended.cut and not cut:
        cut = hit(ended.cut, limits)
    return CheckResult(
        name=check.name,
        passed=ended.status == 0 and cut is None,
        status=ended.status,
        seconds=ended.seconds,
        output=printed if len(printed) <= SHOWN else "…" + printed[-SHOWN:],
        weight=check.weight,
        cut=cut,
    )
