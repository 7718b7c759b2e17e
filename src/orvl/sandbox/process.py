"""A bare process: no walls, but its limits hold and nothing of it survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.sandbox import Backend
from orvl.sandbox.guard_client import GuardClient, Spawn, beside_orvl, found_for, program_of
from orvl.sandbox.programs import inner_path
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
        return View(folders.workspace, folders.home, folders.tmp, inner_path())

    def spawn(self, job: Job) -> Spawn:
        for name in job.programs:
            found_for(job, name)
        env = {**job.env, "PATH": job.env.get("PATH", "") + beside_orvl(job)} if "PATH" in job.env else dict(job.env)
        return Spawn(program_of(job), list(job.argv), env)


class BareProcessBackend(Backend):
    """Works everywhere."""

    def problem(self, _image: str | None) -> None:
        return None

    def open(self, _config: SandboxConfig, lock_fd: int | None) -> BareProcess:
        return BareProcess(lock_fd)


def backend(_name: str) -> BareProcessBackend:
    return BareProcessBackend()
