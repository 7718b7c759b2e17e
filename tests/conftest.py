"""A project to write files into, and the real command line to run on it."""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from helpers.user_project import UserProject


def pytest_configure() -> None:
    """A shell ignores SIGINT for what it starts in the background; tests that interrupt orvl need it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["PATH"] = without_launchers(os.environ["PATH"])


def without_launchers(search: str) -> str:
    """A PATH without version managers' launchers, where Python is elsewhere too: as a launcher, which is a shell script,
    it takes ten times as long to start, and checks start it often."""
    plain = os.pathsep.join(folder for folder in search.split(os.pathsep) if Path(folder).name != "shims")
    return plain if shutil.which("python3", path=plain) else search


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Skips what needs root for an ordinary user. Tests that share a fixture which their file lists in MADE_ONCE run on
    one worker, so that it is not made for each worker again."""
    for item in items:
        if os.geteuid() and item.get_closest_marker("root"):
            item.add_marker(pytest.mark.skip(reason="needs root"))
        shared = [name for name in getattr(item.module, "MADE_ONCE", ()) if name in item.fixturenames]
        if shared:
            given = item.callspec.params if hasattr(item, "callspec") else {}
            names = [f"{name} {given[name]}" if name in given else name for name in shared]
            # xdist takes a group for one only if there is no bracket in its name.
            group = re.sub(r"[^\w.]+", "-", " ".join([item.path.name, *names]))
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(autouse=True)
def no_keys_and_no_agents_of_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What this machine's user has set and installed does not matter."""
    monkeypatch.setenv("ORVL_CACHE", str(tmp_path / "no-cache"))
    for name in list(os.environ):
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)


@pytest.fixture
def project(tmp_path: Path, request: pytest.FixtureRequest) -> UserProject:
    """An empty project: only the built-in agents, evals and scores are there. Files whose agents leave marks outside
    their workspace say SANDBOX = "none"; files that ask what only a new process can show say PROCESS = True."""
    made = UserProject(tmp_path / "project")
    made.sandbox = getattr(request.module, "SANDBOX", None)
    made.process = getattr(request.module, "PROCESS", False)
    return made


@pytest.fixture
def small(project: UserProject) -> UserProject:
    """A project with an agent that writes its prompt into a file, and a one-turn eval that costs nothing to score."""
    project.agent(
        "writer",
        """
        models = {"none": ["fixed"]}

        def command(prompt):
            return ["sh", "-c", 'printf %s "$1" > answer.txt', "sh", prompt]
        """,
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nSay hello.\n")
    return project
