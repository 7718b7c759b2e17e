"""plan → run → capture → score → rate → report. The library and the command line both call this."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.engine import Execution
from orvl.engine.local import LocalEngine
from orvl.errors import UserError
from orvl.plan.planning import make_plan
from orvl.plan.remaining import next_episode, remaining_of
from orvl.plan.selection import is_named
from orvl.plan.versions import asker_for
from orvl.project.endpoints import without_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.engine import OnEvent
    from orvl.plan.options import RunOptions
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.store import Store
    from orvl.trust.race import Race, RaceResult, Stopped


@dataclass(frozen=True)
class Prepared:
    """A plan, what of it is left, and the race that decides which of that is needed."""

    plan: Plan
    remaining: Remaining
    race: Race | None = None

    @property
    def only_needed(self) -> Remaining:
        """What is left, without what the race does not need as things stand."""
        if self.race is None:
            return self.remaining
        to_run, to_score = (
            tuple(filter(self.race.needs, runs)) for runs in (self.remaining.to_run, self.remaining.to_score)
        )
        return replace(self.remaining, to_run=to_run, to_score=to_score)


@dataclass(frozen=True)
class Evaluation:
    """What came of a plan."""

    plan: Plan
    execution: Execution
    board: Board
    race: RaceResult | None = None


async def evaluate(
    project: Project,
    options: RunOptions,
    store: Store,
    environment: Mapping[str, str],
    on_event: OnEvent,
    stop: asyncio.Event,
) -> Evaluation:
    """All of it: what is finished is not run again, what is scored is not asked again."""
    prepared = prepare(project, plan(project, options), options, store, environment)
    execution = await execute(project, prepared, options, store, environment, on_event, stop)
    return rate(project, prepared, execution, store)


def plan(project: Project, options: RunOptions) -> Plan:
    """Which runs are meant; the store is not needed for that."""
    episodes = options.episodes or project.settings.episodes
    seed = secrets.randbits(32) if options.seed is None else options.seed
    ask = asker_for(project, options.sandbox, options.image)
    made = make_plan(
        project, options.selection, episodes=range(1, episodes + 1), judges=options.judges, seed=seed, ask_version=ask
    )
    if options.race and len({cell.contestant for cell in made.cells}) < 2:
        name = " ".join(made.cells[0].contestant)
        raise UserError(
            f"A race needs two contestants, and this is one: {name}. Name more agents, models or providers."
        )
    return made


def prepare(
    project: Project,
    plan: Plan,
    options: RunOptions,
    store: Store | None,
    environment: Mapping[str, str] | None = None,
) -> Prepared:
    """What of a plan is left to do; with an `environment`, only at providers whose key is set."""
    if options.fresh:
        first = next_episode(plan, store)
        plan = plan.with_episodes(range(first, first + len(plan.episodes)))
    remaining = remaining_of(plan, store)
    if environment is not None:
        plan, remaining = _with_keys(plan, remaining, environment, required=is_named(options.selection.provider))
    if not options.race or store is None:
        return Prepared(plan, remaining)
    from orvl.trust.race_ratings import race_of

    race = race_of(project, plan, remaining, store, len(plan.episodes))
    left = () if race.is_over else race.in_order(remaining.to_run)
    unscored = () if race.is_over else race.in_order(remaining.to_score)
    return Prepared(plan, replace(remaining, to_run=left, to_score=unscored), race)


def _with_keys(
    plan: Plan,
    remaining: Remaining,
    environment: Mapping[str, str],
    *,
    required: bool,
) -> tuple[Plan, Remaining]:
    """A provider whose key is not set is skipped with a warning, or refused; only runs that are left to do count."""
    asked = [run for run in remaining.to_run if run.cell.key in plan.endpoints]
    missing = without_key((plan.endpoints[run.cell.key] for run in asked), environment)
    if not missing:
        return plan, remaining
    without = {run.cell.key for run in asked if run.cell.provider in missing}
    to_run = tuple(run for run in remaining.to_run if run.cell.key not in without)
    known = {run.cell.key for run in (*remaining.reused, *remaining.to_score)}
    if required or not (to_run or known):
        raise UserError(next(iter(missing.values())))
    cells = tuple(cell for cell in plan.cells if cell.key not in without or cell.key in known)
    providers = {plan.endpoints[key].provider.name: plan.endpoints[key].provider.key for key in without}
    warnings = [f"Skipped {name}: {key} is not set." for name, key in sorted(providers.items())]
    return replace(plan, cells=cells, warnings=(*plan.warnings, *warnings)), replace(remaining, to_run=to_run)


async def execute(
    project: Project,
    prepared: Prepared,
    options: RunOptions,
    store: Store,
    environment: Mapping[str, str],
    on_event: OnEvent,
    stop: asyncio.Event,
) -> Execution:
    """Runs, captures and scores what is left, a few at a time; what an event says is durable."""
    if not prepared.remaining.todo:
        return Execution()
    engine = LocalEngine(project, store, environment)
    return await engine.execute(
        prepared.plan, prepared.remaining, options, on_event=on_event, stop=stop, policy=prepared.race
    )


def rate(project: Project, prepared: Prepared, execution: Execution, store: Store) -> Evaluation:
    """The ratings of what was planned, and how a race ended."""
    made, episodes = prepared.plan, prepared.plan.episodes
    from orvl.trust.standing import with_standing

    if prepared.race is None:
        from orvl.rate.collect import of_plan

        board = of_plan(project, made, store, episodes[0], episodes[-1], planned=len(episodes))
        return Evaluation(made, execution, with_standing(project, store, board))
    from orvl.trust.race_ratings import finish

    stopped: Stopped | None = "by the budget" if execution.over_budget else None
    stopped = "by the user" if execution.interrupted else stopped
    board, outcome = finish(project, made, store, prepared.race, len(episodes), stopped)
    return Evaluation(made, execution, with_standing(project, store, board), outcome)
