"""What any engine must do: the command line and the library see its events and its result, never more of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from orvl import pipeline
from orvl.cli.common import open_to_write
from orvl.engine import AttemptEnded, Engine, Execution, Notice, RunDoing, RunGivenUp, RunScored, RunStarted
from orvl.engine.local import LocalEngine
from orvl.plan.options import RunOptions
from orvl.plan.remaining import remaining_of
from orvl.plan.selection import Selection
from orvl.project import open_project
from orvl.types import PlannedRun

ENGINES: dict[str, Callable[..., Engine]] = {"local": lambda project, store: LocalEngine(project, store, {})}
OPTIONS = RunOptions(Selection(agent="writer", eval="one"), episodes=3, sandbox="none", seed=1)


@pytest.fixture(params=ENGINES)
def engine_of(request: pytest.FixtureRequest) -> Callable[..., Engine]:
    return ENGINES[request.param]


class Trial:
    """A plan over a small project, carried out by an engine; `events` are what it said."""

    def __init__(self, project: Any, engine_of: Callable[..., Engine], options: RunOptions = OPTIONS) -> None:
        self.project, self.options = open_project(project.root), options
        self.engine_of = engine_of
        self.events: list[Any] = []
        self.stop = asyncio.Event()

    def execute(
        self, watch: Callable[[Any, Any], None] = lambda _, __: None, policy: Any = None, again: bool = False
    ) -> Execution:
        plan = pipeline.plan(self.project, self.options)
        with open_to_write(self.project, None) as store:
            remaining = remaining_of(plan, store)
            if again:
                remaining = replace(remaining, to_score=remaining.reused, reused=())

            def on_event(event: Any) -> None:
                self.events.append(event)
                watch(event, store)

            engine = self.engine_of(self.project, store)
            executing = engine.execute(
                plan,
                remaining,
                self.options,
                one_run=pipeline.one_run,
                on_event=on_event,
                stop=self.stop,
                policy=policy,
            )
            return asyncio.run(executing)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def test_every_run_starts_and_ends_once(small, engine_of):
    trial = Trial(small, engine_of)
    assert trial.execute() == Execution()
    assert len(trial.of(RunStarted)) == len(trial.of(AttemptEnded)) == 3
    assert {event.run.key for event in trial.of(RunStarted)} == {event.run.key for event in trial.of(AttemptEnded)}
    assert all(event.attempt.outcome == "finished" for event in trial.of(AttemptEnded))
    one = trial.of(RunStarted)[0].run.key
    assert [event.what for event in trial.of(RunDoing) if event.run.key == one] == ["turn 1 of 1", "capture"]


def test_what_an_event_says_is_in_the_store_already(small, engine_of):
    known = []

    def watch(event, store):
        if isinstance(event, AttemptEnded):
            stored = {run.key: run for run in store.carried_out([event.run.cell.key])}
            known.append(event.run.key in stored and bool(store.scores(stored[event.run.key].attempt)))

    Trial(small, engine_of).execute(watch)
    assert known == [True] * 3


def test_stop_starts_nothing_new(small, engine_of):
    trial = Trial(small, engine_of, replace(OPTIONS, episodes=20, concurrency=1))

    started = []

    def stop_at_the_first(event, _):
        if isinstance(event, AttemptEnded) and not trial.stop.is_set():
            trial.stop.set()
            started.append(len(trial.of(RunStarted)))

    assert trial.execute(stop_at_the_first).interrupted
    assert started == [len(trial.of(RunStarted))], "what ran goes on to its end, and nothing else begins"
    assert len(trial.of(AttemptEnded)) < 20
    trial.stop.clear()
    left = Trial(small, engine_of, replace(OPTIONS, episodes=20))
    assert not left.execute().interrupted
    assert len(trial.of(AttemptEnded)) + len(left.of(AttemptEnded)) == 20, "what is finished is not run again"


def test_what_errs_is_tried_again_and_then_given_up(small, engine_of):
    small.toml("attempts = 2\n")
    small.write("evals/broken/eval.md", "---\nmetrics: {speed: 1}\nsetup: ['exit 3']\n---\nHello.\n")
    trial = Trial(small, engine_of, replace(OPTIONS, selection=Selection(agent="writer", eval="broken"), episodes=1))
    trial.execute()
    assert [event.attempt.outcome for event in trial.of(AttemptEnded)] == ["errored"]
    assert len(trial.of(RunGivenUp)) == 1


def test_a_missing_program_is_part_of_the_result(small, engine_of):
    small.agent("gone", 'models = {"none": ["m"]}\ndef command(): return "no-such-program-here"\n')
    trial = Trial(small, engine_of, replace(OPTIONS, selection=Selection(agent="gone", eval="one"), episodes=1))
    assert "no-such-program-here" in trial.execute().not_installed["gone"]


def test_stored_runs_are_scored_again_without_running(small, engine_of):
    Trial(small, engine_of).execute()
    trial = Trial(small, engine_of, replace(OPTIONS, samples="all"))
    trial.execute(again=True)
    assert len(trial.of(RunScored)) == 3
    assert not trial.of(RunStarted)


class OnlyFirst:
    """Lets the first episode run, and says when it is over."""

    def may_start(self, planned: PlannedRun, at_once: int) -> bool:
        return planned.episode == 1

    def ended(self, planned: PlannedRun) -> list[str]:
        return [f"episode {planned.episode} is over"]


def test_a_policy_decides_what_starts(small, engine_of):
    trial = Trial(small, engine_of)
    trial.execute(policy=OnlyFirst())
    assert [event.run.episode for event in trial.of(AttemptEnded)] == [1]
    assert [event.sentence for event in trial.of(Notice)] == ["episode 1 is over"]
