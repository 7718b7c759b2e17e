"""`orvl import results`: results of other tools on the board."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, open_to_write
from orvl.errors import UserError, disk_sentence
from orvl.project import open_project
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orvl.plan.imported import Changes
    from orvl.project import Project
    from orvl.project.results_file import ImportedResults

STDIN = "-"
STDIN_NAME = "standard input"


def import_results(file: str, given: Mapping[str, Any]) -> int:
    """Reads a file of results, and changes the board as a whole or not at all."""
    from orvl.plan.imported import apply, changes_by
    from orvl.project.results_file import Reader

    out = JsonOut() if given["json_"] else None
    project = open_project(given["project"])
    shown = STDIN_NAME if file == STDIN else file
    known = {*project.metric_files, *project.settings.metrics}
    results = Reader(shown, known, given["scale"] or 1.0, given["ignore"]).cells(_read(file))
    source = _source(project, file, given["source"])
    with open_to_write(project, given["store"]) as store:
        changes = changes_by(source, results.cells, store.cells(), whole=source != STDIN_NAME)

        def work(inside: Any) -> None:
            call = inside.add_call({"import": source}, 0)
            apply(inside, source, changes, call)
            inside.add_end(call)

        if changes.added or changes.replaced or changes.dropped:
            store.transaction([work])
    if out:
        out.write(_as_json(project, source, results, changes))
        return 0
    for sentence in _sentences(project, source, results, changes):
        click.echo(sentence)
    return 0


def _read(file: str) -> bytes:
    """No more than a file of results may have, and one byte that tells that there is more."""
    from orvl.project.results_file import MOST_BYTES

    try:
        if file == STDIN:
            return sys.stdin.buffer.read(MOST_BYTES + 1)
        with open(file, "rb") as opened:
            return opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = disk_sentence(error) if isinstance(error, OSError) else str(error)
        raise UserError(f"Cannot read {file}: {why}.") from error


def _source(project: Project, file: str, name: str | None) -> str:
    """What an import goes by: importing it again replaces it. A file is known by its place, seen from the project."""
    if name is None and file == STDIN:
        return STDIN_NAME
    if name is None:
        path = Path(file).resolve()
        name = path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else str(path)
    if not name.strip() or not name.isprintable():
        raise UserError(f"The source cannot be named {ascii(name)[:80]}. Give it a plain name: --as NAME")
    return name.strip()


def _sentences(project: Project, source: str, results: ImportedResults, changes: Changes) -> Iterator[str]:
    from orvl.plan.imported import weights_of, weights_sentence

    changed = [*changes.added, *changes.replaced]
    if not changed and not changes.dropped:
        yield f"Nothing has changed: {_runs(results.cells)} from {source}, imported before."
        return
    if changed:
        yield f"Imported {_runs(changed)} of {count(len(changed), 'cell')} from {source}."
    if changes.replaced:
        yield f"{count(len(changes.replaced), 'cell')} of them replaced what {source} said before."
    if changes.unchanged:
        yield f"{count(len(changes.unchanged), 'cell')} had not changed."
    if changes.dropped:
        dropped = count(sum(cell.runs for cell in changes.dropped), "run")
        yield f"Deleted {dropped} of {count(len(changes.dropped), 'cell')} that {source} does not name any more."
    if results.repeated:
        yield f"Skipped {count(results.repeated, 'line')} that repeated another one."
    if silent := _silent(results):
        yield f"{count(silent, 'run')} without a score: errored, no part of any mean."
    yield weights_sentence(weights_of(project, _metrics(results)))
    yield "See them with: orvl report"


def _as_json(project: Project, source: str, results: ImportedResults, changes: Changes) -> dict[str, Any]:
    from orvl.plan.imported import weights_of

    cells = {name: len(getattr(changes, name)) for name in ("added", "replaced", "unchanged", "dropped")}
    return {
        "schema": 1,
        "source": source,
        "runs": sum(len(cell.runs) for cell in results.cells),
        "without_score": _silent(results),
        "repeated": results.repeated,
        "cells": cells,
        "weights": weights_of(project, _metrics(results)),
    }


def _runs(cells: Sequence[Any]) -> str:
    return count(sum(len(cell.runs) for cell in cells), "run")


def _silent(results: ImportedResults) -> int:
    return sum(all(value is None for value in run.scores) for cell in results.cells for run in cell.runs)


def _metrics(results: ImportedResults) -> list[str]:
    return sorted({name for cell in results.cells for name in cell.metrics})
