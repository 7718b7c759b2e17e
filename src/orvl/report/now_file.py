"""What is going on, in a file beside the store that other processes read: `orvl view` shows it at /now."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from orvl.engine import AttemptEnded, Notice, RunGivenUp, RunStarted
from orvl.store.beneath import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.engine import Event
    from orvl.report.progress import Progress, Tally
    from orvl.types import PlannedRun

NAME = "now.json"
EVERY = 1.0
"""Seconds between two writes, at least."""
LARGEST = 16 << 20


@dataclass
class NowFile:
    """Hears what an engine says after `progress` has, and writes it down; a disk that refuses hinders no run."""

    folder: Path
    progress: Progress
    _began: float = field(default_factory=time.time)
    _running: dict[str, tuple[PlannedRun, float]] = field(default_factory=dict)
    _written: float = 0.0
    _later: asyncio.TimerHandle | None = None

    def __call__(self, event: Event) -> None:
        self.progress(event)
        if isinstance(event, Notice):
            return  # it changes no count, and may come from any thread
        if isinstance(event, RunStarted):
            self._running[event.run.key] = event.run, time.time()
        elif isinstance(event, RunGivenUp) or (isinstance(event, AttemptEnded) and event.attempt.outcome != "errored"):
            self._running.pop(event.run.key, None)
        wait = self._written + EVERY - time.monotonic()
        if wait <= 0:
            self._write()
        elif self._later is None:
            # Else the file would be behind until the next event, which may be an hour away.
            self._later = asyncio.get_running_loop().call_later(wait, self._write)

    def __enter__(self) -> Self:
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        if self._later is not None:
            self._later.cancel()
        with suppress(OSError):
            (self.folder / NAME).unlink()

    def _write(self) -> None:
        self._later, self._written = None, time.monotonic()
        with suppress(OSError), replacing(self.folder / NAME) as out:
            out.write(json.dumps(self._content()).encode())

    def _content(self) -> dict[str, Any]:
        return {
            "schema": 1,
            "began": self._began,
            "written": time.time(),
            "summary": self.progress.summary(),
            **_tally(self.progress.all),
            "contestants": [
                {**dict(zip(("agent", "model", "provider"), names, strict=True)), **_tally(tally)}
                for names, tally in self.progress.by_contestant.items()
            ],
            "runs": [
                {
                    "run": run.key,
                    **dict(zip(("agent", "model", "provider", "eval"), run.cell.names, strict=True)),
                    "episode": run.episode,
                    "began": began,
                }
                for run, began in self._running.values()
            ],
        }


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
