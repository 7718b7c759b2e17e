"""A stored run in full: its attempts with their calls, scores and inspections, and what it left behind."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.capture.captured_run import CapturedRun, Inspections
from orvl.errors import StoreError, UserError
from orvl.plan.identities import identities
from orvl.plan.planning import run_key
from orvl.project.names import count, did_you_mean
from orvl.store.protocol import MOST_IN_MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.plan.identities import Identities
    from orvl.project import Project
    from orvl.store import Store, StoredCell, StoredRun
    from orvl.types import Attempt, ModelCall, Score

NAMES = ("agent", "model", "provider", "eval", "version")
PARTS = ("path", "type", "asked", "answered")
"""What a record has of a call, word for word."""


@dataclass(frozen=True)
class StoredAttempt:
    """One attempt of a run; `position` is 1 for the first."""

    position: int
    id: int
    attempt: Attempt


@dataclass(frozen=True)
class RunDetails:
    """A run with its attempts, or with the one that was asked for."""

    run: StoredRun
    cell: StoredCell
    attempts: tuple[StoredAttempt, ...]

    @property
    def key(self) -> str:
        return self.run.key

    @property
    def episode(self) -> int:
        return self.run.episode

    @property
    def last(self) -> StoredAttempt:
        return self.attempts[-1]

    @property
    def names(self) -> dict[str, str | None]:
        """The cell's names and its agent's version; of imported runs, what their tool does not tell is None."""
        names = {name: getattr(self.cell, name) for name in NAMES}
        return {name: value or None for name, value in names.items()} if self.cell.imported else names


@dataclass(frozen=True)
class AttemptDetails:
    """All that is known of one attempt."""

    position: int
    attempt: Attempt
    calls: Sequence[ModelCall]
    scores: Sequence[Score]
    inspections: Inspections


@dataclass(frozen=True)
class CallDetails:
    """One call of a model with its request and its response, verbatim where they were kept."""

    call: ModelCall
    path: str | None = None
    type: str | None = None
    asked: str | None = None
    answered: str | None = None
    assembled: dict[str, Any] | None = None
    """What the pieces of a streamed response add up to."""


def find_run(project: Project, store: Store, name: str) -> tuple[StoredRun, StoredCell]:
    """The run that AGENT/EVAL/EPISODE, or the start of a key, names; by names, of the files as they are now."""
    cells = {cell.id: cell for cell in store.cells()}
    words = name.split("/")
    if len(words) == 3 and re.fullmatch("[0-9]{1,9}", words[2]):
        named = [cell for cell in cells.values() if (cell.agent, cell.eval) == (words[0], words[1])]
        known = identities(project, named)
        runs = [run for run in store.runs(known.ids) if run.episode == int(words[2])]
        if not runs and (past := _past_runs(store, known, int(words[2]))):
            raise UserError(f"'{name}' is history: {past}")
    else:
        runs = store.runs_starting_with(name, 3)
    if not runs or not name:
        raise UserError(f"There is no run '{name}' in the store. See: orvl report --by run --json")
    if len(runs) > 1:
        keys = ", ".join(f"{run.key[:12]} ({cells[run.cell].model} {cells[run.cell].provider})" for run in runs)
        raise UserError(f"'{name}' matches several runs; give the key of one: {keys}.")
    return runs[0], cells[runs[0].cell]


def run_of(store: Store, cell: StoredCell, episode: int) -> StoredRun | None:
    """A run of a cell by its key, for a cell may have many: of this episode, else of the first or the last."""
    if cell.imported:
        runs = store.runs([cell.id])
        return next((one for one in runs if one.episode == episode), next(iter(runs), None))
    for number in dict.fromkeys((episode, 1, cell.last_episode)):
        if found := store.runs_starting_with(run_key(cell.key, number), 1):
            return found[0]
    return None


def _past_runs(store: Store, known: Identities, episode: int) -> str:
    """Runs of other identities, by their keys, and how to run it again."""
    past = {one.cell.id: one for one in known.past()}
    runs = [run for run in store.runs(past) if run.episode == episode]
    if not runs:
        return ""
    one = past[runs[-1].cell]
    have = "have" if len(one.changed) > 1 else "has"
    keys = " ".join(run.key[:12] for run in runs[-3:])
    return (
        f"{', '.join(one.changed) or 'a file of it'} {have} changed since. Make a new one: orvl run "
        f"{' '.join(one.cell.names)}; or name the old one by its key: {keys}"
    )


def load_run(project: Project, store: Store, name: str, position: int | None = None) -> RunDetails:
    """A run by its name, with all its attempts or the one at this position."""
    run, cell = find_run(project, store, name)
    ids = store.attempts(run.key)
    if position is not None and position > len(ids):
        raise UserError(f"There is no attempt {position}: the run {run.key[:12]} has {count(len(ids), 'attempt')}.")
    positions = [position] if position else range(1, len(ids) + 1)
    return RunDetails(run, cell, tuple(_attempt(store, place, ids[place - 1]) for place in positions))


def _attempt(store: Store, position: int, number: int) -> StoredAttempt:
    attempt, checks = store.attempt(number)
    return StoredAttempt(position, number, replace(attempt, checks=checks))


def attempt_details(store: Store, stored: StoredAttempt) -> AttemptDetails:
    number = stored.id
    return AttemptDetails(
        stored.position, stored.attempt, store.calls(number), store.scores(number), inspections_of(store, number)
    )


def prompts_of(store: Store, cell: int, attempt: Attempt) -> tuple[str, ...]:
    """What an attempt's agent was told: its own prompts, or those of the eval."""
    return attempt.prompts or store.prompts(cell)


def inspections_of(store: Store, attempt: int) -> Inspections:
    return Inspections.of(store.inspections(attempt), store.blobs)


def captured(store: Store, run: RunDetails) -> CapturedRun:
    """What the last attempt left behind."""
    attempt = run.last.attempt
    if attempt.tree is None:
        raise UserError(f"The run {run.key[:12]} left nothing behind: {attempt.reason}.")
    return CapturedRun(attempt, (), store.blobs, Path())


def file_of(store: Store, run: RunDetails, path: str) -> bytes:
    capture = captured(store, run)
    try:
        return bytes(capture.read_bytes(path))
    except FileNotFoundError as error:
        raise UserError(f"The run left no file '{path}'. {did_you_mean(path, capture.files)}") from error


def screenshot_of(store: Store, run: RunDetails, name: str) -> bytes:
    """A PNG of the newest inspection by a browser."""
    inspections = inspections_of(store, run.last.id)
    files = {shot.name: shot.file for shot in inspections.page.shots} if inspections.page else {}
    if name not in files:
        hint = did_you_mean(name, files) if files else "No browser looked at this run."
        raise UserError(f"There is no screenshot '{name}'. {hint}")
    return bytes(store.blobs.get(inspections.pictures[files[name]]))


def call_details(store: Store, run: RunDetails, number: int) -> CallDetails:
    """One call of the last attempt."""
    calls = store.calls(run.last.id)
    call = next((call for call in calls if call.number == number), None)
    if call is None:
        raise UserError(f"There is no call {number}: {_numbers(calls)}. See: orvl show {run.key[:12]} --calls")
    record = run.last.attempt.record
    kept = _recorded(store, record, number) if record else {}
    parts = {name: kept.get(name) for name in PARTS}
    return CallDetails(call, **parts, assembled=_assembled(call.protocol, parts["type"], parts["answered"]))


def _numbers(calls: Sequence[ModelCall]) -> str:
    if not calls:
        return "the run made none through orvl's gateway"
    first, last = calls[0].number, calls[-1].number
    return f"there are calls {first} to {last}" if len(calls) > 1 else f"there is only call {first}"


def _recorded(store: Store, record: str, number: int) -> dict[str, Any]:
    """The line of a record that is about one call: it begins with the call's number."""
    begin, line, size = b'{"number": %d,' % number, [b""], 0
    for chunk in store.blobs.stream(record, MOST_IN_MEMORY):
        for place, part in enumerate(chunk.split(b"\n")):
            if place:
                if line[0].startswith(begin):
                    return _loaded(b"".join(line), record)
                line, size = [b""], 0
            # Of other lines no more is kept than tells that they are others.
            if size < len(begin):
                line = [b"".join(line) + part]
            elif line[0].startswith(begin):
                line.append(part)
            size += len(part)
    return {}


def _loaded(line: bytes, record: str) -> dict[str, Any]:
    try:
        kept = dict(json.loads(line))
        if wrong := next((name for name in PARTS if not isinstance(kept.get(name), str | None)), None):
            raise TypeError(f"its '{wrong}' is no text")
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(f"The record {record[:12]} of a run's calls is damaged: {error}. See: orvl doctor") from error
    return kept


def _assembled(protocol: str, kind: str | None, answered: str | None) -> dict[str, Any] | None:
    if "event-stream" not in (kind or "") or not answered:
        return None
    from orvl.gateway.wire import read_stream

    answer = read_stream(protocol, answered.encode("utf-8", "surrogateescape"))
    tools = [{"name": tool.name, "arguments": tool.arguments} for tool in answer.tools]
    return {"reasoning": answer.reasoning, "text": answer.text, "tool_calls": tools, "finish": answer.finish}
