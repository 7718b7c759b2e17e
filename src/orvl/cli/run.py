"""`orvl AGENT [MODEL] [PROVIDER] [EVAL] [METRIC]`: flags and words over the pipeline."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from orvl import pipeline
from orvl.cli.common import (
    JsonOut,
    as_json,
    console,
    five_words,
    open_to_read,
    open_to_write,
    open_with_keys_hidden,
    selection_from,
    store_exists,
    where,
)
from orvl.cli.gates import baseline_from, gate_flags, gate_of, status_with, tell
from orvl.cli.report_files import ReportFiles, file_flags
from orvl.errors import UserError
from orvl.plan.options import RunOptions
from orvl.plan.options import flags as option_flags
from orvl.plan.selection import ORDER
from orvl.project.names import count
from orvl.report.text import dollars
from orvl.sandbox.backends import SANDBOXES

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.engine import Execution
    from orvl.pipeline import Evaluation, Prepared
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate


def run_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """A flag for each field of RunOptions that is one."""
    for option in reversed(option_flags()):
        about, name = option.metadata, option.metadata["flag"] or option.name
        kinds: dict[str, Any] = {
            "": {"is_flag": True},
            "N": {"type": click.IntRange(1), "metavar": "N"},
            "USD": {"type": click.FloatRange(0), "metavar": "USD"},
            "SANDBOX": {"type": click.Choice(SANDBOXES)},
            "NAME": {"metavar": "NAME", "multiple": option.default == ()},
        }
        function = click.option(f"--{name}", option.name, help=about["help"], **kinds[about["value"]])(function)
    return function


@click.command()
@five_words
@run_flags
@click.option("--dry-run", is_flag=True, help="Show what would run, what it may cost, and what it can detect.")
@gate_flags
@file_flags
@click.option("--yes", "-y", is_flag=True, help="Do not ask before a large matrix that costs money.")
@as_json
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@click.option("--verbose", "-v", is_flag=True, help="One row per eval.")
@where
def command(**flags: Any) -> int:
    """Run agents on evals and rate what they made.

    What is left out means all. What is finished is not run again.
    """
    if not any(flags[f"{place}_word"] or flags[place] for place in ORDER):
        raise UserError("Say what to run: orvl AGENT …, or `orvl all` for everything. See: orvl --help")
    options, files = _options(flags), _files(flags)
    out = JsonOut() if flags["json_"] else None
    project = open_with_keys_hidden(flags["project"])
    if flags["dry_run"]:
        return _dry_run(project, options, flags, out)
    from orvl.cli.watch import watched

    baseline = baseline_from(project, flags["baseline"])
    plan = pipeline.plan(project, options)
    with open_to_write(project, flags["store"]) as store:
        prepared = pipeline.prepare(project, plan, options, store, os.environ)
        _guard(project, prepared, flags)
        pipeline.note_planned(prepared.plan, store)
        execution = watched(project, prepared, options, store, quiet=flags["quiet"])
        evaluation = pipeline.rate(project, prepared, execution, store, by_run=files.junit is not None)
    gate = gate_of(evaluation.board, options.selection, flags["fail_under"], baseline)
    evaluation = _with_notes(evaluation)
    if files.take_standard_output:
        tell(gate)
    else:
        _print(evaluation, gate, out, by_eval=flags["verbose"])
    files.write(evaluation.board.contestants, evaluation.board, gate)
    status = status_with(gate, _status(evaluation))
    if status in (3, 130):
        sys.stderr.write(f"To continue: {_continued(options, prepared, flags)}\n")
    return status


def _options(flags: dict[str, Any]) -> RunOptions:
    chosen = {option.name: flags[option.name] for option in option_flags()}
    return RunOptions(selection_from(flags), written=tuple(sys.argv[1:]), **chosen)


def _files(flags: dict[str, Any]) -> ReportFiles:
    files = ReportFiles.of(flags)
    if files.take_standard_output and flags["json_"]:
        raise UserError("--md - writes to standard output, as --json does. Give it a file: --md FILE")
    if files.are_wanted and flags["dry_run"]:
        raise UserError("--dry-run rates nothing: leave out --junit, --md and --github.")
    return files


def _dry_run(project: Project, options: RunOptions, flags: dict[str, Any], out: JsonOut | None) -> int:
    from orvl.plan.cost import cost_of
    from orvl.plan.identities import changes_of
    from orvl.plan.keys import missing_keys
    from orvl.plan.prices import check_budget
    from orvl.project.endpoints import unreachable
    from orvl.project.user import asks_users, check_user
    from orvl.rate.detectable import detectable_of
    from orvl.report.dry_run import as_json as plan_as_json
    from orvl.report.dry_run import print_plan

    plan = pipeline.plan(project, options)
    exists = store_exists(project, flags["store"])
    with open_to_read(project, flags["store"]) if exists else nullcontext() as store:
        prepared = pipeline.prepare(project, plan, options, store)
        plan, remaining = prepared.plan, prepared.only_needed
        check_budget(project.settings, plan, remaining, options.budget, allow_unpriced=options.allow_unpriced)
        keys = missing_keys(plan, remaining, os.environ)
        judges = {judge.name: judge for panel in plan.panels.values() for judge in panel.judges}.values()
        troubles = unreachable(project.settings, judges, os.environ)
        if asked := asks_users(remaining.to_run):
            check_user(project.settings, asked, os.environ)
        plan = replace(plan, warnings=(*plan.warnings, *map(str, keys), *troubles))
        cost = cost_of(project, plan, remaining, store)
        smallest = detectable_of(project, plan, store, len(plan.episodes))
        changed = changes_of(project, plan, store) if store else {}
    if out:
        out.write(plan_as_json(plan, remaining, cost, smallest, keys, changed))
    else:
        print_plan(console(), plan, remaining, cost, smallest, changed)
    return 0


def _guard(project: Project, prepared: Prepared, flags: dict[str, Any]) -> None:
    paid, runs = pipeline.paid_cells(project, prepared), prepared.only_needed.to_run
    if len(paid) <= pipeline.ASK_ABOVE or flags["yes"] or flags["budget"] is not None:
        return
    what = f"{len(paid)} cells at providers that cost money ({count(len(runs), 'run')})"
    if sys.stdin.isatty() and sys.stderr.isatty() and not flags["json_"]:
        if click.confirm(f"This runs {what}. Go on?", err=True):
            return
        raise UserError("Nothing was run.")
    raise UserError(f"This would run {what}. See it with --dry-run, then add --yes, or --budget USD.")


def _with_notes(evaluation: Evaluation) -> Evaluation:
    notes = (*_notes(evaluation.execution, evaluation.board), *evaluation.plan.warnings)
    return replace(evaluation, board=evaluation.board.with_warnings(*notes))


def _print(evaluation: Evaluation, gate: Gate, out: JsonOut | None, *, by_eval: bool) -> None:
    from orvl.report.gate import gate_json, print_gate

    if not out:
        terminal = console()
        pipeline.report(evaluation, terminal, by_eval=by_eval)
        print_gate(terminal, gate)
        return
    from orvl.report.race import race_json
    from orvl.report.ratings_json import as_json as ratings_as_json

    race = {"race": race_json(evaluation.race)} if evaluation.race else {}
    out.write(ratings_as_json(evaluation.board.cells, evaluation.board, **race, **gate_json(gate)))
    tell(gate)


def _notes(execution: Execution, board: Board) -> list[str]:
    """What happened on the way that a table does not show."""
    notes = [*execution.not_installed.values(), *execution.given_up, *execution.missed_sentences]
    if execution.judging_cost:
        least = "at least " if execution.judging_cost_is_partial else ""
        cost = f"{least}{dollars(execution.judging_cost)}"
        notes.append(f"The judges cost {cost}, which the column spent does not include.")
    if execution.user_cost:
        least = "at least " if execution.user_cost_is_partial else ""
        cost = f"{least}{dollars(execution.user_cost)}"
        notes.append(f"The model that answers for users cost {cost}, which the column spent does not include.")
    if execution.over_budget:
        left = sum(cell.planned - cell.rated for cell in board.cells)
        spent, budget = dollars(execution.spent), dollars(execution.budget)
        notes.append(f"Stopped by the budget: {spent} of {budget} spent, {count(left, 'run')} left.")
    if execution.budget is not None and execution.unknown_cost:
        names = ", ".join(sorted(execution.unknown_cost))
        notes.append(
            f"The cost of {names} is unknown: no price, or no token count from the provider. Where there is a price, "
            "the budget counted a guess. See: orvl endpoints"
        )
    return notes


def _status(evaluation: Evaluation) -> int:
    """0 all rated, or all that a race needs; 1 something could not be; 2 nothing could start; 3 the budget; 130
    interrupted. What is below a threshold or worse than before makes it 4, in `gates`."""
    execution, board, race = evaluation.execution, evaluation.board, evaluation.race
    incomplete = race.is_incomplete if race else any(cell.rated < cell.planned for cell in board.cells)
    if execution.interrupted:
        return 130
    if execution.over_budget and (incomplete or execution.unjudged):
        return 3
    if execution.not_installed and all(cell.agent in execution.not_installed for cell in board.cells):
        return 2
    return 1 if incomplete or board.broken_metrics or execution.missed else 0


def _continued(options: RunOptions, prepared: Prepared, flags: dict[str, Any]) -> str:
    """The command that goes on where this one stopped."""
    again = replace(options, episodes=prepared.plan.episodes[-1], fresh=False) if options.fresh else options
    words = ["orvl", *again.selection.given]
    for option in option_flags():
        name, value = option.metadata["flag"] or option.name, getattr(again, option.name)
        for one in value if isinstance(value, tuple) else (value,):
            if one is not None and one is not False:
                words += [f"--{name}"] if one is True else [f"--{name}", f"{one:g}" if name == "budget" else str(one)]
    for name in ("fail_under", "baseline", "junit", "md", "project", "store"):
        words += [f"--{name.replace('_', '-')}", str(flags[name])] if flags[name] is not None else []
    words += ["--github"] if flags["github"] else []
    return shlex.join(words)
