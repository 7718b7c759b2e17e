"""`orvl export`: runs, scores or trajectories for other programs; evals for other tools."""

from __future__ import annotations

import json
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import by_name, open_to_read, selection_from, where
from orvl.errors import UserError, disk_sentence
from orvl.plan.private import private_evals
from orvl.plan.selection import ORDER
from orvl.project import open_project
from orvl.project.names import count
from orvl.store.beneath import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from orvl.plan.selection import Selection
    from orvl.project import Project
    from orvl.store import Store, StoredCell, StoredRun

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
RUN_PLACES = 4
RUN_KEY = re.compile(r"\w[\w-]*", re.ASCII)
"""A store may come from somebody else, and its keys become names of files."""


@click.command()
@click.argument("what", type=click.Choice(["runs", "scores", "atif", "harbor"]))
@click.argument("words", nargs=-1, metavar="FILE [AGENT MODEL PROVIDER EVAL METRIC] | [RUN | AGENT …] | EVAL…")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl", "parquet"]), help="Default: by the file name.")
@click.option("--output", metavar="DIR", help="Folder for ATIF files, one per run; `-` for standard output.")
@click.option("--to", metavar="DIR", help="Folder for tasks, one per eval.")
@click.option("--history", "past", is_flag=True, help="Also runs of files that have changed since.")
@by_name
@where
def command(
    what: str,
    words: tuple[str, ...],
    form: str | None,
    output: str | None,
    to: str | None,
    past: bool,
    project: str | None,
    store: str | None,
    **named: tuple[str, ...],
) -> int:
    """Write runs or scores as CSV, JSON lines or Parquet; runs as ATIF; or evals as Harbor tasks.

    `runs` has one row per attempt with its R, R_pen and weights, `scores` one per score with its weight. FILE may be
    `-` for standard output, with --format. The words after it choose, as for `orvl report`. Left out are runs of files
    that have changed since (see --history), and controls, unless they are named.

    `atif` writes one file per run, RUN.atif.json, with the agent's steps in ATIF 1.8: of all runs, of those that the
    words match (omitted words mean all), or of one RUN, by the start of its key or as AGENT/EVAL/EPISODE.

    `harbor` writes each EVAL (a name or a glob) as a Harbor task, DIR/EVAL: one that was imported as it was, byte for
    byte, any other with a step per turn and its checks as a verifier that needs no orvl.
    """
    if what == "harbor":
        from orvl.cli.export_tasks import export_tasks

        if to is None or form or output or past or store or any(named.values()):
            raise UserError("Name evals and a folder, and nothing else: orvl export harbor EVAL… --to DIR")
        return export_tasks(words, to, project)
    if to is not None:
        raise UserError(f"--to is not for {what}. See: orvl export --help")
    if what == "atif":
        return _atif(words, named, form, output, project, store, past=past)
    if not words or output is not None:
        raise UserError(f"Name a file: orvl export {what} FILE [AGENT MODEL PROVIDER EVAL METRIC]")
    return _rows(what, words[0], _selection(words[1:], named), form, project, store, past=past)


def _selection(words: Sequence[str], named: Mapping[str, tuple[str, ...]]) -> Selection:
    """The words by place and by name."""
    by_place = {f"{place}_word": word for place, word in zip(ORDER, words, strict=False)}
    return selection_from({**by_place, **named, "too_many": words[len(ORDER) :]})


def _rows(
    what: str,
    file: str,
    selection: Selection,
    form: str | None,
    project: str | None,
    store: str | None,
    *,
    past: bool,
) -> int:
    from orvl.plan.selection import chosen_metrics
    from orvl.rate.exported import rated
    from orvl.report.export import with_ratings, write_rows

    chosen = form or FORMATS.get(Path(file).suffix.lower())
    if chosen is None:
        raise UserError(f"'{file}' has no known format: end it in .csv, .jsonl or .parquet, or give --format.")
    here = open_project(project)
    with open_to_read(here, store) as opened, _writing(file):
        cells, current, notes = _cells(here, opened, selection, past=past)
        metrics = chosen_metrics(here, selection, cells)
        ratings = rated(here, opened, cells, metrics)
        names, chunks = opened.export(what, [cell.id for cell in cells])
        if private := private_evals(here, cells):
            chunks = _without_words(names, chunks, private)
            notes.append(f"Of private evals only numbers are written: {', '.join(sorted(private))}.")
        names, chunks = with_ratings(
            names, chunks, {cell.key for cell in cells if cell.id in current}, ratings, metrics
        )
        if file == "-":
            rows = write_rows(names, chunks, chosen, sys.stdout.buffer)
        else:
            with replacing(Path(file)) as out:
                rows = write_rows(names, chunks, chosen, out)
    if file != "-":
        click.echo(f"{rows} {what} written to {file}")
    for note in notes:
        click.echo(note, err=True)
    return 0


def _cells(
    project: Project, store: Store, selection: Selection, *, past: bool
) -> tuple[list[StoredCell], frozenset[int], list[str]]:
    """The cells that are meant, which of them are of the files as they are now, and what is to be said of the rest."""
    from orvl.plan.identities import identities
    from orvl.plan.selection import stored_matcher
    from orvl.rate.common import control_agents

    stored = store.cells()
    keep = stored_matcher(project, selection, [cell.names for cell in stored])
    known = identities(project, stored)
    cells = [cell for cell in known.cells if keep(cell.names) and (past or cell.id in known.ids)]
    notes = [] if past else known.sentences(keep)
    controls = control_agents(project, (cell.agent for cell in cells)) if selection.agent == "all" else frozenset()
    others = [cell for cell in cells if cell.agent not in controls]
    if controls and others:
        left_out = sum(cell.runs for cell in cells) - sum(cell.runs for cell in others)
        names = ", ".join(sorted(controls))
        notes.append(f"Left out {count(left_out, 'run')} of controls ({names}). Name them to have them: --agent NAME")
    return others or cells, known.ids, notes


def _without_words(names: Sequence[str], chunks: Iterator[list[Any]], private: frozenset[str]) -> Iterator[list[Any]]:
    """The rows, those of private evals without what an agent, a check or a judge has said."""
    eval_, reason = names.index("eval"), names.index("reason")
    for chunk in chunks:
        yield [(*row[:reason], None, *row[reason + 1 :]) if row[eval_] in private else row for row in map(tuple, chunk)]


def _atif(
    words: tuple[str, ...],
    named: Mapping[str, tuple[str, ...]],
    form: str | None,
    output: str | None,
    project: str | None,
    store: str | None,
    *,
    past: bool,
) -> int:
    if output is None or form is not None:
        raise UserError("Name a folder, without --format: orvl export atif [WORDS] --output DIR")
    here = open_project(project)
    with open_to_read(here, store) as opened, _writing(output):
        found = _trajectories(opened, _chosen(here, opened, words, named, past=past))
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
    from orvl.capture.stored_run import NAMES, prompts_of
    from orvl.report.atif import trajectory

    cells = {cell.id: {name: getattr(cell, name) for name in NAMES} for cell in store.cells()}
    for run in runs:
        attempt = store.attempt(run.attempt)[0]
        steps = store.blobs.get(attempt.steps) if attempt.steps else b"[]"
        prompts, scores = prompts_of(store, run.cell, attempt), store.scores(run.attempt)
        yield run.key, trajectory(run.key, cells[run.cell], run.episode, prompts, attempt, steps, scores)


def _chosen(
    project: Project, store: Store, words: tuple[str, ...], named: Mapping[str, tuple[str, ...]], *, past: bool
) -> Sequence[StoredRun]:
    """One run by its name, else all runs whose names match the words."""
    from orvl.capture.stored_run import find_run

    if len(words) > RUN_PLACES:
        raise UserError("Too many words; the order is agent model provider eval.")
    agents = {cell.agent for cell in store.cells() if cell.runs}
    if len(words) == 1 and _is_run(store, word := words[0], agents):
        run, cell = find_run(project, store, word)
        if cell.imported:
            raise UserError(f"The run {run.key[:12]} was imported: orvl does not know its steps.")
        if private_evals(project, [cell]):
            raise UserError(f"The eval {cell.eval} is private: its runs are not exported. See: orvl show {word}")
        return [run]
    cells, *_ = _cells(project, store, _selection(words, named), past=past)
    private = private_evals(project, cells)
    if left_out := sum(cell.runs for cell in cells if cell.eval in private):
        names = ", ".join(sorted(private))
        click.echo(f"Left out {count(left_out, 'run')} of private evals: {names}.", err=True)
    return store.runs([cell.id for cell in cells if not cell.imported and cell.eval not in private])


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
