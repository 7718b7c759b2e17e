"""What `certify` and `calibrate` share: controls are laid down, captured and judged as runs are."""

from __future__ import annotations

import secrets
import sys
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import JsonOut, as_json, console, open_to_read, open_to_write, open_with_keys_hidden, where
from orvl.cli.common import store_exists as there_is_a_store
from orvl.cli.complete import word as complete
from orvl.errors import UserError
from orvl.plan.cost import may_cost
from orvl.plan.options import RunOptions
from orvl.plan.remaining import remaining_of
from orvl.plan.selection import Selection, chosen_evals, chosen_metrics
from orvl.sandbox.workdir import WorkDir

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from orvl.engine import Execution
    from orvl.plan.remaining import Remaining
    from orvl.project import Project
    from orvl.store import Store
    from orvl.trust.ladder import Ladder

    Finish = Callable[[Project, Ladder, Store, JsonOut | None], int]

REPEATS = 3
OPTIONS = (
    click.option("--eval", multiple=True, shell_complete=complete, metavar="WORD", help="The evals (default: all)."),
    click.option(
        "--metric", multiple=True, shell_complete=complete, metavar="WORD", help="The metrics (default: all)."
    ),
    click.option("--judge", multiple=True, metavar="NAME", help="A judge for the panel, instead of all in orvl.toml."),
    click.option(
        "--episodes", type=click.IntRange(1), default=REPEATS, show_default=True, help="Repeats of each control."
    ),
    click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Runs that are scored at once."),
    click.option(
        "--budget", type=click.FloatRange(0, min_open=True), metavar="USD", help="Stop when judges spent this."
    ),
    click.option("--allow-unpriced", is_flag=True, help="With --budget: ask judges without a price, too."),
    click.option("--unanswered", is_flag=True, help="Ask once more what a judge did not answer."),
    click.option("--fresh", is_flag=True, help="Ask everything again, and count only the new answers."),
    click.option("--dry-run", is_flag=True, help="Show the controls, and what judging them may cost."),
    click.option("--yes", "-y", is_flag=True, help="Do not ask before many questions that cost money."),
    click.option("--quiet", "-q", is_flag=True, help="No progress."),
)


def ladder_options(function: Callable[..., Any]) -> Callable[..., Any]:
    function = as_json(where(function))
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def over_the_ladder(
    given: dict[str, Any], controls: Collection[str] | None, finish: Finish, *, needs_judges: bool = False
) -> int:
    """Plans the controls, has judged what is not yet, and hands all to `finish`."""
    out = JsonOut() if given["json_"] else None
    project = open_with_keys_hidden(given["project"])
    if needs_judges and not project.panel(given["judge"]):
        raise UserError(
            "There is no judge to calibrate: add one to orvl.toml under [judges.NAME], or name one with --judge."
        )
    with closing(WorkDir()) as work:  # which is swept also when this process is killed
        ladder = _ladder(project, given, controls, work.root / "ladder")
        if given["dry_run"]:
            return _dry_run(project, ladder, given, out)
        with open_to_write(project, given["store"]) as store:
            ladder = ladder.newest(store, fresh=given["fresh"])
            remaining = _remaining(ladder, store, given)
            _guard(project, ladder, remaining, given)
            execution = _carry_out(project, ladder, remaining, store, given)
            if execution.interrupted or (execution.over_budget and _is_unfinished(ladder, store, execution)):
                return _unfinished(execution, given)
            return finish(project, ladder, store, out)


def _ladder(project: Project, given: dict[str, Any], controls: Collection[str] | None, folder: Path) -> Ladder:
    from orvl.trust.ladder import ladder_plan

    selection = Selection(eval=",".join(given["eval"]) or "all", metric=",".join(given["metric"]) or "all")
    return ladder_plan(
        project,
        chosen_evals(project, selection),
        folder,
        controls=controls,
        metrics=chosen_metrics(project, selection),
        judges=given["judge"],
        episodes=given["episodes"],
        seed=secrets.randbits(32),
    )


def _remaining(ladder: Ladder, store: Store | None, given: dict[str, Any]) -> Remaining:
    """What is left to do; what was not answered is asked again where that is wanted."""
    remaining = remaining_of(ladder.plan, store)
    if store is None or not given["unanswered"]:
        return remaining
    from orvl.trust.measure import unanswered

    troubled = unanswered(store)
    again = tuple(run for run in remaining.reused if remaining.stored[run.key].attempt in troubled)
    reused = tuple(run for run in remaining.reused if run not in again)
    return replace(remaining, to_score=(*remaining.to_score, *again), reused=reused)


def _carry_out(
    project: Project, ladder: Ladder, remaining: Remaining, store: Store, given: dict[str, Any]
) -> Execution:
    from orvl.cli.watch import SCORED_AT_ONCE, watched
    from orvl.pipeline import Prepared, note_planned

    options = RunOptions(
        Selection(eval=",".join(ladder.evals)),
        concurrency=given["concurrency"] or project.settings.concurrency or SCORED_AT_ONCE,
        budget=given["budget"],
        allow_unpriced=given["allow_unpriced"],
        samples="unanswered" if given["unanswered"] else "missing",
        written=tuple(sys.argv[1:]),
    )
    note_planned(ladder.plan, store)
    return watched(project, Prepared(ladder.plan, remaining), options, store, quiet=given["quiet"])


def _is_unfinished(ladder: Ladder, store: Store, execution: Execution) -> bool:
    left = remaining_of(ladder.plan, store)
    return execution.unjudged or bool(left.to_run or left.to_score)


def _unfinished(execution: Execution, given: dict[str, Any]) -> int:
    why = "interrupted" if execution.interrupted else "stopped by the budget"
    how = "the same command without --fresh" if given["fresh"] else "the same command"
    sys.stderr.write(f"Nothing was written: {why}. The answers so far are kept; {how} continues.\n")
    return 130 if execution.interrupted else 3


def _questions(project: Project, ladder: Ladder, remaining: Remaining) -> tuple[int, int]:
    """How many scores of judges are wanted at most, and how many of them may cost money."""
    asked = paid = 0
    for run in (*remaining.to_run, *remaining.to_score):
        panel = ladder.plan.panels[run.cell.eval.name]
        judged = sum(metric.judged for metric in panel.metrics)
        asked += judged * len(panel.judges)
        paid += judged * sum(
            not judge.is_local and may_cost(project, judge.provider, judge.model) for judge in panel.judges
        )
    return asked, paid


def _guard(project: Project, ladder: Ladder, remaining: Remaining, given: dict[str, Any]) -> None:
    from orvl.pipeline import ASK_ABOVE

    _, paid = _questions(project, ladder, remaining)
    if paid <= ASK_ABOVE or given["yes"] or given["budget"] is not None:
        return
    what = f"judges that cost money for up to {paid} scores"
    if sys.stdin.isatty() and sys.stderr.isatty() and not given["json_"]:
        if click.confirm(f"This asks {what}. Go on?", err=True):
            return
        raise UserError("Nothing was asked.")
    raise UserError(f"This would ask {what}. See it with --dry-run, then add --yes, or --budget USD.")


def _dry_run(project: Project, ladder: Ladder, given: dict[str, Any], out: JsonOut | None) -> int:
    from orvl.plan.cost import cost_of
    from orvl.plan.prices import check_budget
    from orvl.report.certificate import ladder_json, print_ladder

    there = there_is_a_store(project, given["store"])
    with open_to_read(project, given["store"]) if there else nullcontext() as store:
        ladder = ladder.newest(store, fresh=given["fresh"]) if store is not None else ladder
        remaining = _remaining(ladder, store, given)
        check_budget(project.settings, ladder.plan, remaining, given["budget"], allow_unpriced=given["allow_unpriced"])
        cost = cost_of(project, ladder.plan, remaining, store)
    asked, _ = _questions(project, ladder, remaining)
    if out:
        out.write(ladder_json(ladder, remaining, asked, cost))
    else:
        print_ladder(console(), ladder, remaining, asked, cost)
    return 0
