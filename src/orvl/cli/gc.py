"""`orvl gc`: delete unreferenced data."""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING

import click

from orvl.cli.common import open_to_read, open_to_write, where
from orvl.project import open_project
from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.project import Project
    from orvl.store import Store
    from orvl.types import Eval


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@where
def command(dry_run: bool, project: str | None, store: str | None) -> int:
    """Delete data that no run refers to: blobs of killed runs, partial files, set-ups of evals that have changed since,
    and judges' answers to questions that are not asked any more.

    Runs, scores and files of runs are never deleted.
    """
    from orvl.run.start_cache import unused as unused_starts
    from orvl.store import tree

    here = open_project(project)
    evals = [here.eval(name) for name in here.eval_files]
    open_to_read(here, store).close()
    with open_to_write(here, store) as opened:
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


def _stale_replies(project: Project, evals: Sequence[Eval], store: Store) -> list[tuple[str, str, int]]:
    """Answers that were kept for a command that was killed, and that no command would read: the metric, the eval or
    the judge is another one now."""
    from orvl.plan.layout import metric_key
    from orvl.project.judges import LOCAL
    from orvl.store.records import reply_keys

    if not (places := store.reply_places()):
        return []
    judges = {judge.key for judge in (*project.panel(), *project.panel([LOCAL]))}
    metrics = [project.metric(name) for name in project.metric_files]
    asked = {(metric_key(metric, one), judge) for metric in metrics for one in evals for judge in judges}
    return [
        (about, scope, number)
        for about, scope, number in places
        if scope not in judges and reply_keys(scope) not in asked
    ]
