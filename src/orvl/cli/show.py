"""`orvl show RUN`: one run in full."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from orvl.capture.stored_run import attempt_details, call_details, captured, file_of, load_run, screenshot_of
from orvl.cli.common import JsonOut, as_json, console, open_to_read, where
from orvl.errors import UserError
from orvl.project import open_project
from orvl.report import calls
from orvl.report.output import print_output
from orvl.report.run import print_run, run_json
from orvl.report.text import plain

if TYPE_CHECKING:
    from orvl.capture.stored_run import RunDetails
    from orvl.store import Store


@click.command()
@click.argument("run")
@click.option("--diff", "part", flag_value="diff", help="Only the diff of what the agent changed.")
@click.option("--output", "part", flag_value="output", help="Only what the agent printed, on both streams.")
@click.option("--file", "path", metavar="PATH", help="Only the content of one file that it left.")
@click.option("--shot", metavar="NAME", help="Only one screenshot, as PNG, such as desktop-light.")
@click.option("--calls", "part", flag_value="calls", help="Only the model calls, one line each.")
@click.option("--call", "call", type=click.IntRange(1), metavar="N", help="Only one model call, verbatim.")
@click.option("--judge", metavar="NAME", help="Only what a judge was sent and what it said, word for word.")
@click.option("--metric", metavar="NAME", help="With --judge: only on this metric.")
@click.option("--attempt", type=click.IntRange(1), metavar="N", help="One attempt of a run that was retried.")
@as_json
@where
def command(
    run: str,
    part: str | None,
    path: str | None,
    shot: str | None,
    call: int | None,
    judge: str | None,
    metric: str | None,
    attempt: int | None,
    json_: bool,
    project: str | None,
    store: str | None,
) -> int:
    """Show one run: what it did, what it left behind, how it was scored.

    RUN is the start of a run's key, as `orvl report --by run` prints it, or AGENT/EVAL/EPISODE.
    """
    if json_ and (part in ("diff", "output") or path is not None):
        raise UserError("--json shows the whole run; leave it out with --diff, --output or --file.")
    if metric is not None and judge is None:
        raise UserError("--metric goes with --judge NAME.")
    out = JsonOut() if json_ else None
    opened = open_project(project)
    with open_to_read(opened, store) as kept:
        details = load_run(kept, run, attempt)
        if path is not None:
            sys.stdout.buffer.write(file_of(kept, details, path))
        elif shot is not None:
            if sys.stdout.isatty():
                raise UserError(
                    f"A screenshot is not text. Write it to a file: orvl show {run} --shot {shot} > shot.png"
                )
            sys.stdout.buffer.write(screenshot_of(kept, details, shot))
        elif judge is not None:
            _show_judge(kept, details, judge, metric, out)
        elif call is not None:
            _show_call(kept, details, call, out)
        elif part == "diff":
            click.echo(plain(captured(kept, details).diff, lines=True))
        elif part == "output":
            print_output(details.last.attempt.turns, kept.blobs.get, sys.stdout.write, in_full=not sys.stdout.isatty())
        elif part == "calls" and not out:
            lines = calls.lines(kept.calls(details.last.id))
            click.echo("\n".join(lines) or "The run made no model calls through orvl.")
        else:
            _show(kept, details, out)
    return 0


def _show_judge(store: Store, run: RunDetails, judge: str, metric: str | None, out: JsonOut | None) -> None:
    from orvl.report import judged

    found = judged.questions(store, run.last.id, judge, metric)
    if out:
        out.write({"schema": 1, "run": run.key, "attempt": run.last.position, "judge": judge, "asked": found})
    else:
        click.echo("\n".join(plain(line) for one in found for line in judged.lines(one)))


def _show_call(store: Store, run: RunDetails, number: int, out: JsonOut | None) -> None:
    details = call_details(store, run, number)
    if out:
        call = calls.call_json(details)
        out.write({"schema": 1, "run": run.key, "attempt": run.last.position, "call": call})
    else:
        click.echo("\n".join(calls.call_lines(details)))


def _show(store: Store, run: RunDetails, out: JsonOut | None) -> None:
    attempts = [attempt_details(store, stored) for stored in run.attempts]
    if out:
        out.write(run_json(run, attempts))
    else:
        left_files = bool(run.attempts) and run.last.attempt.tree is not None
        print_run(console(), run, attempts, captured(store, run) if left_files else None)
