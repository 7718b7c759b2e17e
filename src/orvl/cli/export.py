"""`orvl export`: runs, scores or trajectories for other programs."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import open_to_read, where
from orvl.errors import UserError, disk_sentence
from orvl.project import open_project
from orvl.project.names import count
from orvl.store.beneath import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orvl.store import Store, StoredRun

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
RUN_PLACES = 4
RUN_KEY = re.compile(r"\w[\w-]*", re.ASCII)
"""A store may come from somebody else, and its keys become names of files."""


@click.command()
@click.argument("what", type=click.Choice(["runs", "scores", "atif"]))
@click.argument("words", nargs=-1, metavar="FILE | [RUN | AGENT MODEL PROVIDER EVAL]")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl", "parquet"]), help="Default: by the file name.")
@click.option("--output", metavar="DIR", help="Folder for ATIF files, one per run; `-` for standard output.")
@where
def command(
    what: str, words: tuple[str, ...], form: str | None, output: str | None, project: str | None, store: str | None
) -> int:
    """Write runs or scores as CSV, JSON lines or Parquet; or runs as ATIF.

    `runs` has one row per attempt, `scores` one per score. FILE may be `-` for standard output, with --format.

    `atif` writes one file per run, RUN.atif.json, with the agent's steps in ATIF 1.8: of all runs, of those that the
    words match (omitted words mean all), or of one RUN, by the start of its key or as AGENT/EVAL/EPISODE.
    """
    if what == "atif":
        return _atif(words, form, output, project, store)
    if len(words) != 1 or output is not None:
        raise UserError(f"Name one file: orvl export {what} FILE")
    return _rows(what, words[0], form, project, store)


def _rows(what: str, file: str, form: str | None, project: str | None, store: str | None) -> int:
    from orvl.report.export import write_rows

    chosen = form or FORMATS.get(Path(file).suffix.lower())
    if chosen is None:
        raise UserError(f"'{file}' has no known format: end it in .csv, .jsonl or .parquet, or give --format.")
    with open_to_read(open_project(project), store) as opened, _writing(file):
        if file == "-":
            rows = write_rows(*opened.export(what), chosen, sys.stdout.buffer)
        else:
            with replacing(Path(file)) as out:
                rows = write_rows(*opened.export(what), chosen, out)
    if file != "-":
        click.echo(f"{rows} {what} written to {file}")
    return 0


def _atif(words: tuple[str, ...], form: str | None, output: str | None, project: str | None, store: str | None) -> int:
    if output is None or form is not None:
        raise UserError("Name a folder, without --format: orvl export atif [WORDS] --output DIR")
    with open_to_read(open_project(project), store) as opened, _writing(output):
        found = _trajectories(opened, _chosen(opened, words))
        if output == "-":
            first, second = next(found, None), next(found, None)
            if first is None or second is not None:
                raise UserError("Only one run can go to standard output; name it: orvl export atif RUN --output -")
            sys.stdout.buffer.write(_text(first[1]))
            return 0
        folder = Path(output)
        folder.mkdir(parents=True, exist_ok=True)
        written = 0
        for key, told in found:
            if not RUN_KEY.fullmatch(key):
                raise UserError(f"The store has a run with the key '{key[:20]}', which cannot be a file's name.")
            with replacing(folder / f"{key[:12]}.atif.json") as out:
                out.write(_text(told))
            written += 1
    click.echo(f"{count(written, 'run')} written to {output}")
    return 0


def _trajectories(store: Store, runs: Iterable[StoredRun]) -> Iterator[tuple[str, Any]]:
    """These runs by their keys, each with its last attempt."""
    from orvl.capture.stored_run import NAMES
    from orvl.report.atif import trajectory

    cells = {cell.id: {name: getattr(cell, name) for name in NAMES} for cell in store.cells()}
    for run in runs:
        attempt = store.attempt(run.attempt)[0]
        steps = store.blobs.get(attempt.steps) if attempt.steps else b"[]"
        prompts, scores = store.prompts(run.cell), store.scores(run.attempt)
        yield run.key, trajectory(run.key, cells[run.cell], run.episode, prompts, attempt, steps, scores)


def _chosen(store: Store, words: tuple[str, ...]) -> Sequence[StoredRun]:
    """One run by its name, else all runs whose names match the words."""
    from orvl.capture.stored_run import find_run
    from orvl.plan.selection import ORDER, Selection, stored_matcher

    if len(words) > RUN_PLACES:
        raise UserError("Too many words; the order is agent model provider eval.")
    cells = [cell for cell in store.cells() if cell.runs]
    if len(words) == 1 and _is_run(store, words[0], {cell.agent for cell in cells}):
        return [find_run(store, words[0])[0]]
    keep = stored_matcher(Selection(**dict(zip(ORDER, words, strict=False))), [cell.names for cell in cells])
    return store.runs([cell.id for cell in cells if keep(cell.names)])


def _is_run(opened: Store, word: str, agents: set[str]) -> bool:
    """Whether a word names a run, not an agent."""
    return word not in agents and ("/" in word or bool(opened.runs_starting_with(word, 1)))


def _text(told: Any) -> bytes:
    return json.dumps(told, indent=2, allow_nan=False, ensure_ascii=False).encode() + b"\n"


@contextmanager
def _writing(place: str) -> Iterator[None]:
    """An error of the disk is a sentence."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"Cannot write {place}: {disk_sentence(error)}.") from error
