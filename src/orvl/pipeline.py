"""plan → run → capture → score → rate → report. The library and the command line both call this."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orvl.engine import Execution, Notice, without_activity
from orvl.errors import StoreBusy, UserError
from orvl.plan.cost import is_paid
from orvl.plan.identities import adopted
from orvl.plan.options import RunOptions
from orvl.plan.planning import make_plan
from orvl.plan.remaining import next_episode, remaining_of
from orvl.plan.selection import Selection, chosen_metrics, is_named, stored_matcher
from orvl.plan.versions import asker_for
from orvl.project import open_project
from orvl.project.endpoints import without_key
from orvl.project.names import did_you_mean
from orvl.report.text import plain
from orvl.store import BUSY_WAIT, open_store, store_url

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from orvl.engine import OnEvent, Settled, Stages
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.plan.versions import AskVersion
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.rate.compare import Comparison
    from orvl.report.results import Results
    from orvl.report.terminal import Terminal
    from orvl.store import Store
    from orvl.trust.race import Race, RaceResult, Stopped
    from orvl.types import PlannedRun

    Words = str | Sequence[str]

ASK_ABOVE = 20
"""Paid cells that run without asking: running everything by leaving words out is an expensive accident."""


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
    confirm: Callable[[Prepared], None] = lambda _: None,
) -> Evaluation:
    """Plan, run what is left, rate. What is finished is not run again, and what is scored is not asked again."""
    prepared = prepare(project, plan(project, options), options, store, environment)
    confirm(prepared)
    note_planned(prepared.plan, store)
    execution = await execute(project, prepared, options, store, environment, on_event, stop)
    return rate(project, prepared, execution, store, by_run=True)


async def one_run(planned: PlannedRun, stages: Stages) -> Settled:
    """Run, capture, score: what an engine does for each run, several at a time, wherever it does it."""
    conversed = await stages.run(planned)
    attempt = await stages.capture(planned, conversed)
    return await stages.score(planned, attempt)


def report(evaluation: Evaluation, terminal: Terminal, *, by_eval: bool = False) -> None:
    """The ratings as a table, by contestant or by cell, and how a race ended; `orvl.report` has the other forms."""
    from orvl.report.race import race_sentences
    from orvl.report.table import print_ratings

    board = evaluation.board
    cells = by_eval or len({cell.eval for cell in board.cells}) == 1
    print_ratings(terminal, board.cells if cells else board.contestants, board)
    for sentence in race_sentences(evaluation.race) if evaluation.race else ():
        terminal.print(plain(sentence))


# -- the parts


def plan(project: Project, options: RunOptions, ask: AskVersion | None = None) -> Plan:
    """Which runs are meant; the store is not needed for that. `ask` says which versions agents have, if not they."""
    episodes = options.episodes or project.settings.episodes
    seed = secrets.randbits(32) if options.seed is None else options.seed
    ask = ask or asker_for(project, options.sandbox, options.image)
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
    if store is not None:
        plan = adopted(plan, store)
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


def note_planned(plan: Plan, store: Store) -> None:
    """These cells count from now on, also where all their runs are there already."""
    stored = {cell.key: cell for cell in store.cells()}
    newest = {cell.names: cell.planned for cell in sorted(stored.values(), key=lambda cell: cell.planned)}
    known = [stored.get(cell.key) for cell in plan.cells]
    if any(cell is None or cell.made_of is None or cell.planned < newest[cell.names] for cell in known):
        store.transaction([lambda inside: inside.add_planned(plan.cells)])


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
    # Only here: a command that has nothing left to do needs no engine.
    from orvl.engine.local import LocalEngine

    engine = LocalEngine(project, store, environment)
    return await engine.execute(
        prepared.plan,
        prepared.remaining,
        options,
        one_run=one_run,
        on_event=on_event,
        stop=stop,
        policy=prepared.race,
    )


def paid_cells(project: Project, prepared: Prepared) -> set[str]:
    """The cells to be run that may cost money."""
    return {run.cell.key for run in prepared.only_needed.to_run if is_paid(project, run.cell.provider)}


def rate(
    project: Project, prepared: Prepared, execution: Execution, store: Store, *, by_run: bool = False
) -> Evaluation:
    """The ratings of what was planned, and how a race ended."""
    made, episodes = prepared.plan, prepared.plan.episodes
    from orvl.trust.standing import with_standing

    if prepared.race is None:
        from orvl.rate.collect import of_plan

        board = of_plan(project, made, store, episodes[0], episodes[-1], planned=len(episodes), by_run=by_run)
        return Evaluation(made, execution, with_standing(project, store, board))
    from orvl.trust.race_ratings import finish

    stopped: Stopped | None = "by the budget" if execution.over_budget else None
    stopped = "by the user" if execution.interrupted else stopped
    board, outcome = finish(project, made, store, prepared.race, len(episodes), stopped)
    return Evaluation(made, execution, with_standing(project, store, board), outcome)


def compare(
    project: Project, store: Store, a: str, b: str, selection: Selection, judges: Sequence[str] = ()
) -> Comparison:
    """Which of two is better over the evals that both have run, and whether the judges can be trusted to say so."""
    from orvl.rate.compare import compare_stored
    from orvl.report.certificate import standing_sentence
    from orvl.trust.standing import standing

    comparison, panels = compare_stored(project, store, a, b, selection, judges)
    certified = standing(project, store, panels.values())
    if certified.may_rank:
        return comparison
    return replace(comparison, warnings=[*comparison.warnings, standing_sentence(certified)])


# -- the library


def open(folder: str | Path | None = None, store: str | None = None) -> OpenProject:
    """The project in a folder, or in this one; `store` names another store than the project's own."""
    project = open_project(folder)
    return OpenProject(project, store_url(store, project.settings.store, project.root))


@dataclass(frozen=True)
class OpenProject:
    """A project as the library gives it: run something, or read what has been run."""

    project: Project
    store_url: str

    def run(self, agent: Words = "all", **options: Any) -> Results:
        """Runs what is left of a selection, rates it, and gives it back; takes what `run_async` takes.

        In a notebook, whose event loop is busy, the runs go on in a thread.
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        from orvl.engine.steady_loop import run

        running = self.run_async(agent, **options)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return run(running)
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(run, running).result()

    async def run_async(
        self,
        agent: Words = "all",
        *,
        model: Words = "all",
        provider: Words = "all",
        eval: Words = "all",
        metric: Words = "all",
        yes: bool = False,
        on_event: OnEvent = lambda _: None,
        stop: asyncio.Event | None = None,
        **options: Any,
    ) -> Results:
        """Words are names, comma lists, globs or lists of names; other `options` are those of `RunOptions`.

        `on_event` is called with each event of the engine; setting `stop` ends the call early, with what was rated.
        More than a few cells that cost money need a `budget`, or `yes=True`.
        """
        asked = RunOptions(_selection(agent, model, provider, eval, metric), **_checked(options))

        def confirm(prepared: Prepared) -> None:
            paid = len(paid_cells(self.project, prepared))
            if paid > ASK_ABOVE and not yes and asked.budget is None:
                raise UserError(f"This would run {paid} cells that cost money. Give a budget, or yes=True.")

        if stop is None:
            from asyncio import Event

            stop = Event()
        with await self._open_to_write(on_event, stop) as store:
            told = without_activity(on_event)
            evaluation = await evaluate(self.project, asked, store, os.environ, told, stop, confirm)
        return self._results(evaluation.board, asked.selection, evaluation.execution)

    async def _open_to_write(self, on_event: OnEvent, stop: asyncio.Event) -> Store:
        """Waits for another process that writes to the store, and says so; not for this one, which may wait for us."""
        from asyncio import wait_for

        seen = str(os.getpid())
        while True:
            try:
                return open_store(self.store_url, write=True)
            except StoreBusy as busy:
                if busy.owner == str(os.getpid()) or stop.is_set():
                    raise
                if busy.owner != seen:
                    on_event(Notice(busy.waiting))
                seen = busy.owner
            with suppress(TimeoutError):
                await wait_for(stop.wait(), BUSY_WAIT)

    def results(
        self,
        agent: Words = "all",
        model: Words = "all",
        provider: Words = "all",
        eval: Words = "all",
        metric: Words = "all",
        *,
        judges: Sequence[str] = (),
    ) -> Results:
        """What the store holds of a selection, rated by the project's files as they are now."""
        from orvl.rate.collect import of_store
        from orvl.trust.standing import with_standing

        selection = _selection(agent, model, provider, eval, metric)
        with open_store(self.store_url, write=False) as store:
            cells = store.cells()
            keep = stored_matcher(self.project, selection, [cell.names for cell in cells])
            metrics = chosen_metrics(self.project, selection, cells)
            board = of_store(self.project, store, keep, tuple(judges), metrics, by_run=True)
            board = with_standing(self.project, store, board)
        return self._results(board, selection, None)

    def compare(self, a: str, b: str, *, judges: Sequence[str] = (), **words: Words) -> Comparison:
        """Which of two agents, models or providers is better, paired by eval."""
        with open_store(self.store_url, write=False) as store:
            return compare(self.project, store, a, b, _selection("all", **words), judges)

    def _results(self, board: Board, selection: Selection, execution: Execution | None) -> Results:
        from orvl.rate.rated_run import Run
        from orvl.report.results import Results

        def compare_here(a: str, b: str) -> Comparison:
            with open_store(self.store_url, write=False) as store:
                return compare(self.project, store, a, b, replace(selection, agent="all"))

        runs = [Run.of(row, self.store_url) for row in board.runs]
        runs.sort(key=lambda run: (run.agent, run.model, run.provider, run.eval, run.episode))
        return Results.of(board, tuple(runs), compare_here, execution)


def _selection(
    agent: Words, model: Words = "all", provider: Words = "all", eval: Words = "all", metric: Words = "all"
) -> Selection:
    words = (agent, model, provider, eval, metric)
    return Selection(*(word if isinstance(word, str) else ",".join(word) for word in words))


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    known = [name for name in RunOptions.__dataclass_fields__ if name not in ("selection", "samples", "written")]
    if unknown := next((name for name in options if name not in known), None):
        raise UserError(f"run has no option '{unknown}'. {did_you_mean(unknown, known)}")
    return {**options, "judges": tuple(options.get("judges", ()))}
