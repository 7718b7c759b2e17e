"""`orvl export`: runs or scores for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orvl.cli.common import open_to_read, where
from orvl.errors import UserError, disk_sentence
from orvl.project import open_project

if TYPE_CHECKING:
    from typing import BinaryIO

    from orvl.store import Store

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


@click.command()
@click.argument("what", type=click.Choice(["runs", "scores"]))
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--format", "form", type=click.Choice(["csv", "jsonl", "parquet"]), help="Default: by the file's ending.")
@where
def command(what: str, file: str, form: str | None, project: str | None, store: str | None) -> int:
    """Write runs or scores as CSV, JSON lines or Parquet.

    One row per attempt, or per score. FILE may be `-` for standard output, with --format.
    """
    from orvl.report.export import write

    chosen = form or FORMATS.get(Path(file).suffix.lower())
    if chosen is None:
        raise UserError(f"'{file}' does not say its format; end it in .csv, .jsonl or .parquet, or give --format.")
    with open_to_read(open_project(project), store) as opened:
        try:
            if file == "-":
                rows = write(opened, what, chosen, sys.stdout.buffer)
            else:
                rows = _to_file(opened, what, chosen, Path(file))
        except BrokenPipeError:
            raise
        except OSError as error:
            raise UserError(f"{file} cannot be written: {disk_sentence(error)}.") from error
    if file != "-":
        click.echo(f"{rows} {what} written to {file}")
    return 0


def _to_file(opened: Store, what: str, form: str, path: Path) -> int:
    """Writes beside the file and renames, so that a file is whole or not there."""
    from orvl.report.export import write

    partial = path.with_name(path.name + ".part")
    try:
        out: BinaryIO
        with open(partial, "wb") as out:
            rows = write(opened, what, form, out)
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)
    return rows
