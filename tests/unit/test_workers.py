"""Tests that share what takes long to make run on one worker."""

from __future__ import annotations

import os

import pytest


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there are no workers")
@pytest.mark.xdist_group("workers")
def test_tests_that_share_a_fixture_are_a_group_of_the_scheduler(request):
    grouped = [(item, item.get_closest_marker("xdist_group")) for item in request.session.items]
    names = [(item.nodeid, mark.args[0]) for item, mark in grouped if mark]
    assert [nodeid for nodeid, name in names if not nodeid.endswith(f"@{name}")] == []
    assert not any("]" in name for _, name in names), "the scheduler takes such a group for a parameter"
