"""What is going on, in a file beside the store that other processes read: `orvl view` shows it at /now."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from orvl.engine import AttemptEnded, Notice, RunDoing, RunGivenUp, RunScored, RunStarted
from orvl.store.beneath import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.engine import Event
    from orvl.gateway.account import Account
    from orvl.report.progress import Progress, Tally
    from orvl.types import PlannedRun

NAME = "now.json"
EVERY = 1.0
"""Seconds between two writes, at least."""
QUIET = 2.0
"""Seconds after which it is written again where nothing happens."""
MOST_NOTICES = 20
LARGEST = 16 << 20


@dataclass
class UnderWay:
    """A run that is being carried out."""

    run: PlannedRun
    began: float
    doing: RunDoing | None = None
    account: Account | None = None
    since: float = field(default_factory=time.monotonic)

    @property
    def silent(self) -> float:
        """Seconds in which nothing has come of it, or since what it does began."""
        since = time.monotonic() - self.since
        return min(since, self.doing.silence()) if self.doing and self.doing.silence else since

    def as_json(self, now: float, stage: str) -> dict[str, Any]:
        calls = {"calls": self.account.begun, "open_calls": len(self.account.open_calls)} if self.account else {}
        return {
            "run": self.run.key,
            **dict(zip(("agent", "model", "provider", "eval"), self.run.cell.names, strict=True)),
            "episode": self.run.episode,
            "began": self.began,
            "stage": stage,
            "heard": now - self.silent,
            **calls,
        }


@dataclass
class NowFile:
    """Hears what an engine says after `progress` has, and writes it down; a disk that refuses hinders no run."""

    folder: Path
    progress: Progress
    budget: float | None = None
    _began: float = field(default_factory=time.time)
    _running: dict[str, UnderWay] = field(default_factory=dict)
    _notices: deque[tuple[float, str]] = field(default_factory=lambda: deque(maxlen=MOST_NOTICES))
    _written: float = 0.0
    _later: asyncio.TimerHandle | None = None

    def __call__(self, event: Event) -> None:
        self.progress(event)
        if isinstance(event, Notice):
            # It changes no count, and may come from any thread: it is written with what comes next.
            self._notices.append((time.time(), event.sentence))
            return
        self._note(event)
        wait = self._written + EVERY - time.monotonic()
        if wait <= 0:
            self._write()
        elif self._later is None:
            # Else the file would be behind until the next event, which may be an hour away.
            self._write_in(wait)

    def _note(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._running[event.run.key] = UnderWay(event.run, time.time())
        elif isinstance(event, RunDoing):
            before = self._running.get(event.run.key) or UnderWay(event.run, time.time())
            account = event.account or before.account
            self._running[event.run.key] = UnderWay(event.run, before.began, event, account)
        elif isinstance(event, RunGivenUp | RunScored) or (
            isinstance(event, AttemptEnded) and event.attempt.outcome != "errored"
        ):
            self._running.pop(event.run.key, None)

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        if self._later is not None:
            self._later.cancel()
        with suppress(OSError):
            (self.folder / NAME).unlink()

    def _write_in(self, seconds: float) -> None:
        if self._later is not None:
            self._later.cancel()
        self._later = asyncio.get_running_loop().call_later(seconds, self._write)

    def _write(self) -> None:
        self._written = time.monotonic()
        # What models do is no event: how long they have been silent must be written all the same.
        self._write_in(QUIET)
        with suppress(OSError), replacing(self.folder / NAME) as out:
            out.write(json.dumps(self._content()).encode())

    def _content(self) -> dict[str, Any]:
        now = time.time()
        return {
            "schema": 1,
            "began": self._began,
            "written": now,
            "summary": self.progress.summary(),
            **_tally(self.progress.all),
            "budget": self.budget,
            "contestants": [
                {**dict(zip(("agent", "model", "provider"), names, strict=True)), **_tally(tally)}
                for names, tally in self.progress.by_contestant.items()
            ],
            "runs": [one.as_json(now, self._stage(key)) for key, one in self._running.items()],
            "providers": self._providers(),
            "notices": [{"at": at, "sentence": sentence} for at, sentence in tuple(self._notices)],
        }

    def _stage(self, key: str) -> str:
        doing = self.progress.doing.get(key)
        return doing.what if doing else ""

    def _providers(self) -> list[dict[str, Any]]:
        """Calls that are open at each provider, and how many may be."""
        accounts = [one.account for one in self._running.values() if one.account]
        by_name = {account.provider.name: account.provider for account in accounts}
        return [
            {
                "provider": name,
                "open_calls": sum(len(one.open_calls) for one in accounts if one.provider.name == name),
                "concurrency": provider.concurrency,
            }
            for name, provider in sorted(by_name.items())
        ]


def _tally(tally: Tally) -> dict[str, Any]:
    names = ("total", "done", "failed", "errored", "running")
    return {**{name: getattr(tally, name) for name in names}, "spent": tally.spent_text}


def read_now(folder: Path) -> dict[str, Any] | None:
    """What was last written; None where there is nothing, or nothing that can be read."""
    try:
        with (folder / NAME).open("rb") as file:
            content = json.loads(file.read(LARGEST))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None
