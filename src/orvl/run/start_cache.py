"""What an eval's runs start from: made once per content of eval and overlays, kept, copied afresh for each run."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import Interrupted, SetupFailed
from orvl.project.overlays import has_changed, lay
from orvl.run import start_tree as start
from orvl.sandbox.job import hit, shell_job
from orvl.sandbox.registries import registry_access
from orvl.store import tree
from orvl.store.tree import TreeLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from orvl.project.settings import Limits, Settings
    from orvl.sandbox import ProcessResult, Sandbox
    from orvl.sandbox.workdir import RunFolders, WorkDir
    from orvl.store import Batch, Store
    from orvl.types import Eval, Overlay

SAID = 300


@dataclass(frozen=True)
class Start:
    """A prepared folder with `workspace` and `home`, or None where runs begin with nothing; and its manifest."""

    folder: Path | None
    tree: str

    def give(self, folders: RunFolders) -> None:
        """Lays a fresh copy into a run's own folders."""
        if self.folder:
            start.copy(self.folder / "workspace", folders.workspace)
            start.copy(self.folder / "home", folders.home)


@dataclass
class Starts:
    """Prepares what evals start from, each once, however many runs ask for it at the same time."""

    store: Store
    work: WorkDir
    settings: Settings
    image: str | None
    say: Callable[[str], None]
    _made: dict[str, asyncio.Future[Start]] = field(default_factory=dict)

    async def of(self, one: Eval, sandbox: Sandbox, overlays: Sequence[Overlay] = ()) -> Start:
        laid = [overlay for overlay in overlays if overlay.workspace or overlay.home]
        key = key_of(one, sandbox, self.image) + (f"-{_digest(laid)}" if laid else "")
        if key not in self._made:
            made = self._make_with(one, key, sandbox, laid) if laid else self._make(one, key, sandbox)
            self._made[key] = asyncio.ensure_future(made)
        try:
            return await asyncio.shield(self._made[key])
        except SetupFailed:
            raise
        except BaseException:
            self._made.pop(key, None)
            raise

    async def _make(self, one: Eval, key: str, sandbox: Sandbox) -> Start:
        if not one.setup and one.part("workspace") is None:
            return await asyncio.to_thread(self._kept, one, None)
        folder = self.store.folder / "starts" / key
        if not folder.is_dir():
            await self._prepare(one, folder, sandbox)
        return await asyncio.to_thread(self._kept, one, folder)

    async def _make_with(self, one: Eval, key: str, sandbox: Sandbox, overlays: Sequence[Overlay]) -> Start:
        """The eval's own start, with the files of overlays laid over it before the agent sees it."""
        plain = await self.of(one, sandbox)
        folder = self.store.folder / "starts" / key
        if not folder.is_dir():
            fresh = self.work.new()
            try:
                await asyncio.to_thread(plain.give, fresh)
                await asyncio.to_thread(_lay_over, overlays, fresh)
                await asyncio.to_thread(_put, fresh, folder, is_repository=plain.folder is not None)
            finally:
                await asyncio.to_thread(tree.remove, fresh.root)
        return await asyncio.to_thread(self._kept, one, folder)

    async def _prepare(self, one: Eval, folder: Path, sandbox: Sandbox) -> None:
        """Made aside and then put in its place as a whole, so that a start is there entirely or not at all."""
        fresh = self.work.new()
        try:
            if one.setup:
                self.say(f"Setting up {one.name}: once, then every run gets a copy …")
            await asyncio.to_thread(start.lay_out, one.part("workspace"), fresh.workspace)
            for number, command in enumerate(one.setup, 1):
                await self._set_up(one, number, command, fresh, sandbox)
            await asyncio.to_thread(_put, fresh, folder)
        finally:
            await asyncio.to_thread(tree.remove, fresh.root)

    async def _set_up(self, one: Eval, number: int, command: str, fresh: RunFolders, sandbox: Sandbox) -> None:
        limits = self.settings.limits
        ports, reach = registry_access(one, sandbox, self.settings.sandbox.registries)
        env = sandbox.view(fresh).environment() | reach
        job = shell_job(command, env, fresh.logs / f"setup{number}", limits.setup, limits, fresh)
        ended = await sandbox.run(replace(job, ports=ports))
        if ended.cut == "stopped":
            raise Interrupted
        if ended.cut or ended.status:
            why = f"took longer than {limits.setup:g} s (limits.setup)" if ended.cut == "time" else _why(ended, limits)
            raise SetupFailed(f"the setup of {one.name} failed: `{command}` {why}")

    def _kept(self, one: Eval, folder: Path | None) -> Start:
        """The manifest, named by runs only when all of it is on the disk."""
        with self.store.blobs.batch() as batch:
            key = manifest_of(one, batch, folder / "workspace" if folder else None)
        return Start(folder, key)


def key_of(one: Eval, sandbox: Sandbox, image: str | None) -> str:
    """What a setup leaves depends on the eval, and on the programs that its sandbox has."""
    programs = [sandbox.name, image if sandbox.has_own_programs else None] if one.setup else []
    return f"{one.digest[:32]}-{hashlib.sha256(repr(programs).encode()).hexdigest()[:8]}"


def _digest(overlays: Sequence[Overlay]) -> str:
    return hashlib.sha256(repr([overlay.digest for overlay in overlays]).encode()).hexdigest()[:16]


def _lay_over(overlays: Sequence[Overlay], fresh: RunFolders) -> None:
    for overlay in overlays:
        for source, target in ((overlay.workspace, fresh.workspace), (overlay.home, fresh.home)):
            if source:
                lay(source, target)
        # What was laid is kept under the content that the call began with: it must be that.
        if has_changed(overlay):
            raise SetupFailed(f"the overlay {overlay.name} was changed while runs went on; run the command again")


def unused(folder: Path, evals: Iterable[Eval]) -> list[Path]:
    """Prepared folders of evals that are not there any more, or have changed; and those with overlays, quickly made."""
    used = {one.digest[:32] for one in evals}
    found = (folder / "starts").iterdir() if (folder / "starts").is_dir() else ()
    return [path for path in found if path.name.partition("-")[0] not in used or path.name.count("-") > 1]


def _put(fresh: RunFolders, folder: Path, *, is_repository: bool = True) -> None:
    """One commit and no history; then the whole goes to where runs copy it from."""
    fresh.mend()
    if is_repository:
        start.commit(fresh.workspace)
    folder.parent.mkdir(exist_ok=True)
    beside = folder.with_name(f".{folder.name}.{fresh.root.parent.name}")
    tree.remove(beside)
    beside.mkdir()
    for name in ("workspace", "home"):
        shutil.move(getattr(fresh, name), beside / name)
    try:
        beside.rename(folder)
    except OSError:
        tree.remove(beside)
        if not folder.is_dir():
            raise


def _why(ended: ProcessResult, limits: Limits) -> str:
    if ended.cut:
        return hit(ended.cut, limits)
    lines = (ended.stdout.read() + ended.stderr.read()).decode("utf-8", "replace").strip().splitlines()
    said = "; ".join(line.strip() for line in lines[-2:])[-SAID:]
    return f"ended with status {ended.status}: {said}" if said else f"ended with status {ended.status}"


def manifest_of(one: Eval, batch: Batch, prepared: Path | None = None) -> str:
    """The manifest of what an eval's runs start from: the folder prepared for them, else the eval's `workspace/`."""
    start = prepared or one.part("workspace")
    skip = () if prepared else tree.NOT_GIVEN
    unlock = prepared is not None
    entries = tree.scan(start, batch.put_fd, TreeLimits(), unlock=unlock, skip=skip)[0] if start else []
    return batch.put(tree.encode(entries))
