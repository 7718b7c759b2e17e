"""`orvl doctor`: checks of this machine, the project and the store."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orvl.cli.common import console, open_to_read, open_with_keys_hidden, store_exists, where
from orvl.errors import OrvlError
from orvl.project.names import count
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from orvl.project import Project
    from orvl.types import Agent, Judge

Finding = tuple[str, str]


@click.command()
@where
def command(project: str | None, store: str | None) -> int:
    """Check this machine, the project and the store.

    Exits with status 1 if something is wrong.
    """
    opened, terminal = open_with_keys_hidden(project), console()
    wrong = 0
    for mark, sentence in findings(opened, store):
        wrong += mark == "wrong"
        terminal.print_marked(f"{mark:>7}  ", plain(sentence))
    return 1 if wrong else 0


def findings(project: Project, store: str | None) -> Iterator[Finding]:
    yield from _machine()
    yield from _sandboxes(project)
    yield from _project(project)
    yield from _agents(project, store)
    yield from _store(project, store)


def _machine() -> Iterator[Finding]:
    yield "ok", f"Python {platform.python_version()} at {sys.executable}"
    if not sys.platform.startswith("linux"):
        yield "wrong", f"orvl runs agents on Linux; this is {platform.system()}"
    temporary = Path(tempfile.gettempdir())
    free = shutil.disk_usage(temporary).free / (1 << 30)
    yield ("ok" if free > 1 else "wrong"), f"{free:.1f} GiB free in {temporary}, where runs take place"


def _sandboxes(project: Project) -> Iterator[Finding]:
    """Which sandboxes work here, and why the others do not; only the project's own one can be wrong."""
    from orvl.sandbox.backends import DEFAULT, SANDBOXES, backend

    try:
        settings = project.settings.sandbox
    except OrvlError:
        return
    used = settings.use or DEFAULT
    for kind in SANDBOXES:
        here = " (this project's)" if kind == used else ""
        if kind == "none":
            if kind == used:
                yield "note", "sandbox none (this project's): agents can read and write everything that you can"
            continue
        where, image = backend(kind), settings.image
        needs_image = where.has_own_programs
        problem = where.problem(image) if image or kind == used else where.problem_without_image()
        if problem is None:
            source = f" from {image}" if image else " (needs an image: --image NAME)"
            yield "ok", f"sandbox {kind}{here}{source if needs_image else ''}"
        else:
            yield ("wrong" if kind == used else "missing"), f"sandbox {kind}{here}: {problem}"


def _project(project: Project) -> Iterator[Finding]:
    yield "ok", f"project {project.root}"
    try:
        judges = project.panel()
        yield "ok", f"orvl.toml: {count(len(judges), 'judge')}, penalty {project.settings.penalty:g}"
        if not judges:
            yield "note", "no judges are configured, so judged metrics are not rated"
    except OrvlError as error:
        yield "wrong", str(error)
        return
    yield from _judges(project, judges)
    yield from _files("eval", lambda: project.eval_files, project.eval)
    yield from _files("metric", lambda: project.metric_files, project.metric)
    yield from _files("overlay", lambda: project.overlay_files, project.overlay)


def _files(kind: str, find: Callable[[], Mapping[str, object]], load: Callable[[str], object]) -> Iterator[Finding]:
    """Whether each file of a kind loads; that there are no overlays is not worth a line."""
    try:
        files = find()
    except OrvlError as error:
        yield "wrong", str(error)
        return
    broken = 0
    for name in files:
        try:
            load(name)
        except OrvlError as error:
            broken += 1
            yield "wrong", str(error)
    if files or kind != "overlay":
        yield "ok", f"{count(len(files) - broken, kind)} can be used"


def _judges(project: Project, judges: Sequence[Judge]) -> Iterator[Finding]:
    """Whether each judge can be called, and whether there is a browser."""
    from orvl.capture.browser.find import chromium, trouble
    from orvl.project.endpoints import check_judges

    for judge in judges:
        try:
            check_judges(project.settings, [judge], os.environ)
            yield "ok", f"judge {judge.name}: {judge.model} at {judge.provider}, weight {judge.weight:g}"
        except OrvlError as error:
            yield "missing", str(error)
    why = trouble()
    yield ("missing", f"browser: {why}") if why else ("ok", f"browser {chromium()}")


def _agents(project: Project, store: str | None) -> Iterator[Finding]:
    """The agents that the project uses, and the keys that they lack; those that it could use are counted."""
    from concurrent.futures import ThreadPoolExecutor

    from orvl.plan.versions import version_of

    try:
        names = list(project.agent_files)
        used = _used_agents(project, store)
    except OrvlError as error:
        yield "wrong", str(error)
        return
    found: list[tuple[Agent, str]] = []
    for name in (name for name in names if name in used):
        try:
            agent = project.agent(name)
            found.append((agent, _pinned(agent)))
        except OrvlError as error:
            yield "wrong", str(error)
    agents = [agent for agent, _ in found]
    # Each asks a program for its version, which may take seconds.
    with ThreadPoolExecutor(8) as pool:
        versions = pool.map(lambda agent: version_of(agent) if agent.version else "", agents)
        for (agent, pinned), version in zip(found, versions, strict=True):
            if isinstance(version, str):
                yield "ok", f"agent {agent.name}{': ' if version else ''}{version}{pinned}"
            else:
                yield "missing", f"agent {agent.name} {version.why}{pinned}"
    if others := len(names) - len(used):
        yield "note", f"{count(others, 'built-in agent')} not used here; see: orvl install"
    yield from _keys(project, agents)


def _used_agents(project: Project, url: str | None) -> set[str]:
    """The project's own agents, those that its orvl.toml names, that orvl has installed, and that have runs."""
    from orvl.install import cache

    used = {name for name, file in project.agent_files.items() if file.origin != "built-in"}
    used.update(project.settings.agents, (folder.parent.parent.name for folder in cache().glob("agents/*/*/*.json")))
    with suppress(OrvlError):
        if store_exists(project, url):
            with open_to_read(project, url) as store:
                used.update(cell.agent.partition("+")[0].partition("@")[0] for cell in store.cells())
    return used & set(project.agent_files)


def _keys(project: Project, agents: Sequence[Agent]) -> Iterator[Finding]:
    """The keys that are not set, each with the agents whose runs would be skipped."""
    from orvl.project.endpoints import host_for, without_key

    lacking: dict[tuple[str, str], list[str]] = {}
    for agent in agents:
        for provider, models in agent.models.items():
            with suppress(OrvlError):
                host = host_for(project, agent, provider, next(iter(models.values())), os.environ)
                if host and without_key([host], os.environ):
                    lacking.setdefault((host.provider.key or "", provider), []).append(agent.name)
    for (key, provider), names in sorted(lacking.items()):
        yield "missing", f"key {key} is not set: runs of {', '.join(names)} at {provider} would be skipped"


def _pinned(agent: Agent) -> str:
    """Whether orvl has installed the packages that an agent's file pins; if not, PATH is used."""
    from orvl.cli.install import mebibytes
    from orvl.install import installed, obstacle, serving
    from orvl.install.make import check_pins

    check_pins(agent)
    if not agent.install:
        found = serving(agent.version[0]) if agent.version else None
        return f"; {agent.version[0]} comes from: orvl install {found.agent}" if found else ""
    if found := installed(agent):
        return f"; {', '.join(found.packages)} installed since {found.installed_at[:10]}, {mebibytes(found.size)}"
    packages = ", ".join(package for them in agent.install.values() for package in them)
    why = obstacle(agent) or f"install it with: orvl install {agent.name}"
    return f"; {packages} not installed by orvl: {why}"


def _store(project: Project, url: str | None) -> Iterator[Finding]:
    from orvl.store import ANY_EPISODE

    try:
        if not store_exists(project, url):
            yield "note", "no store yet: nothing has been run"
            return
        with open_to_read(project, url) as store:
            wrong = store.integrity()
            runs = sum(counts.carried_out for counts in store.counts(1, ANY_EPISODE).values())
            yield from (("wrong", f"store {store.folder}: {sentence}") for sentence in wrong)
            if not wrong:
                yield "ok", f"store {store.folder}: intact, {count(runs, 'run')}"
            if not os.access(store.folder, os.W_OK):
                yield "wrong", f"store {store.folder}: not writable"
    except OrvlError as error:
        yield "wrong", str(error)
