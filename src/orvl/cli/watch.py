"""Carrying a plan out under the eyes of the user: progress, and Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING

from orvl import pipeline
from orvl.engine import Execution
from orvl.engine.steady_loop import run
from orvl.report.live import LiveProgress
from orvl.report.now_file import NowFile
from orvl.report.progress import PlainProgress, Progress

if TYPE_CHECKING:
    from orvl.pipeline import Prepared
    from orvl.plan.options import RunOptions
    from orvl.project import Project
    from orvl.store import Store

SCORED_AT_ONCE = 16
"""Runs; judges are waited for, and no agent needs this machine."""


def watched(
    project: Project, prepared: Prepared, options: RunOptions, store: Store, *, quiet: bool = False
) -> Execution:
    """Does what is left of a plan. Ctrl-C once stops cleanly, twice at once."""
    if not prepared.remaining.todo:
        return Execution()
    live = sys.stderr.isatty() and not os.environ.get("CI")
    shown = Progress if quiet else LiveProgress if live else PlainProgress
    with shown(prepared.remaining.todo, prepared.plan.panels) as progress:
        return run(_until_interrupted(project, prepared, options, store, progress))


async def _until_interrupted(
    project: Project, prepared: Prepared, options: RunOptions, store: Store, progress: Progress
) -> Execution:
    stop = asyncio.Event()

    def interrupt() -> None:
        if stop.is_set():
            progress.leave()
            os._exit(130)
        stop.set()
        progress.say("Stopping: nothing new starts, running turns get a few seconds. Ctrl-C again exits at once.")

    def quit_at_once() -> None:
        progress.leave()
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGQUIT)

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # `nohup` ignores SIGHUP, so that closing the terminal ends nothing.
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            loop.add_signal_handler(number, interrupt)
    loop.add_signal_handler(signal.SIGQUIT, quit_at_once)
    with NowFile(store.folder, progress, options.budget) as on_event:
        return await pipeline.execute(project, prepared, options, store, os.environ, on_event, stop)
