"""`orvl gc`: delete unreferenced data."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from operator import methodcaller
from typing import TYPE_CHECKING

import click

from orvl.cli.common import by_name, console, open_to_read, open_to_write, selection_from, where
from orvl.errors import UserError
from orvl.plan.selection import ORDER
from orvl.project import open_project
from orvl.project.names import count
from orvl.trust.control_agents import is_control

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.project import Project
    from orvl.store import Store, StoredRun
    from orvl.types import Eval

KEY = re.compile("[0-9a-f]{6,64}")


@click.command()
@click.argument("words", nargs=-1, metavar="[RUN … | AGENT MODEL PROVIDER EVAL]")
@click.option("--runs", is_flag=True, help="Delete the runs that the words choose, with their scores and labels.")
@click.option("--history", "past", is_flag=True, help="With --runs: only those of files that have changed since.")
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@click.option("--yes", "-y", is_flag=True, help="With --runs: do not ask.")
@by_name
@where
def command(
    words: tuple[str, ...],
    runs: bool,
    past: bool,
    dry_run: bool,
    yes: bool,
    project: str | None,
    store: str | None,
    **named: tuple[str, ...],
) -> int:
    """Delete data that no run refers to: blobs of killed runs, partial files, set-ups of evals that have changed since,
    and judges' answers to questions that are not asked any more.

    Runs are deleted only with --runs, which lists them first and asks: those with these keys, or those that the words
    choose, such as `orvl gc --runs all all mistyped-provider`. Words that are left out mean all.
    """
    from orvl.run.start_cache import unused as unused_starts
    from orvl.store import tree

    if not runs and (words or past or any(named.values())):
        raise UserError(f"To delete runs, add --runs: orvl gc --runs {' '.join(words)}".rstrip())
    if runs and not (words or past or any(named.values())):
        raise UserError(
            "Say which runs to delete: orvl gc --runs AGENT MODEL PROVIDER EVAL (`all` for any), or their keys."
        )
    here = open_project(project)
    evals = [here.eval(name) for name in here.eval_files]
    open_to_read(here, store).close()
    with open_to_write(here, store) as opened:
        if runs and not _drop(here, opened, words, named, past=past, dry_run=dry_run, yes=yes):
            return 0 if dry_run else 1
        referenced = opened.referenced()
        unused = list(opened.blobs.unreferenced(referenced))
        size = sum(size for _, size in unused)
        starts = unused_starts(opened.folder, evals)
        stale = _stale_replies(here, evals, opened)
        if not dry_run:
            for name, _ in unused:
                opened.blobs.delete(name)
            for path in starts:
                tree.remove(path)
            opened.transaction([methodcaller("drop_replies", about, scope) for about, scope, _ in stale])
    verb = "would be deleted" if dry_run else "deleted"
    click.echo(f"{count(len(unused), 'file')}, {size / 1024:.0f} KiB {verb}; {count(len(referenced), 'blob')} in use.")
    if starts:
        click.echo(f"{count(len(starts), 'folder')} set up for changed evals or for overlays {verb}.")
    if stale:
        answers = sum(number for *_, number in stale)
        click.echo(f"{count(answers, 'answer')} of judges to questions that are not asked any more {verb}.")
    return 0


def _drop(
    project: Project,
    store: Store,
    words: tuple[str, ...],
    named: Mapping[str, tuple[str, ...]],
    *,
    past: bool,
    dry_run: bool,
    yes: bool,
) -> bool:
    """Lists runs, asks, and deletes them; False where nothing was deleted."""
    doomed = _doomed(project, store, words, named, past=past)
    if not doomed:
        click.echo("No stored run matches these words.")
        return False
    _list_runs(store, doomed)
    total = count(len(doomed), "run")
    if dry_run:
        click.echo(f"{total} would be deleted, with all scores and labels.")
        return False
    if not yes:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UserError(f"Nothing was deleted. Add --yes to delete {total}; this cannot be undone.")
        if not click.confirm(f"Delete {total} with all scores and labels? This cannot be undone."):
            click.echo("Nothing was deleted.")
            return False
    store.transaction([methodcaller("drop_runs", [run.key for run in doomed])])
    click.echo(f"{total} deleted, with all scores and labels.")
    return True


def _doomed(
    project: Project, store: Store, words: tuple[str, ...], named: Mapping[str, tuple[str, ...]], *, past: bool
) -> list[StoredRun]:
    """Runs by their keys, or all whose names fit."""
    from orvl.plan.identities import identities
    from orvl.plan.selection import stored_matcher

    cells = store.cells()
    if words and all(KEY.fullmatch(word) for word in words) and not {words[0]} & {cell.agent for cell in cells}:
        return [_by_key(store, word) for word in words]
    by_place = {f"{place}_word": word for place, word in zip(ORDER, words, strict=False)}
    selection = selection_from({**by_place, **named, "too_many": words[len(ORDER) :]})
    if selection.metric != "all":
        raise UserError(f"Runs have no metric: leave out '{selection.metric}'.")
    if selection.agent == "all" and selection.eval != "all":
        # A whole eval goes with the runs of its controls.
        selection = replace(selection, agent="all,control:*") if any(is_control(c.agent) for c in cells) else selection
    keep, known = stored_matcher(project, selection, [cell.names for cell in cells]), identities(project, cells)
    return store.runs([cell.id for cell in cells if keep(cell.names) and not (past and cell.id in known.ids)])


def _by_key(store: Store, word: str) -> StoredRun:
    found = store.runs_starting_with(word, 2)
    if len(found) != 1:
        what = "matches several runs" if found else "is no run in the store"
        raise UserError(f"'{word}' {what}. See: orvl report --by run --json")
    return found[0]


def _list_runs(store: Store, runs: Sequence[StoredRun]) -> None:
    """By cell: how many, when, and what they cost."""
    from collections import Counter
    from datetime import datetime

    from orvl.report.terminal import TextColumn, TextTable
    from orvl.report.text import dollars, plain

    ids = {run.cell for run in runs}
    cells, times = {cell.id: cell for cell in store.cells() if cell.id in ids}, store.started(ids)
    numbers = Counter(run.cell for run in runs)
    keys = {run.key for run in runs}
    costs: dict[int, list[float | None]] = {}
    for result in store.run_results(ids):
        if result.key in keys:
            costs.setdefault(result.cell, []).append(result.usage.cost_usd)
    labels = Counter(label.run for label in store.labels() if label.run in keys)
    rows = []
    for number, cell in cells.items():
        first, last = (datetime.fromtimestamp(time).strftime("%Y-%m-%d %H:%M") for time in times[number])
        known = [cost for cost in costs[number] if cost is not None]
        cost = dollars(sum(known)) if len(known) == len(costs[number]) else "unknown"
        rows.append([*map(plain, cell.names), str(numbers[number]), first, last, cost])
    headings = ("agent", "model", "provider", "eval", "runs", "first", "last", "cost")
    console().print(
        TextTable([TextColumn(name, words=place < 4, key=place < 4) for place, name in enumerate(headings)], rows)
    )
    if labels:
        click.echo(f"{count(sum(labels.values()), 'label')} of people would go with them.")


def _stale_replies(project: Project, evals: Sequence[Eval], store: Store) -> list[tuple[str, str, int]]:
    """Answers that were kept for a command that was killed, and that no command would read: the metric, the eval or
    the judge is another one now."""
    from orvl.plan.layout import metric_key
    from orvl.project.judges import LOCAL
    from orvl.store.records import USER, reply_keys

    if not (places := store.reply_places()):
        return []
    judges = {judge.key for judge in (*project.panel(), *project.panel([LOCAL]))}
    metrics = [project.metric(name) for name in project.metric_files]
    asked = {(metric_key(metric, one), judge) for metric in metrics for one in evals for judge in judges}
    return [
        (about, scope, number)
        for about, scope, number in places
        if not about.startswith(USER) and scope not in judges and reply_keys(scope) not in asked
    ]
