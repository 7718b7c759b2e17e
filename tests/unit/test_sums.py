"""Sums of tokens and money that lack a part, or hold a bound, never look exact."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from orvl.engine import (
    AttemptEnded,
    BudgetOpened,
    JudgeAsked,
    JudgeEnded,
    Notice,
    RunDoing,
    RunGivenUp,
    RunStarted,
    without_activity,
)
from orvl.gateway.limits import Budget
from orvl.rate.board import add_usage
from orvl.report.atif import _final
from orvl.report.comparison import _used
from orvl.report.progress import Progress
from orvl.report.text import known_usage
from orvl.score.judges.panel import JudgePanel
from orvl.types import Attempt, ModelCall, Usage

EXACT = {"seconds": 1.0, "input_tokens": 10, "cached_tokens": 0, "output_tokens": 5, "tool_calls": 1, "cost_usd": 0.5}
EXACT |= {"cost_source": "metered", "is_bound": False}


def test_a_sum_with_a_bound_in_it_is_one():
    total = add_usage([EXACT, {**EXACT, "is_bound": True}])
    assert total["cost_usd"] == 1.0 and total["is_bound"] is True
    assert known_usage(total)["is_bound"] is True
    assert "is_bound" not in known_usage(add_usage([EXACT, EXACT]))


@pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "cost_usd"])
def test_a_sum_that_lacks_a_part_is_unknown(name):
    assert add_usage([EXACT, {**EXACT, name: None}])[name] is None


def test_comparisons_say_that_a_cost_is_a_bound():
    total = add_usage([EXACT, {**EXACT, "is_bound": True}])
    assert _used("pi", total, 2).startswith("pi: ≤ $0.5000 ")
    assert _used("pi", add_usage([EXACT, EXACT]), 2).startswith("pi: $0.5000 ")
    assert "unknown" in _used("pi", add_usage([EXACT, {**EXACT, "cost_usd": None}]), 2)


def test_a_trajectory_says_that_its_figures_are_bounds():
    usage = Usage(1.0, 10, 0, 5, 1, 0.5, "bound", is_bound=True)
    assert _final(usage, 3)["extra"]["is_bound"] is True
    assert "is_bound" not in _final(Usage(1.0, 10, 0, 5, 1, 0.5, "metered"), 3)["extra"]


@pytest.mark.parametrize(
    ("usages", "text"),
    [
        ([Usage(cost_usd=0.5)], "$0.5000 spent"),
        ([Usage(cost_usd=0.5), Usage()], "≥ $0.5000 spent"),
        ([Usage(cost_usd=0.5, is_bound=True)], "≤ $0.5000 spent"),
        ([Usage(cost_usd=0.5, is_bound=True), Usage()], "about $0.5000 spent"),
    ],
)
def test_progress_says_whether_all_that_was_spent_is_known(usages, text):
    agent = SimpleNamespace(name="pi")
    runs = [
        SimpleNamespace(key=str(at), cell=SimpleNamespace(contestant=("pi", "m", "p"), agent=agent))
        for at in range(len(usages))
    ]
    progress = Progress(runs)
    for run, usage in zip(runs, usages, strict=True):
        progress.started(run)
        progress.ended(run, Attempt("finished", None, 0.0, usage))
    assert text in progress.summary()


def test_what_judges_cost_is_a_least_where_an_answer_has_no_price():
    panel = JudgePanel(None, None, 1.0, print)
    call = ModelCall(1, 1, "openai", "m", 0.0, status=200, input_tokens=1, output_tokens=1)
    panel.charge(ModelCall(1, 1, "openai", "m", 0.0, status=500))
    assert not panel.has_unknown_cost
    panel.charge(call)
    assert panel.has_unknown_cost and panel.cost == 0


def test_progress_counts_what_judges_have_left_and_who_is_asked():
    panel = SimpleNamespace(
        metrics=[SimpleNamespace(judged=True), SimpleNamespace(judged=True), SimpleNamespace(judged=False)],
        judges=[SimpleNamespace(name="anna"), SimpleNamespace(name="bert")],
    )
    cell = SimpleNamespace(
        contestant=("pi", "m", "p"), agent=SimpleNamespace(name="pi"), eval=SimpleNamespace(name="e")
    )
    first, second = (SimpleNamespace(key=key, cell=cell, episode=1) for key in "ab")
    progress = Progress([first, second], {"e": panel})
    assert progress.judges_left() == "anna 4, bert 4"
    progress(RunStarted(first))
    assert progress.doing["a"].text == "starting"
    progress(RunDoing(first, "turn 1 of 2", lambda: 4.9))
    assert progress.doing["a"].text == "turn 1 of 2"
    progress(RunDoing(first, "turn 2 of 2", lambda: 61.0))
    assert progress.doing["a"].text == "turn 2 of 2, silent for 61 s"
    progress(JudgeAsked(first, "anna", "m1"))
    progress(JudgeAsked(first, "anna", "m2"))
    progress(JudgeAsked(first, "bert", "m1"))
    assert progress.doing["a"].text == "asking anna (2), bert (1)"
    progress(JudgeEnded(first, "anna", "m1"))
    assert (progress.doing["a"].text, progress.judges_left()) == ("asking anna (1), bert (1)", "anna 3, bert 4")
    progress(AttemptEnded(first, Attempt("finished", None, 0.0, Usage(cost_usd=0.25))))
    assert progress.judges_left() == "anna 2, bert 2", "what was stored before is not asked again"
    assert not progress.doing
    budget = Budget(2.0)
    progress(BudgetOpened(budget))
    budget.settle(0.0, 0.75)
    assert "1 of 2 runs done, $0.7500 of $2.00 spent" in progress.summary()
    progress(RunStarted(second))
    progress(RunGivenUp(second))
    assert progress.judges_left() == ""


def test_whoever_keeps_events_gets_those_that_were_documented():
    heard = []
    told = without_activity(heard.append)
    for event in (Notice("one"), BudgetOpened(Budget(None)), RunDoing(None, "x"), JudgeAsked(None, "a", "m")):
        told(event)
    assert heard == [Notice("one")]
