"""The seams: what any store and any blobs must do. `tests/unit/test_store_contract.py` asks it of each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from orvl.store.rows import (
        AttemptFilter,
        CallFilter,
        CallTotals,
        CellCounts,
        FailedCall,
        ImportOrigin,
        JudgeAnswer,
        JudgeReply,
        Mismatch,
        NewestScore,
        OtherModelCalls,
        RunResult,
        ScoreTables,
        ScoreValue,
        StoredCell,
        StoredLabel,
        StoredRun,
        StoredVerdict,
        TrustRecord,
        VerdictCosts,
    )
    from orvl.types import Attempt, Cell, CheckResult, ImportedCell, Inspection, Layout, ModelCall, PlannedRun, Score

ANY_EPISODE = 1 << 60
"""As the last episode of a range: there is no end."""
T = TypeVar("T")


class Batch(Protocol):
    """Blobs that belong together: put them, then `sync` once, then name them in the store.

    As a context it syncs at its end, and drops what was put where something fails.
    """

    def __enter__(self) -> Batch: ...
    def __exit__(self, error: type[BaseException] | None, *_: object) -> None: ...

    def put(self, data: bytes) -> str:
        """Returns the key: the SHA-256 of the bytes, in hexadecimal."""

    def put_fd(self, fd: int, size: int) -> str:
        """The rest of an open file, without holding a large one in memory."""

    def put_file(self, path: Path) -> str:
        """A regular file, links not followed."""

    def sync(self) -> None:
        """What was put survives a power cut from here on."""

    def drop(self) -> None:
        """Forgets what was put and not synced."""


MOST_IN_MEMORY = 256 << 20
"""Bytes of a blob that is read as a whole: a store may come from somebody else, and a bomb is small until unpacked."""


class Blobs(Protocol):
    """Bytes by their content hash, never changed. A blob that is missing or damaged is a StoreError."""

    def batch(self) -> Batch: ...
    def get(self, key: str, most: int = MOST_IN_MEMORY) -> bytes:
        """A blob's bytes; one that unpacks to more than `most`, or MOST_IN_MEMORY, is not unpacked further."""

    def stream(self, key: str, most: int | None = None) -> Iterator[bytes]:
        """The same in pieces."""

    def write_to(self, key: str, fd: int, most: int | None = None) -> None:
        """Into an open file."""

    def has(self, key: str, size: int | None = None) -> bool:
        """Whether a blob, of this size if that is known, is stored and whole."""

    def verify(self, key: str, most: int | None = None) -> bool:
        """Whether a blob can be read, right now, and has the bytes that its key says, which are `most` at the most."""

    def unreferenced(self, referenced: Collection[str]) -> Iterator[tuple[str, int]]:
        """(name, bytes) of everything else that is kept: other blobs, and what was half written."""

    def delete(self, name: str) -> None:
        """Deletes what `unreferenced` named."""


class RunStore(Protocol):
    """Cells, their runs and attempts. All ids are the store's own."""

    def add_call(self, words: Any, seed: int) -> int:
        """A command that runs or scores something."""

    def add_end(self, call: int) -> None:
        """A command has done all that it was asked for."""

    def scored_before_end(self, words: str, samples: str) -> dict[int, set[tuple[str, str]]]:
        """By attempt, metric and judge keys of scores by calls of these words, since one last came to its end."""

    def add_cell(self, cell: Cell) -> int:
        """Its id; a cell that is stored already keeps the one it has."""

    def add_planned(self, cells: Sequence[Cell]) -> None:
        """A command asks for these cells now: each counts before others of the same names."""

    def add_attempt(self, planned: PlannedRun, cell: int, call: int, attempt: Attempt, checks_key: str) -> int:
        """One more attempt at a run. A run that finished or failed takes no further one that does."""

    def add_checks(self, attempt: int, key: str, checks: Sequence[CheckResult]) -> None:
        """Results under a key that names the checks; a key that is stored already keeps its results."""

    def add_inspection(self, attempt: int, inspection: Inspection) -> None:
        """What a program found out; a kind and key that are stored already keep theirs."""

    def cells(self) -> list[StoredCell]:
        """All cells, oldest first."""

    def prompts(self, cell: int) -> tuple[str, ...]:
        """The conversation of a cell's eval, as it was when the cell was stored."""

    def runs(self, cells: Collection[int] | None = None) -> list[StoredRun]:
        """All runs, or those of some cells, oldest first."""

    def runs_starting_with(self, prefix: str, limit: int) -> list[StoredRun]:
        """Runs whose key starts so, oldest first."""

    def carried_out(self, cell_keys: Iterable[str]) -> Iterator[StoredRun]:
        """The runs of these cells that finished or failed."""

    def has_called(self, names: tuple[str, str, str], version: str, contestant: str) -> bool:
        """Whether any attempt of a contestant (its names, version and identity) has called its model, or tried to."""

    def run_results(self, cells: Collection[int]) -> list[RunResult]:
        """How each run of these cells ended, oldest first."""

    def errored_runs(self, cells: Collection[int]) -> list[RunResult]:
        """The same of those runs of these cells of which every attempt has errored."""

    def results_of(self, attempts: Collection[int]) -> list[RunResult]:
        """The same of these attempts, in their order."""

    def find_attempts(self, wanted: AttemptFilter) -> list[int]:
        """Attempts of all cells by how they ended and what they used."""

    def started(self, cells: Collection[int]) -> dict[int, tuple[float, float]]:
        """When the first and the last attempt at a run of each of these cells began."""

    def drop_runs(self, runs: Collection[str]) -> None:
        """Forgets the runs with these keys, with all that is known of them, and cells that have none left."""

    def counts(self, first: int, last: int) -> dict[int, CellCounts]:
        """By cell, over these episodes."""

    def attempts(self, run: str) -> list[int]:
        """All attempts at the run with this key, oldest first."""

    def attempts_between(self, first: int, last: int) -> Collection[int]:
        """The attempts at runs of these episodes."""

    def attempt(self, number: int, checks_key: str | None = None) -> tuple[Attempt, tuple[CheckResult, ...] | None]:
        """An attempt, and its check results under a key (or the newest)."""

    def inspections(self, attempt: int) -> list[Inspection]:
        """What programs found out about an attempt's capture, the newest last."""

    def run_costs(self, contestant: tuple[str, str, str], limit: int) -> list[float]:
        """What the newest attempts of a contestant have cost, where that is known."""


class ScoreStore(Protocol):
    """Scores, one by one and as tables S."""

    def add_layout(self, layout: Layout) -> int:
        """Its id; a layout that is stored already keeps the one it has."""

    def add_scores(
        self, attempt: int, cell: int, call: int, scores: Iterable[Score], layout: int, table: bytes | None
    ) -> None:
        """Scores, and S of the attempt under a layout (little-endian doubles, row by row) where it is complete.

        The replies that led to these scores are dropped with it.
        """

    def scores(self, attempt: int) -> list[Score]:
        """All scores of an attempt, oldest first."""

    def add_reply(self, about: str, reply: JudgeReply) -> None:
        """A judge's answer, as it arrives; a place that is stored already keeps its answer."""

    def replies(self, about: str) -> list[JudgeReply]:
        """The answers about something, such as an attempt (`records.about`), that have led to nothing stored yet."""

    def drop_replies(self, about: str, scope: str | None = None) -> None:
        """What they led to is kept elsewhere, or will never be asked for; all about something, or of one scope."""

    def reply_places(self) -> list[tuple[str, str, int]]:
        """What all such answers are about, their scopes, and how many there are."""

    def score_tables(self, layout: Layout, cells: Collection[int]) -> ScoreTables:
        """S of the attempts of these cells that are stored under a layout."""

    def score_values(self, cell: int) -> list[ScoreValue]:
        """All scores of a cell's runs, without those that a judge or a browser missed: these are to be asked again."""

    def unscored(self) -> list[NewestScore]:
        """The newest samples that gave no score."""

    def alarmed(self) -> list[NewestScore]:
        """The newest samples that raised the injection alarm."""

    def inspected(self, kind: str) -> list[int]:
        """The attempts that have an inspection of a kind."""

    def told(self, attempts: Collection[int]) -> list[tuple[str, str, str, str, float]]:
        """Of all verdicts on attempts: metric, its key, judge, its key, and the share of the checklist that it told."""

    def answers(self, attempts: Collection[int]) -> list[JudgeAnswer]:
        """By attempt, metric and judge, over all samples."""

    def newest_verdicts(self, attempts: Collection[int], limit: int) -> list[StoredVerdict]:
        """Scores that judges gave to attempts, the newest first."""

    def judge_costs(self, judge_key: str, limit: int) -> list[float]:
        """What the newest answers of a judge have cost, where that is known."""

    def verdict_costs(self) -> VerdictCosts:
        """What judges' newest scores have cost."""


class CallStore(Protocol):
    """Calls of models, as the gateway saw them."""

    def calls(self, attempt: int) -> list[ModelCall]:
        """The calls that an attempt made, in the order in which they began."""

    def loaded(self, first: int, last: int) -> dict[int, int]:
        """How many runs of these episodes a loaded machine has slowed down, by cell."""

    def mismatches(self, first: int, last: int) -> list[Mismatch]:
        """Runs of these episodes that were not answered by the model, or the one host, that was asked."""

    def asked_for_others(self, first: int, last: int) -> list[int]:
        """The cell of each run of these episodes whose agent called another model than its own."""

    def other_model_calls(self) -> list[OtherModelCalls]:
        """Calls in which an agent asked for another model than its run's."""

    def call_totals(self, calls: CallFilter) -> CallTotals:
        """The calls of an endpoint, counted."""

    def failing_calls(self, calls: CallFilter) -> Iterator[FailedCall]:
        """The calls of an endpoint in which something went wrong, by attempt and call."""


class TrustStore(Protocol):
    """Certificates, calibrations, and what people say of runs."""

    def add_trust(self, kind: str, content: Mapping[str, Any]) -> int:
        """A certificate or a calibration."""

    def add_label(
        self, attempt: int, metric: str, person: str, value: float, note: str | None = None, drawn: str | None = None
    ) -> int:
        """What a person says of a run, '' being the whole of it; `drawn` says how chance has chosen the run."""

    def trust(self, kind: str) -> list[TrustRecord]:
        """Certificates or calibrations, the newest first."""

    def labels(self) -> list[StoredLabel]:
        """All labels, oldest first."""


class ImportStore(Protocol):
    """Results of other tools."""

    def add_imported(self, cells: Iterable[tuple[str, ImportedCell, ImportOrigin, Layout]], call: int) -> None:
        """Cells that are not stored yet, by their keys, with their runs and scores."""


class Store(RunStore, ScoreStore, CallStore, TrustStore, ImportStore, Protocol):
    """The only truth; nothing in it is overwritten, and runs are dropped only where a user asks for that.

    Many may read, one process at a time writes.
    """

    @property
    def folder(self) -> Path:
        """A folder on this machine, for what can be made again; no agent may see it."""

    @property
    def blobs(self) -> Blobs: ...

    @property
    def has_writer(self) -> bool:
        """Whether some process has the store open to write."""

    def changes(self) -> int:
        """A number that is another one once somebody else has written; it says something of this open store alone."""

    def check_place(self) -> None:
        """Raises StoreError if the store that was opened is not there any more."""

    def transaction(self, works: Sequence[Callable[[Store], T]]) -> list[T]:
        """Does all of it durably, or none of it. Everything that starts with `add_` is called inside."""

    def export(self, what: str, cells: Collection[int] | None = None) -> tuple[list[str], Iterator[list[Any]]]:
        """The columns and, in chunks, the rows of all "runs" or "scores", or of those of some cells."""

    def referenced(self) -> set[str]:
        """The keys of all blobs that something refers to."""

    def integrity(self) -> list[str]:
        """What is wrong with the store, a sentence each; nothing, if it is sound."""

    def close(self) -> None: ...
    def __enter__(self) -> Store: ...
    def __exit__(self, *_: object) -> None: ...
