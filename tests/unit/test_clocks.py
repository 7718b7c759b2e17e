"""How long checks take is told without what they wait for others."""

from __future__ import annotations

import pytest

from orvl.trust.vetting.clocks import Took, read_clocks


@pytest.mark.parametrize(
    ("took", "seconds"),
    [
        (Took(wall=4.0, processor=3.0, idle=2.5), 4.0),  # a quiet machine, one of two processors at work
        (Took(wall=4.0, processor=0.1, idle=3.95), 4.0),  # it sleeps
        (Took(wall=40.0, processor=4.0, idle=0.0), 4.0),  # others are at work
    ],
)
def test_a_machine_that_is_never_idle_makes_checks_no_slower(took, seconds):
    assert took.seconds == seconds


def test_clocks_count_own_work():
    began = read_clocks()
    while (took := read_clocks() - began).processor < 0.05:
        pass
    assert took.wall >= 0.04
    assert took.idle >= 0
