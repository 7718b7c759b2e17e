"""What an eval's runs start from: made once per content of eval and overlays, kept, copied afresh for each run."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import Interrupted, SetupFailed, StartDamaged
from orvl.project.overlays import has_changed, lay
from orvl.project.places import SETUP, expanded
from orvl.run import start_tree as start
from orvl.run.start_seal import PARTS, check, check_bounds, is_unsealed, seal, stamp_of, sync_path
from orvl.sandbox.job import hit, shell_job
from orvl.sandbox.places import placed
from orvl.sandbox.registries import registry_access
from orvl.sandbox.workdir import claim, is_alive
from orvl.store import tree
from orvl.store.tree import TreeLimits

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from orvl.project.settings import Limits, Settings
    from orvl.run.start_seal import Stamp
    from orvl.sandbox import ProcessResult, Sandbox
    from orvl.sandbox.workdir import RunFolders, WorkDir
    from orvl.store import Batch, Store
    from orvl.types import Eval, Overlay

SAID = 300
TRIES = 3
"""How often a start that is damaged is made again in a row before its runs are given up."""
HOME_ALONE = ("home",)
ASIDE = ".aside-"
"""Begins the name of what is half made, or about to be deleted, among the starts."""
KEPT = re.compile(r"[0-9a-f]{32}-[0-9a-f-]+|\..+")
"""The names of starts and of what was half made, also by an older orvl. Nothing else is ever deleted."""


@dataclass(frozen=True)
class Start:
    """A prepared folder with `workspace` and `home`, or None where runs begin with nothing; and its manifest."""

    folder: Path | None
    tree: str
    stamp: Stamp = field(default_factory=dict)
    """Of the folder when its bytes were last compared with its seal."""

    def give(self, folders: RunFolders, parts: Sequence[str] = PARTS) -> bool:
        """Lays a fresh copy into a run's own folders; says whether it is a copy of what was sealed."""
        if self.folder is None:
            return True
        try:
            for part in parts:
                start.copy(self.folder / part, getattr(folders, part))
        except OSError:
            if self._is_as_it_was():
                raise
            return False
        return self._is_as_it_was()

    def _is_as_it_was(self) -> bool:
        try:
            return self.folder is not None and stamp_of(self.folder) == self.stamp
        except OSError:
            return False


@dataclass
class Starts:
    """Prepares what evals start from, each once, however many runs ask for it at the same time.

    A start that is kept is compared with its seal before the first run of a command gets it. No agent in a sandbox can
    see it; that nobody else has touched it since is told after each copy, from its stamp.
    """

    store: Store
    work: WorkDir
    settings: Settings
    image: str | None
    say: Callable[[str], None]
    _made: dict[str, asyncio.Future[Start]] = field(default_factory=dict)

    async def give(
        self,
        one: Eval,
        sandbox: Sandbox,
        overlays: Sequence[Overlay],
        folders: RunFolders,
        parts: Sequence[str] = PARTS,
    ) -> Start:
        """Lays what an eval starts from, or some parts of it, into a run's own folders."""
        laid = [overlay for overlay in overlays if overlay.workspace or overlay.home]
        key = key_of(one, sandbox, self.image) + (f"-{_digest(laid)}" if laid else "")
        for _ in range(TRIES):
            found = await self._of(one, key, sandbox, laid)
            if found.folder is None or await asyncio.to_thread(found.give, folders, parts):
                return found
            # Somebody has touched it. If its bytes are still the same, the next try succeeds.
            if key in self._made and self._made[key].done() and self._made[key].result() is found:
                del self._made[key]
            await asyncio.to_thread(_empty, folders, parts)
        raise SetupFailed(f"what {one.name} starts from changes all the time: {self._folder(key)}")

    async def _of(self, one: Eval, key: str, sandbox: Sandbox, overlays: Sequence[Overlay]) -> Start:
        if key not in self._made:
            made = self._make_with(one, key, sandbox, overlays) if overlays else self._make(one, key, sandbox)
            self._made[key] = asyncio.ensure_future(made)
        try:
            return await asyncio.shield(self._made[key])
        except SetupFailed:
            raise
        except BaseException:
            self._made.pop(key, None)
            raise

    async def give_home(self, one: Eval, sandbox: Sandbox, folders: RunFolders) -> None:
        """Lays HOME as an eval's setup left it into a run's own folders."""
        if one.setup:
            await self.give(one, sandbox, (), folders, HOME_ALONE)

    def _folder(self, key: str) -> Path:
        return self.store.folder / "starts" / key

    async def _make(self, one: Eval, key: str, sandbox: Sandbox) -> Start:
        if not one.setup and not one.has_files:
            return await asyncio.to_thread(self._without_files, one)
        return await self._sound(one, key, lambda: self._prepare(one, self._folder(key), sandbox))

    async def _make_with(self, one: Eval, key: str, sandbox: Sandbox, overlays: Sequence[Overlay]) -> Start:
        """The eval's own start, with the files of overlays laid over it before the agent sees it."""

        async def prepare() -> None:
            fresh = self.work.new()
            try:
                plain = await self.give(one, sandbox, (), fresh)
                await asyncio.to_thread(_lay_over, overlays, fresh)
                await asyncio.to_thread(_put, fresh, self._folder(key), is_repository=plain.folder is not None)
            finally:
                await asyncio.to_thread(tree.remove, fresh.root)

        return await self._sound(one, key, prepare)

    async def _sound(self, one: Eval, key: str, prepare: Callable[[], Awaitable[None]]) -> Start:
        """The start that is kept, if it is as it was sealed; else it is made again."""
        folder, wrong = self._folder(key), ""
        for _ in range(TRIES):
            if not os.path.lexists(folder):
                await prepare()
            try:
                return await asyncio.to_thread(self._checked, folder)
            except StartDamaged as damage:
                wrong = str(damage)
            if not is_unsealed(folder):
                self.say(f"What {one.name} starts from was damaged and is made again: {wrong} in {folder}.")
            await asyncio.to_thread(_discard, folder)
        raise SetupFailed(f"what {one.name} starts from is damaged however often it is made: {wrong} in {folder}")

    async def _prepare(self, one: Eval, folder: Path, sandbox: Sandbox) -> None:
        """Made aside and then put in its place as a whole, so that a start is there entirely or not at all."""
        fresh = placed(self.work.new(), one)
        try:
            if one.setup:
                self.say(f"Setting up {one.name}: once, then every run gets a copy …")
            await asyncio.to_thread(_lay_out, one, fresh)
            for number, command in enumerate(one.setup, 1):
                await self._set_up(one, number, command, fresh, sandbox)
            await asyncio.to_thread(_put, fresh, folder)
        finally:
            await asyncio.to_thread(tree.remove, fresh.root)

    async def _set_up(self, one: Eval, number: int, command: str, fresh: RunFolders, sandbox: Sandbox) -> None:
        limits = self.settings.limits
        ports, reach = registry_access(one, sandbox, self.settings.sandbox.registries, for_setup=True)
        env = sandbox.view(fresh).environment() | reach
        env |= expanded(one.env, env)
        job = shell_job(command, env, fresh.logs / f"setup{number}", limits.setup, limits, fresh)
        files = one.part("setup")
        ended = await sandbox.run(replace(job, ports=ports, at={SETUP: files} if files else {}))
        if ended.cut == "stopped":
            raise Interrupted
        if ended.cut or ended.status:
            why = f"took longer than {limits.setup:g} s (limits.setup)" if ended.cut == "time" else _why(ended, limits)
            raise SetupFailed(f"the setup of {one.name} failed: `{command}` {why}")

    def _checked(self, folder: Path) -> Start:
        """The manifest is named by runs only when all of it is on the disk; what is damaged is not stored."""
        with self.store.blobs.batch() as batch:
            entries, stamp = check(folder, batch.put_fd)
            return Start(folder, batch.put(tree.encode(entries)), stamp)

    def _without_files(self, one: Eval) -> Start:
        with self.store.blobs.batch() as batch:
            return Start(None, manifest_of(one, batch))


def key_of(one: Eval, sandbox: Sandbox, image: str | None) -> str:
    """What a setup leaves depends on the eval and its variant, and on the programs that its sandbox has."""
    programs = [sandbox.name, image if sandbox.has_own_programs else None] if one.setup else []
    layers = [digest for _, digest in one.layers]
    made_with = hashlib.sha256(repr([programs, layers] if layers else programs).encode()).hexdigest()
    return f"{one.digest[:32]}-{made_with[: 32 if layers else 8]}"


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


def _lay_out(one: Eval, fresh: RunFolders) -> None:
    source = one.part("workspace")
    start.lay_out(source, fresh.workspace)
    # It is kept under the content that the call began with: it must be that.
    if source is not None and one.workspace_digest and tree.digest(fresh.workspace) != one.workspace_digest:
        raise SetupFailed(f"the workspace of {one.name} was changed while runs went on; run the command again")
    for folder, digest in one.layers:
        lay(folder, fresh.workspace)
        if tree.digest(folder) != digest:
            raise SetupFailed(f"{folder} of {one.name} was changed while runs went on; run the command again")


def unused(folder: Path, evals: Iterable[Eval]) -> list[Path]:
    """Prepared folders of evals that are not there any more, or have changed; and those with overlays, quickly made."""
    used = {one.digest[:32] for one in evals}
    starts = folder / "starts"
    found = starts.iterdir() if starts.is_dir() and not starts.is_symlink() else ()
    return [
        path
        for path in found
        if KEPT.fullmatch(path.name)
        and (path.name.partition("-")[0] not in used or path.name.count("-") > 1)
        and not (path.name.startswith(ASIDE) and is_alive(path))
    ]


def _put(fresh: RunFolders, folder: Path, *, is_repository: bool = True) -> None:
    """One commit and no history; then the whole is sealed, and goes to where runs copy it from."""
    fresh.mend()
    for name in PARTS:
        check_bounds(getattr(fresh, name))
    if is_repository:
        start.commit(fresh.workspace)
    with _aside(folder.parent) as aside:
        for name in PARTS:
            _move(getattr(fresh, name), aside / name)
        seal(aside)
        try:
            aside.rename(folder)
        except OSError:
            # Another command was faster; what it has put there is compared with its seal like any other.
            if not os.path.lexists(folder):
                raise
        # `orvl replay` shares the starts of another store by a link.
        sync_path(folder.parent.resolve())


def _move(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        target.mkdir()
        start.copy(source, target)


def _discard(folder: Path) -> None:
    """It is gone at once, and as a whole, whoever may be copying from it."""
    with _aside(folder.parent) as aside, suppress(FileNotFoundError):
        folder.rename(aside / "damaged")


@contextmanager
def _aside(starts: Path) -> Iterator[Path]:
    """A folder among the starts that is no start; what is left in it is removed, also when this process is killed."""
    starts.mkdir(exist_ok=True)
    folder, lock = claim(starts, ASIDE)
    try:
        yield folder
    finally:
        tree.remove(folder)
        os.close(lock)


def _empty(folders: RunFolders, parts: Sequence[str]) -> None:
    for folder in (getattr(folders, part) for part in parts):
        tree.remove(folder)
        folder.mkdir(mode=0o700)


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
