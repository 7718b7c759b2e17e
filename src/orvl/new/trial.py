"""Runs a repository's tests on its own states, in the sandbox in which they will be an eval's checks."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from orvl.errors import Interrupted, NotStarted, SetupFailed, UserError
from orvl.run import start_tree
from orvl.run.start_cache import Starts
from orvl.sandbox.backends import Slot, chosen
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.job import hit, shell_job
from orvl.sandbox.workdir import WorkDir
from orvl.store import open_store
from orvl.store.beneath import read

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator

    from orvl.project import Project
    from orvl.sandbox import ProcessResult, Sandbox
    from orvl.sandbox.workdir import RunFolders
    from orvl.types import Eval

T = TypeVar("T")
PROGRAM = "run_tests.py"
CHECKS = "checks"
REPORT, LONGEST_REPORT = "report.json", 64 << 20
AT_ONCE = min(2, os.cpu_count() or 1)
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n    sum(range(100_000))\n"


@dataclass(frozen=True)
class TestReport:
    """What tests reported of one state; `results` is None where only the exit status is known."""

    __test__ = False
    results: dict[str, str] | None
    status: int
    output: str
    seconds: float
    cut: str | None = None

    @property
    def passed(self) -> frozenset[str]:
        if self.results is None:
            return frozenset([WHOLE_SUITE] if self.status == 0 and self.cut is None else [])
        return frozenset(name for name, outcome in self.results.items() if outcome == "passed")

    @property
    def reported(self) -> frozenset[str]:
        return frozenset([WHOLE_SUITE] if self.results is None else self.results)

    @property
    def last_words(self) -> str:
        """Why no test passed, as far as the end of the output says it."""
        if self.cut:
            return self.cut
        lines = [line.strip(" =-_") for line in self.output.splitlines()]
        said = [line for line in lines if line][-3:]
        return "; ".join(said) or f"it ended with status {self.status} and printed nothing"


WHOLE_SUITE = "the tests"
"""The one thing that is known to pass where only the exit status counts."""


@dataclass
class Trial:
    """Folders and sandboxes in which tests are tried."""

    project: Project
    work: WorkDir
    store: Path
    say: Callable[[str], None]
    slots: asyncio.Queue[Slot]
    """Those in which nothing runs."""

    async def start(self, eval_: Eval, folder: Path) -> None:
        """Lays out what a run of the eval gets, its setup included."""
        folders = self.work.new()
        with open_store(str(self.store), write=True) as store:
            starts = Starts(store, self.work, self.project.settings, self.project.settings.sandbox.image, self.say)
            try:
                async with self._sandbox() as sandbox:
                    await starts.give(eval_, sandbox, (), folders)
            except SetupFailed as error:
                raise UserError(f"The tests cannot be run: {error}.") from error
        folders.workspace.rename(folder)
        await asyncio.to_thread(folders.remove)

    async def report(self, state: Path, checks: Path, name: str, seconds: float) -> TestReport:
        """What the tests of a check report on a state, which stays as it is."""
        command = f'python3 {CHECKS}/{PROGRAM} --report "$TMPDIR/{REPORT}" {name}'
        async with self._ran(command, state, checks, seconds) as (ended, folders):
            limits = self.project.settings.limits
            cut = f"it took longer than {seconds:g} s" if ended.cut == "time" else ended.cut and hit(ended.cut, limits)
            return _read(folders.tmp / REPORT, ended, cut)

    async def passes(self, state: Path, checks: Path, name: str, seconds: float) -> bool:
        """Whether a check passes on a state, run as an eval runs it."""
        async with self._ran(f"python3 {CHECKS}/{PROGRAM} {name}", state, checks, seconds) as (ended, _):
            return ended.status == 0 and ended.cut is None

    @asynccontextmanager
    async def _ran(
        self, command: str, state: Path, checks: Path, seconds: float
    ) -> AsyncIterator[tuple[ProcessResult, RunFolders]]:
        """How a command ended on a copy of a state, and the folders that it left."""
        folders = self.work.new()
        try:
            async with self._sandbox() as sandbox:
                await asyncio.to_thread(_lay_out, state, checks, folders.workspace, is_shown=sandbox.has_walls)
                ended = await self._run(command, folders, checks, seconds, sandbox)
            yield ended, folders
        finally:
            await asyncio.to_thread(folders.remove)

    @asynccontextmanager
    async def _sandbox(self) -> AsyncIterator[Sandbox]:
        slot = await self.slots.get()
        try:
            yield slot.walled
        finally:
            self.slots.put_nowait(slot)

    async def _run(
        self, command: str, folders: RunFolders, checks: Path, seconds: float, sandbox: Sandbox
    ) -> ProcessResult:
        limits = self.project.settings.limits
        job = shell_job(command, sandbox.view(folders).environment(), folders.logs / "out", seconds, limits, folders)
        shown = {CHECKS: checks} if sandbox.has_walls else {}
        try:
            ended = await sandbox.run(replace(job, adds_only=True, read_only=shown))
        except NotStarted as error:
            raise UserError(f"Tests cannot be run in the sandbox: {error}.") from error
        if ended.cut == "stopped":
            raise Interrupted
        return ended


def _lay_out(state: Path, checks: Path, workspace: Path, *, is_shown: bool) -> None:
    """A copy of a state; the hidden files are in it where no walls can show them."""
    start_tree.copy(state, workspace)
    if not is_shown:
        (workspace / CHECKS).mkdir()
        start_tree.copy(checks, workspace / CHECKS)


def _read(report: Path, ended: ProcessResult, cut: str | None) -> TestReport:
    """What was reported; whoever wrote the tests may have written that, too."""
    try:
        body = json.loads(read(report, LONGEST_REPORT))
        results = None if body["results"] is None else {str(key): str(value) for key, value in body["results"].items()}
        status, output = int(body["status"]), str(body["output"])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        status = -1 if ended.status is None else ended.status
        said = (ended.stdout.read() + ended.stderr.read()).decode("utf-8", "replace")
        return TestReport({}, status, said, ended.seconds, cut)
    return TestReport(results, status, output, ended.seconds, cut)


@asynccontextmanager
async def trial(project: Project, hidden: Path, say: Callable[[str], None]) -> AsyncIterator[Trial]:
    """A place to try tests in; nothing of it is left. `hidden` is what no test may see."""
    settings = project.settings.sandbox
    name = chosen(settings.use, settings.image, untrusted=True)
    work = await asyncio.to_thread(WorkDir)
    try:
        paths = [(project.root / Path(path).expanduser()).resolve() for path in settings.paths]
        closed = [project.root / "evals", project.root / ".orvl"]
        config = sandbox_config(work.root, closed, [hidden], paths, settings.image)
        slots = [Slot(name, config, work.lock_fd) for _ in range(AT_ONCE)]
        free: asyncio.Queue[Slot] = asyncio.Queue()
        for slot in slots:
            free.put_nowait(slot)
        try:
            yield Trial(project, work, work.root / "store", say, free)
        finally:
            for slot in slots:
                await slot.close()
    finally:
        await asyncio.to_thread(work.close)


async def all_of(waiting: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What several give, at the same time; where one fails, the others are over, too."""
    tasks = [asyncio.ensure_future(one) for one in waiting]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@contextmanager
def busy_machine() -> Iterator[None]:
    """Keeps all processors busy; what does so ends with this process, however that ends."""
    words = [sys.executable, "-S", "-E", "-c", BUSY, str(os.getpid())]
    processes = [subprocess.Popen(words, stdin=subprocess.DEVNULL) for _ in range(os.cpu_count() or 1)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()
