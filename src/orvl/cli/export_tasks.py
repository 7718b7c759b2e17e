"""`orvl export harbor`: evals as tasks of another tool."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import click

from orvl.errors import TaskRefused, UserError, disk_sentence
from orvl.project import open_project
from orvl.project.names import did_you_mean, matching
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.project import Project


def export_tasks(words: Sequence[str], to: str, project: str | None) -> int:
    """Writes a task for each eval; 1 if some cannot be written as one."""
    here = open_project(project)
    names = _names(here, words)
    folder = Path(to)
    refused = 0
    for name in names:
        try:
            how = _write(here, name, folder)
            click.echo(f"{name}: written to {folder / name}, {how}.")
        except TaskRefused as error:
            refused += 1
            click.echo(f"{name}: not written: {error}.", err=True)
    return int(refused > 0)


def _names(project: Project, words: Sequence[str]) -> list[str]:
    if not words:
        raise UserError("Name an eval: orvl export harbor EVAL… --to DIR")
    names: list[str] = []
    for word in ",".join(words).split(","):
        found = matching(word, project.eval_files)
        if not found:
            raise UserError(f"There is no eval '{word}'. {did_you_mean(word, project.eval_files)}")
        names += found
    return list(dict.fromkeys(names))


def _write(project: Project, name: str, folder: Path) -> str:
    """A task is there as a whole, or not at all."""
    from orvl.project.tasks.harbor_export import export_harbor

    target, beside = folder / name, folder / f".export-{secrets.token_hex(8)}"
    if target.exists():
        raise TaskRefused(f"{target} is there already")
    try:
        beside.mkdir(parents=True)
        how = export_harbor(project.eval(name), beside, project.settings.limits.turn)
        beside.rename(target)
        return how
    except OSError as error:
        raise UserError(f"Cannot write {target}: {disk_sentence(error)}.") from error
    finally:
        tree.remove(beside)
