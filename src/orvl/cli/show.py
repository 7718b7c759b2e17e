"""`orvl show RUN`: one run in full."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from orvl.capture.stored_run import call_details, captured, file_of, load_run, screenshot_of
from orvl.cli.common import JsonOut, as_json, console, open_to_read, where
from orvl.errors import UserError
from orvl.project import open_project
from orvl.report import calls
from orvl.report.output import print_output
from orvl.report.run import print_parts
from orvl.report.text import plain

if TYPE_CHECKING:
    from orvl.capture.stored_run import RunDetails
    from orvl.project import Project
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
@click.option("--history", "past", is_flag=True, help="Runs of AGENT[/EVAL] whose files have changed since.")
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
    past: bool,
    json_: bool,
    project: str | None,
    store: str | None,
) -> int:
    """Show one run: what it did, what it left behind, how it was scored and rated.

    RUN is the start of a run's key, as `orvl report --by run` prints it, or AGENT/EVAL/EPISODE. AGENT/EVAL and AGENT
    explain the rating of all its runs on an eval, or on all evals: weights × scores = R, and where points were lost.
    """
    if json_ and (part in ("diff", "output") or path is not None):
        raise UserError("--json shows the whole run; leave it out with --diff, --output or --file.")
    if metric is not None and judge is None:
        raise UserError("--metric goes with --judge NAME.")
    out = JsonOut() if json_ else None
    opened = open_project(project)
    with open_to_read(opened, store) as kept:
        if past:
            return _history(opened, kept, run, out)
        plain_show = part is None and path is None and shot is None and call is None and attempt is None
        if plain_show and (agent_eval := _row_of(kept, run)):
            return _explain(opened, kept, *agent_eval, out)
        details = load_run(opened, kept, run, attempt)
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
            lines = list(calls.lines(kept.calls(details.last.id)))
            for line in lines or ["The run made no model calls through orvl."]:
                console().print_marked("", line, indent=4)
        else:
            _show(opened, kept, details, out)
    return 0


def _history(project: Project, store: Store, word: str, out: JsonOut | None) -> int:
    """What there is of an agent, or of it on an eval, under other identities."""
    from orvl.rate.history import history
    from orvl.report.history import history_json, print_history

    agent, eval_, *_ = [*word.split("/"), ""]
    rows = history(project, store, lambda names: names[0] == agent and eval_ in ("", names[3]), (), None)
    if out:
        out.write({"schema": 1, "history": history_json(rows)})
    else:
        print_history(console(), rows)
    return 0


def _row_of(store: Store, word: str) -> tuple[str, str | None] | None:
    """AGENT or AGENT/EVAL, where the store has runs of them; None where the word names a run."""
    agent, _, eval_ = word.partition("/")
    known = {(cell.agent, cell.eval) for cell in store.cells() if cell.runs}
    if eval_:
        return (agent, eval_) if (agent, eval_) in known else None
    return (agent, None) if any(agent == name for name, _ in known) else None


def _explain(project: Project, store: Store, agent: str, eval_: str | None, out: JsonOut | None) -> int:
    """The ratings of an agent as a report has them, each with what it is made of."""
    from orvl.plan.identities import identities
    from orvl.rate.ledger import mean_of, of_rows
    from orvl.report.ledger import print_evals, print_ledger

    found = of_rows(project, store, agent, eval_)
    notes = identities(project, store.cells()).sentences(lambda names: names[0] == agent and eval_ in (None, names[3]))
    if out:
        rows = [
            {
                **dict(zip(("agent", "model", "provider"), names, strict=True)),
                "eval": eval_,
                "R": row.R,
                "rating": mean_of(list(ledgers.values())).as_json(),
                "evals": {name: ledger.as_json() for name, ledger in ledgers.items()},
            }
            for names, (row, ledgers) in found.items()
        ]
        out.write({"schema": 1, "ratings": rows, "warnings": notes})
        return 0
    terminal = console()
    for names, (row, ledgers) in found.items():
        terminal.print(plain(f"{' '.join(names)}{f' {eval_}' if eval_ else ''}: R {row.R:.3f}"), "bold")
        if len(ledgers) > 1:
            print_evals(terminal, ledgers, row.R or 0.0)
        print_ledger(terminal, mean_of(list(ledgers.values())))
    if not found:
        terminal.print(f"No run of {plain(agent)} has a rating.")
    for note in notes:
        terminal.print(f"! {plain(note)}", "yellow")
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


def _show(project: Project, store: Store, run: RunDetails, out: JsonOut | None) -> None:
    from orvl.plan.weights import overridden, override_sentence
    from orvl.report.ledger import print_ledger
    from orvl.report.shown_run import of_this_store, shown_run

    shown = shown_run(project, store, run)
    if out:
        out.write(shown.as_json())
        return
    terminal, left_files = console(), bool(run.attempts) and run.last.attempt.tree is not None
    capture = captured(store, run) if left_files else None
    terminal.print(plain(f"run {run.key[:12]}: {' '.join(run.cell.names)} #{run.episode}"))
    with of_this_store(run):
        terminal.print(plain(shown.answer), "bold")
    if shown.changed is not None:
        what = ", ".join(shown.changed) or "its files"
        terminal.print(plain(f"! This run is history: changed since: {what}."), "yellow")
    if shown.ledger:
        print_ledger(terminal, shown.ledger)
        # An imported eval has no file, and that of an older run may be gone.
        is_known = run.cell.imported is None and run.cell.eval in project.eval_files
        if is_known and (changes := overridden(project, project.eval(run.cell.eval))):
            terminal.print(plain(override_sentence(changes)), "dim")
    with of_this_store(run):
        print_parts(terminal, run, shown.attempts, capture, shown.curves, shown.good_curves)
