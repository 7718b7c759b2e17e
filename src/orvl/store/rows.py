"""What the store answers with: frozen rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from orvl.store.records import made_of
from orvl.types import IMPORTED, Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Names = tuple[str, str, str, str]
"""Agent, model, provider, eval."""


class ImportOrigin(NamedTuple):
    """Where the results of an imported cell come from."""

    source: str
    metrics: tuple[str, ...]
    content: str
    """A hash of the results."""

    @classmethod
    def of(cls, noted: Mapping[str, Any] | None) -> ImportOrigin:
        """What was noted beside a cell; of a store from elsewhere, that may be anything."""
        told = noted or {}
        metrics = told.get("metrics")
        known = tuple(map(str, metrics)) if isinstance(metrics, list) else ()
        return cls(str(told.get("imported") or "an unknown source"), known, str(told.get("content")))

    def as_text(self) -> str:
        return json.dumps({"imported": self.source, "metrics": self.metrics, "content": self.content})


class StoredCell(NamedTuple):
    """A cell under one identity; several may have the same names (`plan.identities` says which of them counts)."""

    id: int
    key: str
    agent: str
    model: str
    provider: str
    eval: str
    version: str
    runs: int
    last_episode: int
    """0 where it has no run."""
    planned: int = 0
    """Grows with each command: the one that was asked for last has the highest."""
    made_of: str | None = None
    """What its identity is made of, as JSON; None where that was not recorded."""

    @property
    def names(self) -> Names:
        return self.agent, self.model, self.provider, self.eval

    @property
    def imported(self) -> ImportOrigin | None:
        """Where its results were imported from; None for what orvl has run."""
        return ImportOrigin.of(made_of(self.made_of)) if self.agent.startswith(IMPORTED) else None

    @property
    def contestant(self) -> tuple[str, str, str]:
        return self.agent, self.model, self.provider


class StoredRun(NamedTuple):
    """A run with the attempt that counts: the one that finished or failed, else the last that errored."""

    attempt: int
    key: str
    cell: int
    episode: int
    outcome: str


@dataclass(frozen=True)
class RunResult:
    """How a run ended, and what it used."""

    attempt: int
    key: str
    cell: int
    episode: int
    outcome: str
    reason: str | None
    sandbox: str
    usage: Usage


Figure = Literal["cost_usd", "seconds"]


@dataclass(frozen=True)
class AttemptFilter:
    """How attempts ended and what they used; a figure that is unknown is over nothing."""

    outcome: str | None = None
    reason: str = ""
    """A part of the reason, in any case."""
    cost_over: float | None = None
    seconds_over: float | None = None
    most_first: Figure | None = None
    """The figure by which they are ordered; those of which it is unknown come last. None: the oldest first."""


@dataclass(frozen=True)
class CellCounts:
    """The runs of a cell, those that finished or failed, and what these used in all."""

    runs: int
    carried_out: int = 0
    failed: int = 0
    bare: int = 0
    """Runs without a sandbox."""
    sandbox: str | None = None
    """Their names, joined by commas."""
    usage: Mapping[str, Any] = field(default_factory=dict)
    """Sums by name, None where a part is unknown; and `cost_source`."""


@dataclass(frozen=True)
class ScoreTables:
    """Attempts, their cells, and their tables S (attempts × judges × metrics), side by side."""

    attempts: NDArray[np.int64]
    cells: NDArray[np.int64]
    S: NDArray[np.float64]
    incomplete: frozenset[int] = frozenset()
    """Attempts that still lack a score of the layout."""


class ScoreValue(NamedTuple):
    """One score, by its place in S."""

    attempt: int
    metric_key: str
    judge_key: str
    value: float | None


class NewestScore(NamedTuple):
    """The newest sample of one judge, or of a function, on one metric of one attempt."""

    attempt: int
    metric: str
    metric_key: str
    judge: str
    judge_key: str
    kind: str
    reason: str | None


class JudgeAnswer(NamedTuple):
    """Whether a judge ever scored one metric of one attempt; if not, a reason."""

    judge: str
    metric_key: str
    judge_key: str
    is_scored: bool
    reason: str


class StoredVerdict(NamedTuple):
    """A judge's score on one metric of one attempt, with its answers."""

    attempt: int
    metric: str
    metric_key: str
    judge: str
    judge_key: str
    detail: Mapping[str, Any]


class JudgeReply(NamedTuple):
    """One answer of a judge, kept from when it arrives until what it leads to is stored."""

    scope: str
    """What it was asked for, such as one sample of one judge's score."""
    question: str
    """The hash of the question."""
    step: int
    """Its place in the conversation about the question, from 0."""
    content: Mapping[str, Any]


@dataclass(frozen=True)
class VerdictCosts:
    """What the newest verdicts have cost: `priced` of `verdicts` have a known cost; `looks` are runs × judges."""

    total: float
    priced: int
    verdicts: int
    looks: int
    asked_models: bool


class Mismatch(NamedTuple):
    """A run of a cell that another model, or more than one host, answered."""

    cell: int
    is_other_model: bool
    is_other_host: bool


class OtherModelCalls(NamedTuple):
    """How often the agent of a cell asked for another model than its own."""

    cell: int
    asked_model: str
    number: int


@dataclass(frozen=True)
class CallFilter:
    """The calls of one endpoint: those of its own cells, and those for its model that agents of `others` made."""

    model: str
    own: Sequence[int]
    others: Sequence[int] = ()


@dataclass(frozen=True)
class CallTotals:
    """All calls of one endpoint, counted."""

    cells: tuple[int, ...]
    cost_sources: tuple[str, ...]
    sums: Mapping[str, float]
    failures: tuple[tuple[int | None, bool, int], ...] = ()
    """(status, whether the host named no trouble, how many)."""
    answers: tuple[tuple[str | None, str | None, int], ...] = ()
    """(model that answered, host, how many)."""
    findings: tuple[tuple[str, str | None, int], ...] = ()
    """(kind, model that answered, how many)."""
    speeds: tuple[tuple[float, float | None], ...] = ()
    """(seconds to the first token, tokens a second) of streams."""


@dataclass(frozen=True)
class FailedCall:
    """A call in which something went wrong."""

    cell: int
    run: str
    attempt: int
    """The place of the attempt among those of its run, from 1."""
    is_last: bool
    number: int
    status: int | None
    trouble: str | None
    findings: tuple[tuple[str, str], ...]
    """(kind, detail)."""


class TrustRecord(NamedTuple):
    """A certificate or a calibration, as it was made."""

    id: int
    made: float
    content: dict[str, Any]


class StoredLabel(NamedTuple):
    """What a person says of a run; '' as the metric is the whole of it."""

    attempt: int
    run: str
    metric: str
    person: str
    value: float
    drawn: str | None
    """How chance has chosen the run, where it has."""
