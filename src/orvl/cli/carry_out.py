"""What `run` and `score` share: carrying a plan out under the eyes of the user."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from orvl.engine.local import LocalEngine, default_concurrency
from orvl.engine.scoring import Samples
from orvl.errors import FileError
from orvl.gateway import Gateway
from orvl.project import PARTS, line_in
from orvl.project.endpoints import check_judges
from orvl.report.progress import LiveProgress, PlainProgress, Progress
from orvl.sandbox.choose import chosen, is_trusted
from orvl.sandbox.container import sweep
from orvl.sandbox.registries import check_entry
from orvl.sandbox.surroundings import surroundings
from orvl.sandbox.workdir import WorkDir, is_alive

if TYPE_CHECKING:
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import State
    from orvl.plan.selection import Selection
    from orvl.project import Project
    from orvl.sandbox.kinds import Kind
    from orvl.store import Store
    from orvl.trust.race import Race


MOST_FILES = 65_536


def carry_out(
    project: Project,
    plan: Plan,
    state: State,
    store: Store,
    words: Selection,
    *,
    sandbox: Kind | None = None,
    image: str | None = None,
    quiet: bool = False,
    concurrency: int | None = None,
    budget: float | None = None,
    samples: Samples = "missing",
    race: Race | None = None,
) -> LocalEngine:
    """Does what is left of a plan; everything that finishes is in the store before it is shown."""
    todo = [*state.to_score, *state.to_run]
    names = {run.cell.eval.name for run in todo}
    check_judges(project.settings, [judge for name in names for judge in plan.panels[name].judges])
    settings = project.settings.sandbox
    image = image or settings.image
    untrusted = any(not is_trusted(run.cell.agent) for run in state.to_run)
    kind = chosen(sandbox or settings.use, image, untrusted=untrusted)
    live = sys.stderr.isatty() and not os.environ.get("CI")
    shown = Progress if quiet else LiveProgress if live else PlainProgress
    call = store.transaction([lambda s: s.add_call({"words": str(words), "flags": sys.argv[1:]}, plan.seed)])[0]
    _open_many_files()
    work = WorkDir()
    try:
        paths = _readable(project)
        evals = [cell.eval.folder for cell in plan.cells if cell.eval.folder]
        closed = (project.root, store.folder, *(project.root / part for part in PARTS))
        around = surroundings(work.root, closed, evals, paths, image)
        if kind in ("podman", "docker"):
            Thread(target=sweep, args=(kind, is_alive)).start()
        with shown(len(todo), todo) as progress:
            engine = LocalEngine(
                plan=plan,
                state=state,
                store=store,
                work=work,
                settings=project.settings,
                watcher=progress,
                call=call,
                concurrency=concurrency or project.settings.concurrency or default_concurrency(),
                sandbox=kind,
                around=around,
                gateway=Gateway(os.environ, budget),
                samples=samples,
                race=race,
            )
            asyncio.run(_until_interrupted(engine, progress))
    finally:
        work.close()
    return engine


def _open_many_files() -> None:
    """Connections and files of many runs at once need more than the usual bound."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, MOST_FILES)), hard))


def _readable(project: Project) -> list[Path]:
    """What all agents may read; mistakes in orvl.toml's [sandbox] are told before anything runs."""
    settings, file = project.settings.sandbox, project.settings_file
    for entry in settings.registries or ():
        if why := check_entry(entry):
            raise FileError(file, line_in(file, "sandbox", "registries"), f"[sandbox] registries: '{entry}': {why}.")
    paths = [(project.root / Path(path).expanduser()).resolve() for path in settings.paths]
    if gone := next((path for path in paths if not path.exists()), None):
        raise FileError(file, line_in(file, "sandbox", "paths"), f"[sandbox] paths: {gone} is not there.")
    return paths


async def _until_interrupted(engine: LocalEngine, progress: Progress) -> None:
    """Ctrl-C once stops cleanly, twice at once."""

    def interrupt() -> None:
        if engine.stopped:
            os._exit(130)
        engine.stop()
        progress.say("Stopping: nothing new starts; what runs gets a few seconds. Ctrl-C again ends at once.")

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, interrupt)
    await engine.carry_out()
    engine.interrupted = engine.stopped
