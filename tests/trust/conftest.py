"""Runs for people to label, made once for each file that asks about them."""

from __future__ import annotations

import shutil

import pytest

from helpers.labelling import make_judged_runs
from helpers.user_project import UserProject


@pytest.fixture(scope="module")
def judged_once(tmp_path_factory) -> UserProject:
    project = UserProject(tmp_path_factory.mktemp("label") / "project")
    make_judged_runs(project)
    return project


@pytest.fixture
def judged(judged_once, tmp_path) -> UserProject:
    """A copy of them, to be changed."""
    project = UserProject(tmp_path / "project")
    shutil.copytree(judged_once.root, project.root, dirs_exist_ok=True)
    return project
