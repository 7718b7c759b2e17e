"""Kills of a command at any moment, again and again; and what must hold after each of them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from helpers.user_project import UserProject
from orvl.sandbox.workdir import is_alive
from orvl.store.schema import MIGRATIONS
from orvl.store.sqlite import SqliteStore

TABLES = ("cell", "run", "attempt", "checked", "score", "layout", "card", "found", "model_call", "trust", "label")
"""All whose rows are never changed."""
PATIENCE = 60.0
"""Seconds for what happens at once on a machine that is not busy."""


def until(condition: Callable[[], Any], what: str) -> None:
    """Waits for an event, not for a time."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def processes_of(base: Path) -> list[str]:
    """Processes that name a folder in their words or their environment, or work below it."""
    found, name = [], os.fsencode(base)
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes()
            if name in words or name in (folder / "environ").read_bytes() or str(base) in os.readlink(folder / "cwd"):
                found.append(f"{folder.name} {words!r}")
    return found


def mounts_of(base: Path) -> list[str]:
    return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(base) in line]


def opened_copy(store: Path, folder: Path) -> sqlite3.Connection:
    """A copy of the database with its log: looking at the store itself would leave files of this user in it."""
    for file in store.glob("orvl.db*"):
        if not file.name.endswith("-shm"):
            shutil.copy(file, folder / file.name)
    return sqlite3.connect(folder / "orvl.db")


def stored(store: Path) -> set[tuple[Any, ...]]:
    """Every row that is never changed."""
    if not (store / "orvl.db").exists():
        return set()
    with tempfile.TemporaryDirectory() as folder, closing(opened_copy(store, Path(folder))) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA foreign_key_check").fetchall() == []
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        return {(table, *row) for table in TABLES if table in there for row in db.execute(f"SELECT * FROM {table}")}


def schema(db: sqlite3.Connection) -> set[tuple[str, str]]:
    rows = db.execute("SELECT name, coalesce(sql, '') FROM sqlite_master")
    return {(name, " ".join(sql.split())) for name, sql in rows}


def assert_whole_version(store: Path) -> int:
    """The tables are those of one version, and not half of another; says of which."""
    with tempfile.TemporaryDirectory() as folder, closing(opened_copy(store, Path(folder))) as db:
        version = int(db.execute("PRAGMA user_version").fetchone()[0])
        with closing(sqlite3.connect(":memory:")) as fresh:
            fresh.executescript(";".join(MIGRATIONS[:version]))
            assert schema(db) == schema(fresh)
    return version


@dataclass
class Campaign:
    """Kills commands in one project, at moments that a seed chooses."""

    project: UserProject
    seed: int
    kills: int = 0
    lived: int = 0
    """Commands that ended before their kill."""
    kept: set[tuple[Any, ...]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.store = self.project.root / ".orvl"
        self.base = self.project.root.parent

    def kill(self, words: Sequence[str], *, until_changed: Sequence[int] = (0, 1, 1, 2, 4), most: float = 0.15) -> bool:
        """Kills one command somewhere, and looks at what it left; says whether it was alive until then.

        The moment is some time after the store has changed a few times since the command began.
        """
        process = subprocess.Popen(
            [*self.project.command, *words],
            cwd=self.project.root,
            env=self.project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        left, seen = self.random.choice(until_changed), self._state()
        deadline = time.monotonic() + PATIENCE
        while left and process.poll() is None and time.monotonic() < deadline:
            state = self._state()
            left, seen = left - (state != seen), state
            time.sleep(0.002)
        time.sleep(self.random.uniform(0, most))
        was_alive = process.poll() is None
        process.kill()
        message = process.communicate()[1].decode("utf-8", "replace")
        self.kills += was_alive
        self.lived += not was_alive
        assert "Traceback" not in message, message
        until(lambda: not processes_of(self.base), f"a process outlived orvl: {processes_of(self.base)}")
        until(lambda: not any(map(is_alive, self.project.tmp.glob("orvl-*/*"))), "a guard outlived orvl")
        self.look()
        return was_alive

    def look(self) -> None:
        """Nothing that was stored is lost, changed, or there a second time."""
        now = stored(self.store)
        assert self.kept <= now, f"lost: {self.kept - now}"
        self.kept = now

    def finish(self, *words: str, status: int = 0) -> Any:
        """Gives the command once more and lets it end; then nothing is left of those that were killed."""
        done = self.project.orvl(*words, timeout=300)
        assert done.status == status, done.err[-3000:]
        assert "Traceback" not in done.err
        self.look()
        assert processes_of(self.base) == []
        assert mounts_of(self.base) == []
        assert list(self.project.tmp.glob("orvl-*/*")) == [], "folders of killed runs were not swept"
        if (self.store / "starts").is_dir():
            assert [path.name for path in (self.store / "starts").iterdir() if path.name.startswith(".")] == []
        with tempfile.TemporaryDirectory() as folder:
            # A copy, as looking at the store of another user would leave files of this one in it.
            shutil.copytree(self.store, Path(folder, "store"), ignore=shutil.ignore_patterns("starts", "*-shm"))
            with SqliteStore(Path(folder, "store"), write=False) as store:
                assert store.integrity() == []
        return done

    def attempts(self) -> list[tuple[Any, ...]]:
        return [row for row in self.kept if row[0] == "attempt"]

    def _state(self) -> tuple[Any, ...]:
        """Changes with whatever the store keeps."""
        found: list[Any] = []
        for path in (*self.store.glob("orvl.db*"), self.store / "blobs", self.store / "starts"):
            with suppress(OSError):
                info = path.stat()
                found.append((path.name, info.st_size, info.st_mtime_ns))
        return tuple(sorted(found))
