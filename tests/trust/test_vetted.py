"""What is kept of the gate for the evals that come with orvl says something about them as they are now."""

from __future__ import annotations

from pathlib import Path

import pytest

from orvl.project import open_project
from orvl.trust.standing import eval_content
from orvl.trust.vetted import PACKAGED, VERSION, packaged

NAMES = sorted(path.parent.name for path in PACKAGED.parent.glob("*/eval.md"))
STALE = {"hello-world"}
"""Those whose record is of another content, or of a round that did not pass: to be tried again. Empty in the end."""
WITHOUT_A_RECORD = {
    *("fix-slugs", "git-tangle", "kitchen-converter", "one-list", "parse-logs"),
    *("room-bookings", "sales-report", "shift-swap", "tidy-invoice", "todo-cli"),
}
"""Those that no whole round was kept of. Empty in the end."""


def passed_as_it_is(name: str) -> bool:
    record = packaged()[name]
    content = eval_content(open_project(Path(__file__).parent).eval(name))
    return (record["version"], record["content"], record["whole"], record["vetted"]) == (VERSION, content, True, True)


def test_every_record_is_of_an_eval():
    assert set(packaged()) <= set(NAMES)


def test_evals_without_a_record_are_known():
    """`orvl check NAME` makes one; a new eval stands in the list until then."""
    assert set(NAMES) - set(packaged()) <= WITHOUT_A_RECORD
    assert not WITHOUT_A_RECORD & set(packaged()), "take these out of the list: they have a record"
    assert set(NAMES) >= WITHOUT_A_RECORD


@pytest.mark.parametrize("name", sorted(packaged()))
def test_a_record_is_of_the_eval_as_it_is_now_and_of_a_round_that_passed(name):
    assert passed_as_it_is(name) != (name in STALE)
    states = packaged()[name]["tests"].values()
    assert set(states) <= {"passed", "not applicable"} or name in STALE
