"""A rated run, with what it did, what it left, and how it was scored: read from the store when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from orvl.errors import UserError
from orvl.store import open_store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.capture.captured_run import CapturedRun
    from orvl.rate.board import Row
    from orvl.store import Store
    from orvl.types import Attempt, CheckResult, ModelCall, Score

T = TypeVar("T")


@dataclass(frozen=True)
class Run:
    """One run. Its facts are attributes; `files`, `diff`, `transcript`, `verdicts` and the rest are read on demand."""

    key: str
    agent: str
    model: str
    provider: str
    eval: str
    episode: int
    outcome: str
    reason: str | None
    R: float | None
    R_pen: float | None
    usage: Mapping[str, Any] = field(repr=False)
    store_url: str = field(repr=False)

    @classmethod
    def of(cls, row: Row, store_url: str) -> Run:
        assert row.run is not None and row.eval is not None and row.episode is not None
        names = (row.agent, row.model, row.provider, row.eval)
        outcome = row.outcome or "errored"
        return cls(row.run, *names, row.episode, outcome, row.reason, row.R, row.R_pen, dict(row.usage), store_url)

    @property
    def files(self) -> list[str]:
        """The paths of the files that it left, without `.git`."""
        return self._read(lambda _, run: run.files)

    def read(self, path: str) -> str:
        """A file that it left, as text; bytes that are not UTF-8 become �."""
        return self.read_bytes(path).decode("utf-8", "replace")

    def read_bytes(self, path: str) -> bytes:
        """A file that it left."""
        return self._read(lambda _, run: run.read_bytes(path))

    @property
    def diff(self) -> str:
        """What it changed, as a unified diff."""
        return self._read(lambda _, run: run.diff)

    @property
    def output(self) -> list[str]:
        """What the agent printed, turn by turn."""
        return self._read(lambda _, run: run.output)

    @property
    def transcript(self) -> list[Mapping[str, Any]]:
        """The agent's steps in the form of ATIF, as its `read` understood them; empty for agents without one."""
        return self._read(lambda _, run: run.trajectory)

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the agent was asked, turn by turn."""
        return self._read(lambda _, run: run.prompts)

    @property
    def checks(self) -> Sequence[CheckResult]:
        """How the eval's checks ended on it."""
        return self._stored[2]

    @property
    def verdicts(self) -> list[Score]:
        """Every score of it, oldest first: by a judge, or by a function, where `judge` is empty."""
        return self._read(lambda store, _: store.scores(self._stored[0]))

    @property
    def calls(self) -> list[ModelCall]:
        """The calls of models that it made, as the gateway saw them."""
        return self._read(lambda store, _: store.calls(self._stored[0]))

    @cached_property
    def _stored(self) -> tuple[int, Attempt, tuple[CheckResult, ...], tuple[str, ...]]:
        with open_store(self.store_url, write=False) as store:
            stored = next((run for run in store.runs_starting_with(self.key, 1)), None)
            if stored is None:
                raise UserError(f"The run {self.key[:12]} is not in the store {self.store_url} any more.")
            attempt, checks = store.attempt(stored.attempt)
            return stored.attempt, attempt, checks or (), attempt.prompts or store.prompts(stored.cell)

    def _read(self, part: Callable[[Store, CapturedRun], T]) -> T:
        from orvl.capture.captured_run import CapturedRun

        _, attempt, _, prompts = self._stored
        with open_store(self.store_url, write=False) as store:
            return part(store, CapturedRun(attempt, prompts, store.blobs, Path()))
