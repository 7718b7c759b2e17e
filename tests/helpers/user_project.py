"""A user's project to write files into, and the real command line to run on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from helpers.forked import call_in_fork, can_be_forked
from orvl.cli import COMMANDS, GROUP_FLAGS


@dataclass(frozen=True)
class Result:
    """How a call of orvl ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def blob_keys(store: Path) -> list[str]:
    """The keys of all blobs in the folder of a store."""
    return [path.parent.name + path.stem for path in store.glob("blobs/*/*.zst")]


# A prefix with which modes of files hold for root as they do for everybody.
BOUND_BY_MODES = () if os.geteuid() else ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")
ROOT_FOLDER = Path("/var/tmp/orvl-tests/bookworm")
OTHER_COMMANDS = {*COMMANDS, *GROUP_FLAGS} - {"run"}


class UserProject:
    """A user's folder. `sandbox` is asked for in every run that names none; `process` means no forks."""

    sandbox: str | None = None
    process: bool = False

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

    def orvl(self, *words: str, **how: Any) -> Result:
        """How a call of orvl ends; see `call`."""
        done = self.call(*words, **how)
        return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def call(
        self,
        *words: str,
        timeout: float = 120,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        process: bool = False,
        prefix: Sequence[str] = (),
    ) -> subprocess.CompletedProcess[bytes]:
        """Calls orvl in a fork; in a process of its own where that is asked for, or where it needs a prefix."""
        at = int(bool(words) and not words[0].startswith("-"))
        runs = words and not any(word in OTHER_COMMANDS or word.startswith("--sandbox") for word in words)
        words = (*words[:at], *([f"--sandbox={self.sandbox}"] if runs and self.sandbox else []), *words[at:])
        env, cwd = {**self.env, **(env or {})}, cwd or self.root
        if not (process or self.process or prefix) and can_be_forked(env):
            return call_in_fork([*words], cwd, env, timeout)
        return subprocess.run(
            [*prefix, *self.command, *words],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )

    def rows(self, query: str) -> list[Any]:
        """Asks the store."""
        import sqlite3
        from contextlib import closing

        with closing(sqlite3.connect(self.root / ".orvl" / "orvl.db")) as db, db:
            return db.execute(query).fetchall()
