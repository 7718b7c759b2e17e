"""A bare process: no walls, but its limits hold and nothing of it survives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orvl.sandbox.client import KeeperClient, Spawn, installed, program_of
from orvl.sandbox.workdir import View

if TYPE_CHECKING:
    from orvl.sandbox import Job
    from orvl.sandbox.workdir import RunFolders


class BareProcess(KeeperClient):
    """Sees and reaches what the user can."""

    has_walls = False

    def __init__(self, lock_fd: int | None = None, name: str = "none") -> None:
        super().__init__(lock_fd)
        self.name = name

    def view(self, folders: RunFolders) -> View:
        return View(folders.workspace, folders.home, folders.tmp, os.environ.get("PATH"))

    def spawn(self, job: Job) -> Spawn:
        for name in job.programs:
            installed(name, job.env.get("PATH"))
        return Spawn(program_of(job), list(job.argv), dict(job.env))
