"""`orvl export`: runs, scores or trajectories for other programs."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import open_to_read, where
from orvl.errors import UserError, disk_sentence
from orvl.project import open_project
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from orvl.store import Store

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
RUN_PLACES = 4


@click.command()
@click.argument("what", type=click.Choice(["runs", "scores", "atif"]))
@click.argument("words", nargs=-1, metavar="FILE | [RUN | AGENT MODEL PROVIDER EVAL]")
@click.option("--format", "form", type=click.Choice(["csv", "jsonl", "parquet"]), help="Default: by the file's ending.")
@click.option("--output", metavar="DIR", help="Where atif writes a file for each run; `-` for one run to stdout.")
@where
def command(
    what: str, words: tuple[str, ...], form: str | None, output: str | None, project: str | None, store: str | None
) -> int:
    """Write runs or scores as CSV, JSON lines or Parquet; or runs as ATIF.

    `runs` and `scores` are one row per attempt, or per score. FILE may be `-` for standard output, with --format.

    `atif` is one file per run, RUN.atif.json, with the agent's steps as ATIF 1.8: of all runs, of those that the words
    choose (what is left out means all), or of one RUN by the beginning of its key or as AGENT/EVAL/EPISODE.
    """
    if what == "atif":
        return _atif(words, form, output, project, store)
    if len(words) != 1 or output is not None:
        raise UserError(f"Say into which file, and no more: orvl export {what} FILE")
    return _rows(what, words[0], form, project, store)


def _rows(what: str, file: str, form: str | None, project: str | None, store: str | None) -> int:
    from orvl.report.export import write

    chosen = form or FORMATS.get(Path(file).suffix.lower())
    if chosen is None:
        raise UserError(f"'{file}' does not say its format; end it in .csv, .jsonl or .parquet, or give --format.")
    with open_to_read(open_project(project), store) as opened, _writing(file):
        if file == "-":
            rows = write(opened, what, chosen, sys.stdout.buffer)
        else:
            with _whole(Path(file)) as out:
                rows = write(opened, what, chosen, out)
    if file != "-":
        click.echo(f"{rows} {what} written to {file}")
    return 0


def _atif(words: tuple[str, ...], form: str | None, output: str | None, project: str | None, store: str | None) -> int:
    if output is None or form is not None:
        raise UserError("Say into which folder, and no --format: orvl export atif [WORDS] --output DIR")
    with open_to_read(open_project(project), store) as opened, _writing(output):
        found = _trajectories(opened, words)
        if output == "-":
            first, second = next(found, None), next(found, None)
            if first is None or second is not None:
                raise UserError("Standard output takes one run; name it: orvl export atif RUN --output -")
            sys.stdout.buffer.write(_text(first[1]))
            return 0
        folder = Path(output)
        folder.mkdir(parents=True, exist_ok=True)
        written = 0
        for key, told in found:
            with _whole(folder / f"{key[:12]}.atif.json") as out:
                out.write(_text(told))
            written += 1
    click.echo(f"{count(written, 'run')} written to {output}")
    return 0


def _trajectories(opened: Store, words: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The runs that the words stand for: one by its name, else all whose names fit."""
    from orvl.cli.show import find
    from orvl.plan.selection import ORDER, Selection, stored_matcher
    from orvl.report.atif import trajectories

    if len(words) > RUN_PLACES:
        raise UserError("There are too many words; the order is agent model provider eval.")
    cells = [cell for cell in opened.cells() if cell.runs]
    if len(words) == 1 and _is_run(opened, words[0], {cell.agent for cell in cells}):
        return trajectories(opened, [find(opened, words[0])[0]])
    keep = stored_matcher(Selection(**dict(zip(ORDER, words, strict=False))), [cell.names for cell in cells])
    return trajectories(opened, opened.runs([cell.id for cell in cells if keep(cell.names)]))


def _is_run(opened: Store, word: str, agents: set[str]) -> bool:
    """Whether a word names a run, not an agent."""
    return word not in agents and ("/" in word or bool(opened.runs_starting_with(word, 1)))


def _text(told: Any) -> bytes:
    return json.dumps(told, indent=2, allow_nan=False, ensure_ascii=False).encode() + b"\n"


@contextmanager
def _writing(place: str) -> Iterator[None]:
    """What the disk refuses is a sentence."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UserError(f"{place} cannot be written: {disk_sentence(error)}.") from error


@contextmanager
def _whole(path: Path) -> Iterator[BinaryIO]:
    """Writes beside the file and renames, so that a file is whole or not there."""
    partial = path.with_name(path.name + ".part")
    try:
        with open(partial, "wb") as out:
            yield out
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
