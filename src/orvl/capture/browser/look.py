"""One look at an app: Chromium and a page go into a sandbox together, and what they report comes out.

An app with a command of its own has another sandbox, where there are walls and ways between them (`app.py`).
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.capture.browser import find
from orvl.capture.browser.app import PORT, RunningApp, running_app
from orvl.capture.browser.gather import NOT_TRIED, Bounds, gathered
from orvl.capture.browser.result import Look, StepResult
from orvl.errors import Interrupted, NotStarted
from orvl.project.app import check_app, check_steps
from orvl.sandbox import Job
from orvl.sandbox.job import resource_limits
from orvl.store import tree
from orvl.types import MEBI

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from orvl.project.settings import Limits
    from orvl.sandbox import Sandbox
    from orvl.sandbox.backends import Slot
    from orvl.sandbox.workdir import RunFolders, View

INSIDE = Path(__file__).parent / "inside"
OUTPUT, KEPT = 64 * MEBI, 48 * MEBI
CONFIG = "what-to-look-at.json"
SHARE_FOR_START = 0.6
TO_START = 10.0
"""Additional seconds for Python and the sandbox to start."""


async def look(
    app: Mapping[str, str],
    steps: Sequence[str],
    *,
    folders: RunFolders,
    sandbox: Sandbox,
    limits: Limits,
    pictures: Path,
    seconds: float = 60.0,
    memory: int = 3072,
    blank: str | None = None,
    views: bool = True,
    served: RunningApp | None = None,
    patience: float = 1.0,
) -> Look:
    """Starts the app in the workspace and looks at it; pictures go into a folder of orvl's.

    Without `views` there are no pictures, only the steps up to the first one that fails. With `patience`, whatever the
    browser waits for may take so many times as long.
    Whatever the page does, there is a Look within the seconds, and nothing of the app or the browser is alive after it.
    """
    check_app(app)
    todo = check_steps(steps)
    view = sandbox.view(folders)
    in_image = view.path is None
    if not in_image and (why := find.trouble()) is not None:
        return Look("unavailable", why)
    config = {
        "app": {"port": str(PORT), "path": app.get("path", "/")} if served else dict(app),
        "steps": [vars(step) for step in todo],
        "chromium": None if in_image else find.chromium(),
        "walls": sandbox.has_walls,
        "seconds": seconds,
        "patience": patience,
        "blank": blank,
        "views": views,
        "secret": f"look-{secrets.token_hex(8)}",
        "key": secrets.token_hex(32),
    }
    job = await asyncio.to_thread(_job, config, folders, view, limits, memory)
    began = time.monotonic()
    if served:
        job = replace(job, ports={PORT: served.serve})
    try:
        ended = await sandbox.run(job)
    except NotStarted as none:
        return Look("unavailable", f"The browser's driver could not be started: {none}.")
    if ended.cut == "stopped":
        raise Interrupted
    took = round(time.monotonic() - began, 3)
    bounds = Bounds(str(config["key"]), seconds, memory)
    return await asyncio.to_thread(gathered, ended, todo, pictures, took, bounds)


async def look_at(
    app: Mapping[str, str],
    steps: Sequence[str],
    lay_out: Callable[[Path], None],
    new_folders: Callable[[], RunFolders],
    slot: Slot,
    limits: Limits,
    seconds: float | None = None,
    views: bool = True,
    patience: float = 1.0,
) -> tuple[Look, dict[str, bytes]]:
    """Looks at an app on a fresh copy of what a run left, which `lay_out` makes in an empty folder; and pictures."""
    folders, own = new_folders(), new_folders()
    pictures = own.root / "pictures"
    most = min(seconds or limits.look, limits.look) * patience
    try:
        await asyncio.to_thread(lay_out, folders.workspace)
        pictures.mkdir()
        see = partial(look, app, steps, sandbox=slot.browser, limits=limits, pictures=pictures)
        see = partial(see, blank=r"\S", views=views, patience=patience)
        if not slot.separates_apps or "start" not in app:
            page = await see(folders=folders, seconds=most)
        else:
            page = await _apart(app, steps, folders, slot, limits, most, partial(see, folders=own))
        return page, {shot.file: Path(pictures, shot.file).read_bytes() for shot in page.shots}
    finally:
        for used in (folders, own):
            await asyncio.to_thread(tree.remove, used.root)


async def _apart(
    app: Mapping[str, str],
    steps: Sequence[str],
    folders: RunFolders,
    slot: Slot,
    limits: Limits,
    seconds: float,
    see: Callable[..., Awaitable[Look]],
) -> Look:
    """The app in one sandbox, the browser in another."""
    if slot.browser.view(folders).path is not None and (why := find.trouble()) is not None:
        return Look("unavailable", why)
    began = time.monotonic()
    whole, to_start = seconds + 2 * TO_START, seconds * SHARE_FOR_START
    async with running_app(app["start"], folders, slot.subject, limits, whole, to_start) as served:
        if not served.start.started:
            untried = [StepResult(number, step, None, NOT_TRIED) for number, step in enumerate(steps, 1)]
            took = round(time.monotonic() - began, 3)
            return Look("no app", served.start.reason, seconds=took, app=served.start, steps=tuple(untried))
        page = await see(served=served, seconds=max(1.0, seconds - (time.monotonic() - began)))
        await served.end()
    return page if page.status == "unavailable" else replace(page, app=served.start)


def _job(config: Mapping[str, Any], folders: RunFolders, view: View, limits: Limits, memory: int) -> Job:
    """The driver is copied next to the run's folders, because no sandbox shows orvl's own files.

    It deletes its configuration before it starts the app, which would find the key and the steps there.
    """
    driver = folders.root / "driver"
    shutil.copytree(INSIDE, driver / "inside", ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    (folders.tmp / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    in_image = view.path is None
    packages = () if in_image else find.packages()
    roots = dict.fromkeys(str(path) for path in (driver, *(package.parent for package in packages)))
    most = resource_limits(limits)
    return Job(
        argv=["python3" if in_image else sys.executable, "-P", "-s", "-B", "-m", "inside", str(view.tmp / CONFIG)],
        env=view.environment() | {"PYTHONPATH": os.pathsep.join(roots), "PLAYWRIGHT_BROWSERS_PATH": "0"},
        folders=folders,
        output=folders.logs / "look",
        seconds=config["seconds"] + TO_START,
        grace=min(limits.grace, 2.0),
        output_bytes=OUTPUT,
        kept_bytes=KEPT,
        limits=type(most)(**{**vars(most), "memory": memory * MEBI}),
        readable=(driver, *packages),
        programs=(config["chromium"],) if config["chromium"] else (),
        adds_only=True,
    )
