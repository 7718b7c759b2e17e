"""Whether the programs that an eval's checks call are there. If not, it is the eval's mistake, or this machine's, and
the agent loses nothing by it."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orvl.project.check_commands import program_called
from orvl.sandbox.job import shell_job

if TYPE_CHECKING:
    from orvl.project.settings import Limits
    from orvl.sandbox import Job, Sandbox
    from orvl.sandbox.workdir import WorkDir
    from orvl.types import Eval

SAY_PYTHON = "python3 -I -S -c 'import sys; print(sys.executable)'"
SUBJECT = "subject"
"""The command that isolated checks are given."""


@dataclass
class CheckPrograms:
    """Looks for programs where checks are run, each once."""

    work: WorkDir
    limits: Limits
    _is_there: dict[str, bool] = field(default_factory=dict)

    async def missing(self, eval_: Eval, sandbox: Sandbox) -> str | None:
        """Why an eval's checks cannot be run: a sentence on the first program that is missing."""
        for check in eval_.checks:
            name = program_called(check.run)
            if name is None or (check.isolated and name == SUBJECT):
                continue
            if name not in self._is_there:
                self._is_there[name] = await self._look(name, sandbox)
            if not self._is_there[name]:
                where = "in the sandbox's image" if sandbox.has_own_programs else "on this machine"
                return f"the check {check.name} of {eval_.name} calls '{name}', which is not {where}"
        return None

    async def _look(self, name: str, sandbox: Sandbox) -> bool:
        folders = self.work.place()
        view = sandbox.view(folders)
        if not sandbox.has_own_programs:
            return shutil.which(name, path=view.path) is not None
        try:
            await asyncio.to_thread(folders.make)
            question = f"command -v {shlex.quote(name)}"
            job = shell_job(question, view.environment(), folders.logs / "look", 60, self.limits, folders)
            return (await sandbox.run(job)).status == 0
        finally:
            await asyncio.to_thread(folders.remove)


_behind_shims: dict[tuple[tuple[str, str], ...], str] = {}


async def python_behind_shim(sandbox: Sandbox, job: Job) -> str | None:
    """The Python that a version manager starts as `python3` for such a job, where it has a script for that; None where
    `python3` is a Python itself. To find that out takes longer than many a check: it is asked once."""
    if sandbox.has_own_programs or not _is_script(shutil.which("python3", path=job.env.get("PATH"))):
        return None
    key = tuple(sorted(job.env.items()))
    if key not in _behind_shims:
        asks = replace(job, argv=["/bin/sh", "-c", SAY_PYTHON], output=job.output.with_name("python"))
        ended = await sandbox.run(asks)
        said = ended.stdout.read().decode("utf-8", "replace").strip()
        if ended.status != 0 or not said.startswith("/") or not os.access(said, os.X_OK):
            return None
        _behind_shims[key] = said
    return _behind_shims[key]


def _is_script(path: str | None) -> bool:
    if path is None:
        return False
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
