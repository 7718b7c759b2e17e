"""`orvl AGENT [MODEL] [PROVIDER] [EVAL] [METRIC]`: plan, run, capture, score, rate, report."""

from __future__ import annotations

import secrets
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import click

from orvl.cli.common import (
    JsonOut,
    as_json,
    console,
    five_words,
    open_to_read,
    open_to_write,
    open_with_keys_hidden,
    print_board,
    store_exists,
    version_asker,
    where,
    words_from,
)
from orvl.errors import UserError
from orvl.plan.planning import ASK_ABOVE, Plan, is_paid, make_plan, ordered
from orvl.plan.remaining import State, next_episode, state_of
from orvl.plan.selection import ORDER, is_named
from orvl.project.endpoints import without_key
from orvl.project.names import count
from orvl.report.text import dollars, plain
from orvl.sandbox.kinds import KINDS, Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.engine.local import LocalEngine
    from orvl.plan.selection import Words
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.store import Store
    from orvl.trust.race import Race
    from orvl.trust.race_outcome import Outcome, Stopped
    from orvl.types import PlannedRun


@dataclass(frozen=True)
class Flags:
    """How a run command was asked to behave."""

    episodes: int | None
    judge: tuple[str, ...]
    concurrency: int | None
    sandbox: Kind | None
    image: str | None
    engine: str
    budget: float | None
    race: bool
    dry_run: bool
    fresh: bool
    yes: bool
    json_: bool
    quiet: bool
    verbose: bool
    project: str | None
    store: str | None


@click.command()
@five_words
@click.option("--episodes", type=click.IntRange(1), metavar="N", help="Independent runs of each cell.")
@click.option("--judge", multiple=True, metavar="NAME", help="A judge for the panel, instead of all in orvl.toml.")
@click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Runs that go on at once.")
@click.option("--sandbox", type=click.Choice(KINDS), help="Where a run lives; bubblewrap, if nothing else is said.")
@click.option("--image", metavar="NAME", help="The image or root folder for podman and docker.")
@click.option("--engine", type=click.Choice(["local"]), default="local", help="Who carries runs out.")
@click.option("--budget", type=click.FloatRange(0), metavar="USD", help="Stop when this much is spent.")
@click.option("--race", is_flag=True, help="Contestants that are surely worse stop early.")
@click.option("--dry-run", is_flag=True, help="Say what would run, what it may cost, and what it can tell.")
@click.option("--fresh", is_flag=True, help="Run new episodes beside those that are there.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask before a large matrix that costs money.")
@as_json
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
@click.option("--verbose", "-v", is_flag=True, help="A row for each eval.")
@where
def command(**given: Any) -> int:
    """Run agents on evals and rate what they made.

    What is left out means all. What is finished is not run again.
    """
    if not any(given[f"{place}_word"] or given[place] for place in ORDER):
        raise UserError("Say what to run: orvl AGENT …, or `orvl all` for everything. See: orvl --help")
    words = words_from(given)
    flags = Flags(**given)
    _check(flags)
    out = JsonOut() if flags.json_ else None
    project = open_with_keys_hidden(flags.project)
    episodes = flags.episodes or project.settings.episodes
    seed = secrets.randbits(32)
    ask = version_asker(project, flags.sandbox, flags.image)
    plan = make_plan(project, words, episodes=range(1, episodes + 1), judges=flags.judge, seed=seed, ask_version=ask)
    if flags.race:
        _want_rivals(plan)
    if flags.dry_run:
        return _dry_run(project, plan, episodes, flags, out)
    with open_to_write(project, flags.store) as store:
        first = next_episode(plan, store) if flags.fresh else 1
        plan.runs = ordered(plan.cells, range(first, first + episodes), seed)
        state = state_of(plan, store)
        _want_keys(plan, state, must_be_there=is_named(words.provider))
        race = _race(project, plan, state, store, episodes) if flags.race else None
        _guard(project, [run for run in state.to_run if race is None or race.needs(run)], flags)
        engine = _carry_out(project, plan, state, store, words, flags, race)
        board, outcome = _rated(project, plan, store, range(first, first + episodes), engine, race)
        board.warnings = plan.warnings + (_said_by(engine, board) if engine else []) + board.warnings
        _print(board, outcome, out, flags)
        status = _status(board, engine, outcome)
        if status in (3, 130):
            _say_how_to_continue(words, flags, first + episodes - 1 if flags.fresh else None)
        return status


def _check(flags: Flags) -> None:
    if flags.budget is not None and not isfinite(flags.budget):
        raise UserError(f"--budget {flags.budget} is not an amount of money.")
    if flags.race and flags.fresh:
        raise UserError(
            "--race and --fresh do not go together: starting a race anew when its results are known makes it unfair. "
            "Leave --fresh out to continue it, or keep another one in --store DIR."
        )


def _want_rivals(plan: Plan) -> None:
    contestants = {cell.contestant for cell in plan.cells}
    if len(contestants) < 2:
        name = " ".join(next(iter(contestants)))
        raise UserError(
            f"A race needs two contestants, and here is one: {name}. Name more agents, models or providers."
        )


def _race(project: Project, plan: Plan, state: State, store: Store, episodes: int) -> Race:
    from orvl.trust.race_outcome import race_of

    _want_rivals(plan)
    race = race_of(project, plan, state, store, episodes)
    if race.is_over:
        state.to_run, state.to_score = [], []
    return race


def _carry_out(
    project: Project, plan: Plan, state: State, store: Store, words: Words, flags: Flags, race: Race | None
) -> LocalEngine | None:
    if not state.to_run and not state.to_score:
        return None
    from orvl.cli.carry_out import carry_out

    return carry_out(
        project,
        plan,
        state,
        store,
        words,
        sandbox=flags.sandbox,
        image=flags.image,
        quiet=flags.quiet,
        concurrency=flags.concurrency,
        budget=flags.budget,
        race=race,
    )


def _rated(
    project: Project, plan: Plan, store: Store, episodes: range, engine: LocalEngine | None, race: Race | None
) -> tuple[Board, Outcome | None]:
    if race is None:
        from orvl.rate.collect import of_plan

        return of_plan(project, plan, store, episodes[0], episodes[-1], planned=len(episodes)), None
    from orvl.trust.race_outcome import finish

    stopped: Stopped | None = None
    if engine and (engine.interrupted or engine.over_budget):
        stopped = "by the user" if engine.interrupted else "by the budget"
    return finish(project, plan, store, race, len(episodes), stopped)


def _print(board: Board, outcome: Outcome | None, out: JsonOut | None, flags: Flags) -> None:
    more = {"race": outcome.as_json} if outcome else {}
    print_board(board, out, by_eval=flags.verbose, **more)
    if outcome and not out:
        for sentence in outcome.sentences:
            console().print(plain(sentence))


def _dry_run(project: Project, plan: Plan, episodes: int, flags: Flags, out: JsonOut | None) -> int:
    from orvl.plan.remaining import cost_of
    from orvl.report.dry_run import as_json as plan_as_json
    from orvl.report.dry_run import detectable_of, print_plan

    there = store_exists(project, flags.store)
    with open_to_read(project, flags.store) if there else nullcontext() as store:
        if flags.fresh:
            first = next_episode(plan, store)
            plan.runs = ordered(plan.cells, range(first, first + episodes), plan.seed)
        state = state_of(plan, store)
        if flags.race and store is not None:
            from orvl.trust.race_outcome import race_of

            race = race_of(project, plan, state, store, episodes)
            state.to_run, state.to_score = ([*filter(race.needs, runs)] for runs in (state.to_run, state.to_score))
        cost = cost_of(project, plan, state, store)
        seen = detectable_of(project, plan, store, episodes)
    if out:
        out.write(plan_as_json(plan, state, cost, seen))
    else:
        print_plan(console(), plan, state, cost, seen)
    return 0


def _want_keys(plan: Plan, state: State, *, must_be_there: bool) -> None:
    """A provider whose key is not set is refused, or left out with a warning; only runs that are left to do count."""
    asked = [run for run in state.to_run if run.cell.key in plan.hosts]
    missing = without_key(plan.hosts[run.cell.key] for run in asked)
    if not missing:
        return
    without = {run.cell.key for run in asked if run.cell.provider in missing}
    state.to_run = [run for run in state.to_run if run.cell.key not in without]
    there = {run.cell.key for run in (*state.reused, *state.to_score)}
    if must_be_there or not (state.to_run or there):
        raise UserError(next(iter(missing.values())))
    plan.cells = [cell for cell in plan.cells if cell.key not in without or cell.key in there]
    providers = {plan.hosts[key].provider.name: plan.hosts[key].provider.key for key in sorted(without)}
    keys = ", ".join(f"{name} ({key})" for name, key in sorted(providers.items()))
    plan.warnings.append(f"Left out, for want of a key: {keys}.")


def _guard(project: Project, runs: Sequence[PlannedRun], flags: Flags) -> None:
    """Running everything by leaving words out is an expensive accident."""
    paid = {run.cell.key for run in runs if is_paid(project, run.cell.provider)}
    if len(paid) <= ASK_ABOVE or flags.yes or flags.budget is not None:
        return
    what = f"{len(paid)} cells at providers that cost money ({len(runs)} runs)"
    if sys.stdin.isatty() and sys.stderr.isatty() and not flags.json_:
        if click.confirm(f"This runs {what}. Go on?", err=True):
            return
        raise UserError("Nothing was run.")
    raise UserError(f"This would run {what}. See it with --dry-run, then add --yes, or --budget USD.")


def _said_by(engine: LocalEngine, board: Board) -> list[str]:
    """What happened on the way that a table does not show."""
    said = [*engine.not_installed.values(), *engine.gateway.stopped.values()]
    purse = engine.gateway.purse
    if engine.judging_cost:
        said.append(f"The judges cost {dollars(engine.judging_cost)}, which is not in the column of costs.")
    if engine.over_budget:
        left = sum(cell.planned - cell.rated for cell in board.cells)
        spent, budget = dollars(purse.spent), dollars(purse.most)
        said.append(f"Stopped by the budget: {spent} of {budget} spent, {count(left, 'run')} left.")
    if purse.most is not None and engine.unknown_cost:
        names = ", ".join(sorted(engine.unknown_cost))
        said.append(
            f"What {names} cost is not known, for want of a price or of the provider's count of tokens; the budget "
            "counted a guess where there is a price. See: orvl endpoints"
        )
    return said


def _status(board: Board, engine: LocalEngine | None, outcome: Outcome | None) -> int:
    """0 all rated, or all that a race needs; 1 something could not be; 2 nothing could start; 3 the budget; 130
    interrupted."""
    incomplete = outcome.is_incomplete if outcome else any(cell.rated < cell.planned for cell in board.cells)
    if engine and engine.interrupted:
        return 130
    if engine and engine.over_budget and (incomplete or engine.is_unjudged):
        return 3
    if engine and all(cell.agent in engine.not_installed for cell in board.cells):
        return 2
    return 1 if incomplete or board.broken_metrics else 0


def _say_how_to_continue(words: Words, flags: Flags, episodes: int | None) -> None:
    import shlex

    given = [shlex.quote(word) for word in words.given]
    if episodes or flags.episodes:
        given += ["--episodes", str(episodes or flags.episodes)]
    for name in ("project", "store", "sandbox", "image"):
        if value := getattr(flags, name):
            given += [f"--{name}", shlex.quote(value)]
    for judge in flags.judge:
        given += ["--judge", shlex.quote(judge)]
    if flags.race:
        given.append("--race")
    if flags.concurrency:
        given += ["--concurrency", str(flags.concurrency)]
    if flags.budget is not None:
        given += ["--budget", f"{flags.budget:g}"]
    sys.stderr.write(f"To continue: orvl {' '.join(given)}\n")
