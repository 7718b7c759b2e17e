"""`orvl gc`: delete unreferenced data."""

from __future__ import annotations

import click

from orvl.cli.common import open_to_read, open_to_write, where
from orvl.project import open_project
from orvl.project.names import count


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would be deleted.")
@where
def command(dry_run: bool, project: str | None, store: str | None) -> int:
    """Delete data that no run refers to: blobs of killed runs, partial files, and set-ups of evals that have changed
    since.

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
        if not dry_run:
            for name, _ in unused:
                opened.blobs.delete(name)
            for path in starts:
                tree.remove(path)
    verb = "would be deleted" if dry_run else "deleted"
    click.echo(f"{count(len(unused), 'file')}, {size / 1024:.0f} KiB {verb}; {count(len(referenced), 'blob')} in use.")
    if starts:
        click.echo(f"{count(len(starts), 'folder')} set up for changed evals or for overlays {verb}.")
    return 0
