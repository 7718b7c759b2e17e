"""The gate of evals asks no more than it must: large evals have to come through in ten minutes."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from orvl.trust.vetting import t06_same_verdicts, t13_seeds, t15_duration
from orvl.trust.vetting.clocks import Took
from orvl.trust.vetting.mutants import WANTED
from orvl.trust.vetting.t05_bugs_and_mutants import bug_results, survivors

CHECKS = [SimpleNamespace(name=name) for name in ("adds", "refuses", "keeps")]


class Gate:
    """Works and the checks that notice them; it writes down what is asked."""

    def __init__(self, **noticed_by: str) -> None:
        self.bugs = self.mutants = [SimpleNamespace(name=name) for name in noticed_by]
        self.noticed_by, self.asked = noticed_by, dict[str, list[str]]()
        self.bench = self

    def checks_at(self):
        return list(CHECKS)

    async def tree(self, work):
        return work.name

    async def first_failure(self, tree, checks):
        for check in checks:
            self.asked.setdefault(tree, []).append(check.name)
            if check.name in self.noticed_by[tree].split():
                return check
        return None

    async def each(self, works, look, _what):
        return [await look(work) for work in works]


def test_a_bug_is_asked_about_until_a_check_notices_it_and_another_check_is_asked_first_next_time():
    gate = Gate(one="adds refuses", two="adds refuses", three="")
    found = asyncio.run(bug_results(gate))
    assert {name: first and first.name for name, first in found.items()} == {
        "one": "adds",
        "two": "refuses",
        "three": None,
    }
    assert gate.asked["one"] == ["adds"]
    assert gate.asked["two"] == ["refuses"]
    assert sorted(gate.asked["three"]) == ["adds", "keeps", "refuses"]


def test_a_mutant_is_shown_first_to_the_check_that_noticed_the_last_one():
    gate = Gate(one="keeps", two="keeps", three="")
    assert asyncio.run(survivors(gate)) == ["three"]
    assert gate.asked["two"] == ["keeps"]


def test_repeats_and_seeds_leave_more_than_half_of_the_time_to_the_other_tests():
    assert sum(t06_same_verdicts.SHARE.values()) + t13_seeds.SHARE <= 0.45
    assert WANTED >= 40


@pytest.mark.parametrize(
    ("took", "tried", "state"), [([9], 1, "passed"), ([61, 20], 2, "passed"), ([70, 61], 2, "failed")]
)
def test_checks_that_were_quick_are_not_timed_again(took, tried, state):
    left = list(took)

    async def in_a_row(*_):
        return Took(wall=(seconds := left.pop(0)), processor=seconds, idle=0.0)

    async def tree(*_):
        return "good"

    gate = SimpleNamespace(
        eval=SimpleNamespace(checked_turns=(), tier="core", app={}),
        good=None,
        checks_at=lambda turn=0: CHECKS,
        bench=SimpleNamespace(tree=tree, in_a_row=in_a_row),
    )
    assert asyncio.run(t15_duration.run(gate)).state == state
    assert len(took) - len(left) == tried
