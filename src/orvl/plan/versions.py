"""Which version of each agent is installed, by the agent's own word."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import NotStarted, UserError
from orvl.install import installed, serving
from orvl.project.endpoints import without_key
from orvl.sandbox.version import Completed, NoVersion, printed_version, run_bounded
from orvl.types import Agent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.project import Project
    from orvl.project.endpoints import Endpoint
    from orvl.types import SandboxName

AskVersion = Callable[[Agent], str | NoVersion]


def versions_of(
    agents: Sequence[Agent],
    ask: AskVersion,
    endpoints: Mapping[str, Mapping[tuple[str, str], Endpoint | None]],
    *,
    required: bool,
) -> tuple[dict[str, str], list[str]]:
    """What each agent's `version` command prints, and warnings; an agent that is not installed is skipped, or refused
    where it is `required`."""
    asked = [agent for agent in agents if agent.version or agent.at]
    versions = {agent.name: "" for agent in agents if not (agent.version or agent.at)}
    if not asked:
        return versions, []
    missing: list[str] = []
    warnings: list[str] = []
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        for agent, version in zip(asked, pool.map(partial(_ask, ask), asked), strict=True):
            if isinstance(version, str):
                versions[agent.name] = version
                continue
            sentence = f"The agent {agent.name} {version.why} ({agent.path})."
            if agent.install:
                sentence += f" Install it with: orvl install {agent.name}"
            if required:
                keys = without_key(filter(None, endpoints[agent.name].values()), os.environ)
                raise UserError(" ".join([*keys.values(), sentence]))
            missing.append(agent.name) if agent.origin == "built-in" else warnings.append(sentence)
    if missing:
        warnings.append(f"Skipped, not installed: {', '.join(missing)}. See: orvl install")
    return versions, warnings


def _ask(ask: AskVersion, agent: Agent) -> str | NoVersion:
    """An agent's version. One that was asked for by name has to be the one that is there, whatever is in PATH."""
    here = ask in (version_of, _version_without_walls)
    if agent.at and here and installed(agent) is None:
        return NoVersion(f"is not installed at version {agent.at}")
    version = ask(agent) if agent.version else ""
    if not agent.at or here or isinstance(version, NoVersion):
        return version
    is_it = re.search(rf"(?<![0-9.]){re.escape(agent.at)}(?![\w.+-])", version)
    return version if is_it else NoVersion(f"is not there at version {agent.at}: it says '{version}'")


def version_of(agent: Agent, *, walls: bool = True) -> str | NoVersion:
    """The first line that the version command prints, where the agent's own installation comes before PATH."""
    own = installed(agent) if agent.install else serving(agent.version[0])
    program = own.bin / agent.version[0] if own else None
    argv = (str(program) if program and program.exists() else agent.version[0], *agent.version[1:])
    return _printed_version(argv, agent.paths, walls)


@lru_cache(maxsize=256)
def _printed_version(argv: tuple[str, ...], paths: tuple[Path, ...], walls: bool) -> str | NoVersion:
    return printed_version(argv, partial(_run_inside, paths=paths) if walls else _run_here)


def _run_here(argv: Sequence[str]) -> Completed:
    """Without walls, as the agent itself will run: only where the user has asked for it."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return run_bounded(argv, env=kept)


def _run_inside(argv: Sequence[str], paths: tuple[Path, ...]) -> Completed:
    """In a sandbox, as the agent itself: a program that anybody has put into PATH may do anything when it is called."""
    from orvl.sandbox.backends import DEFAULT, backend
    from orvl.sandbox.bubblewrap import once

    if "/" not in argv[0] and shutil.which(argv[0]) is None:
        raise FileNotFoundError(argv[0])
    if problem := backend(DEFAULT).problem(None):
        raise OSError(problem)
    named = [Path(word) for word in argv[1:] if word.startswith("/") and os.path.exists(word)]
    try:
        return once(argv, [*(path for path in paths if path.exists()), *named])
    except NotStarted as error:
        raise (FileNotFoundError if error.missing else OSError)(str(error)) from error


_version_without_walls = partial(version_of, walls=False)


def asker_for(project: Project, sandbox: SandboxName | None, image: str | None) -> AskVersion:
    """An agent's version is that of its installation where it will run: here, or in a container."""
    kind, image = sandbox or project.settings.sandbox.use, image or project.settings.sandbox.image
    if kind is None:
        return version_of
    from orvl.sandbox.backends import backend

    where = backend(kind)
    if kind == "none":
        return _version_without_walls
    if not where.has_own_programs:
        return version_of
    if problem := where.problem(image):
        raise UserError(problem)
    return partial(where.agent_version, image=image or "")
