"""A bare process: no walls, but its limits hold and nothing of it survives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from orvl.sandbox import Backend
from orvl.sandbox.guard_client import GuardClient, Spawn, installed, program_of
from orvl.sandbox.workdir import View

if TYPE_CHECKING:
    from orvl.sandbox import Job
    from orvl.sandbox.config import SandboxConfig
    from orvl.sandbox.workdir import RunFolders


class BareProcess(GuardClient):
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


class BareProcessBackend(Backend):
    """Works everywhere."""

    def problem(self, _image: str | None) -> None:
        return None

    def open(self, _config: SandboxConfig, lock_fd: int | None) -> BareProcess:
        return BareProcess(lock_fd)


def backend(_name: str) -> BareProcessBackend:
    return BareProcessBackend()
