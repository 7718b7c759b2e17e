"""A project to write files into, and the real command line to run on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest


@dataclass(frozen=True)
class Result:
    """How a call of orvl ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


ROOT_FOLDER = Path("/var/tmp/orvl-tests/bookworm")
OTHER_COMMANDS = (
    *(
        "init",
        "list",
        "doctor",
        "report",
        "show",
        "score",
        "export",
        "gc",
        "install",
        "endpoints",
        "round-trip",
        "replay",
    ),
    *("--help", "--version", "-h"),
)


class UserProject:
    """A user's folder. `sandbox` is asked for in every run that names none."""

    sandbox: str | None = None

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tmp = root.parent / "tmp"
        self.tmp.mkdir()
        root.mkdir()

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return file

    def agent(self, name: str, text: str) -> Path:
        return self.write(f"agents/{name}.py", text)

    def eval(self, name: str, text: str) -> Path:
        return self.write(f"evals/{name}.md", text)

    def score(self, name: str, text: str) -> Path:
        return self.write(f"scores/{name}.py", text)

    def toml(self, text: str) -> Path:
        return self.write("orvl.toml", text)

    @property
    def env(self) -> dict[str, str]:
        names = [name for name in os.environ if not name.startswith(("ORVL", "COV", "COLUMNS"))]
        kept = {name: os.environ[name] for name in names if not name.endswith("_API_KEY")}
        return {**kept, "CI": "1", "TMPDIR": str(self.tmp), "ORVL_CACHE": str(self.tmp / "cache")}

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "orvl"]

    def orvl(
        self, *words: str, timeout: float = 120, env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> Result:
        at = int(bool(words) and not words[0].startswith("-"))
        runs = words and not any(word in OTHER_COMMANDS or word.startswith("--sandbox") for word in words)
        done = subprocess.run(
            [
                *self.command,
                *words[:at],
                *([f"--sandbox={self.sandbox}"] if runs and self.sandbox else []),
                *words[at:],
            ],
            cwd=cwd or self.root,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def rows(self, query: str) -> list[Any]:
        """Asks the store."""
        import sqlite3
        from contextlib import closing

        with closing(sqlite3.connect(self.root / ".orvl" / "orvl.db")) as db, db:
            return db.execute(query).fetchall()


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
    their workspace say SANDBOX = "none"."""
    made = UserProject(tmp_path / "project")
    made.sandbox = getattr(request.module, "SANDBOX", None)
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


@pytest.fixture(scope="session")
def root_folder() -> Path:
    """A root folder for containers, made once per machine by debootstrap; needs root and Debian's packages."""
    import fcntl

    folder = ROOT_FOLDER.parent
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ROOT_FOLDER.exists():
            half = folder / "half"
            subprocess.run(["rm", "-rf", half], check=True)
            words = ["debootstrap", "--variant=minbase", "--include=python3,git", "bookworm", str(half)]
            subprocess.run(words, check=True, capture_output=True)
            half.rename(ROOT_FOLDER)
    return ROOT_FOLDER
