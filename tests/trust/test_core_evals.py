"""The core and hard evals are conversations: each turn has checks of its own, and the controls say what each turn leaves."""

from __future__ import annotations

from statistics import median

import pytest
from test_evals import CORE, HARD, loaded

from helpers.needs import need_program
from orvl.project.draw import drawn

MEDIAN_WORDS = 60
"""Of a turn, with what is pasted in it: people do not write specifications."""


@pytest.mark.parametrize("name", CORE)
def test_each_turn_has_checks_of_its_own(name):
    one = loaded(name)
    assert one.tier == ("hard" if name in HARD else "core")
    assert one.metrics is None, "what counts on it is what counts on every eval"
    last = len(one.prompts)
    assert {check.turn or last for check in one.checks if not check.keep} == set(range(1, last + 1))
    assert any(check.keep for check in one.checks)
    assert all(check.isolated for check in one.checks)
    assert {"good", "good-2", "bad", "bugs", "cheats"} <= set(one.control_digests)


@pytest.mark.parametrize("name", CORE)
def test_prompts_are_short_and_name_no_check(name):
    for episode in range(1, 21):
        one = drawn(loaded(name), episode)
        assert median(len(prompt.split()) for prompt in one.prompts) < MEDIAN_WORDS
        assert not any(check.name in prompt for check in one.checks for prompt in one.prompts)


@pytest.mark.nightly
@pytest.mark.parametrize("name", CORE)
def test_good_work_passes_all_checks_and_bad_or_no_work_nearly_none(project, name):
    need_program("bwrap")
    done = project.orvl("--agent=dummy-good,dummy-bad,empty", f"--eval={name}", "--json", timeout=3000)
    assert done.status == 0, done.err[-2000:]
    means = {row["agent"]: row["metrics"]["checks"]["mean"] for row in done.json["ratings"]}
    assert means["dummy-good"] == 1
    assert means["dummy-bad"] <= 0.20
    assert means["empty"] <= 0.05
