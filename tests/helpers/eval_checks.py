"""An eval's checks on folders as agents would leave them, each in the real sandboxes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from orvl.capture.checks import Checker
from orvl.project.settings import Limits
from orvl.sandbox.backends import Slot
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.workdir import WorkDir
from orvl.trust.vetting.episodes import in_episode
from orvl.types import CheckResult, Eval, SandboxName

AT_ONCE = 2


def checked(
    eval_: Eval,
    folders: Sequence[Path],
    only: Sequence[Sequence[str]] | None = None,
    sandbox: SandboxName = "bubblewrap",
    turn: int = 0,
) -> list[dict[str, CheckResult]]:
    """For each folder the results by the names of the checks; `only` has the names that matter for each folder.

    The folders are what was left after a turn, or at the end (0).
    """
    eval_ = in_episode(eval_, 1)
    todo = list(zip(folders, only or [[check.name for check in eval_.checks]] * len(folders), strict=True))
    return asyncio.run(_all(eval_, todo, sandbox, turn))


async def _all(
    eval_: Eval, todo: Sequence[tuple[Path, Sequence[str]]], sandbox: SandboxName, turn: int
) -> list[dict[str, CheckResult]]:
    with closing(WorkDir()) as work:
        hidden = [eval_.folder] if eval_.folder else []
        config = sandbox_config(work.root, [], hidden)
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(folder: Path, names: Sequence[str]) -> dict[str, CheckResult]:
            async with turns:
                slot = Slot(sandbox, config, work.lock_fd)
                try:
                    wanted = tuple(check for check in eval_.checks if check.name in names)
                    checker = Checker(replace(eval_, checks=wanted), slot, work, Limits(), _copier(folder))
                    return {result.name: result for result in await checker.results(turn)}
                finally:
                    await slot.close()

        return await asyncio.gather(*(one(*job) for job in todo))


def _copier(folder: Path) -> Callable[[Path], None]:
    def lay_out(workspace: Path) -> None:
        shutil.copytree(folder, workspace, symlinks=True, dirs_exist_ok=True)

    return lay_out
