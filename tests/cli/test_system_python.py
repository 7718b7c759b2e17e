"""Agents and checks get the system's Python, not the environment that orvl lives in."""

from __future__ import annotations

import os
import shutil
import sys
import venv
from pathlib import Path

import pytest

import orvl
from helpers.user_project import UserProject
from orvl.sandbox import programs

LOOK = """
for name in python3 python; do
  if command -v $name > /dev/null; then
    $name -c 'import sys; print(sys.prefix)'
    $name -c 'import orvl' 2>&1
    $name -c 'import zstandard' 2>&1
  fi
done
export -p
"""


@pytest.fixture
def beside(project: UserProject, tmp_path: Path) -> UserProject:
    """A project whose orvl lives in an environment of its own, with an agent's program beside it."""
    venv.create(tmp_path / "environment", symlinks=True)
    site = next((tmp_path / "environment/lib").glob("python*/site-packages"))
    here = [str(Path(orvl.__file__).parents[1]), *(folder for folder in sys.path if folder.endswith("site-packages"))]
    (site / "orvl.pth").write_text("\n".join(here))
    program = tmp_path / "environment/bin/beside-agent"
    program.write_text(f"#!{tmp_path}/environment/bin/python\nopen('made.txt', 'w').write('made')\n")
    program.chmod(0o755)
    project.process = True
    project.__class__ = type(
        "Beside", (UserProject,), {"command": [str(tmp_path / "environment/bin/python"), "-m", "orvl"]}
    )
    return project


def environment(project: UserProject, *folders: str) -> dict[str, str]:
    """As after `activate`, `uv run` and the like."""
    own = str(Path(project.command[0]).parent)
    search = os.pathsep.join((own, *(folders or (os.environ["PATH"],))))
    return {"PATH": search, "VIRTUAL_ENV": str(Path(own).parent), "PYTHONPATH": str(Path(orvl.__file__).parents[1])}


def looked(project: UserProject, *folders: str, sandbox: str = "bubblewrap") -> tuple[str, str]:
    """What an agent sees, and what a check sees."""
    project.write("look/look.sh", LOOK)
    path = str(project.root / "look/look.sh")
    project.agent("looker", f'models = {{"none": ["fixed"]}}\ndef command(): return ["sh", "{path}"]\n')
    check = LOOK.replace("\n", "\n      ")
    project.eval(
        "e", f"---\nmetrics: {{checks: 1}}\nchecks:\n  - name: look\n    run: |\n      {check}\n      false\n---\nHi.\n"
    )
    project.orvl("looker", "--eval", "e", "--sandbox", sandbox, env=environment(project, *folders))
    shown = project.orvl("show", "looker/e/1", "--json").json["attempts"][0]
    return project.orvl("show", "looker/e/1", "--output").out, shown["checks"][0]["output"]


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_the_environment_of_orvl_is_nowhere(beside, tmp_path, sandbox):
    for seen in looked(beside, sandbox=sandbox):
        assert "No module named 'orvl'" in seen
        assert "No module named 'zstandard'" in seen
        assert f"{tmp_path}/environment" not in seen
        assert "VIRTUAL_ENV" not in seen and "PYTHONPATH" not in seen


def test_where_there_is_no_other_python_the_one_that_it_is_built_on_is_used(beside, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("sh", "bwrap", "git"):
        (bare / name).symlink_to(str(shutil.which(name)))
    for seen in looked(beside, str(bare)):
        assert f"{sys.base_prefix}\n" in seen
        assert "No module named 'orvl'" in seen
        assert f"{tmp_path}/environment" not in seen


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_an_agent_that_is_installed_beside_orvl_still_starts(beside, sandbox):
    beside.agent("mine", 'models = {"none": ["fixed"]}\ndef command(): return "beside-agent"\n')
    beside.eval("e", "---\nmetrics: {checks: 1}\nchecks: [{name: made, run: test -s made.txt}]\n---\nHi.\n")
    done = beside.orvl("mine", "--eval", "e", "--json", "--sandbox", sandbox, env=environment(beside))
    assert done.json["ratings"][0]["R"] == 1, done.err


def test_a_conda_environment_is_one_of_its_own(tmp_path, monkeypatch):
    for name in ("conda-meta", "bin"):
        (tmp_path / "conda" / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "conda"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "conda"))
    monkeypatch.setenv("PATH", f"{tmp_path}/conda/bin:/usr/bin:/bin")
    assert str(tmp_path) not in programs.inner_path().removesuffix(f"{tmp_path}/conda/bin")
    assert programs.own_environment() == str(tmp_path / "conda/bin")


def test_the_systems_own_python_is_no_environment(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/usr")
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin")
    assert programs.inner_path().startswith("/usr/local/bin:/usr/bin")


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_an_isolated_check_does_not_go_through_a_version_manager_each_time(project, tmp_path, sandbox):
    shims = tmp_path / "manager" / "shims"
    shims.mkdir(parents=True)
    python = os.path.realpath("/usr/bin/python3")
    (shims / "python3").write_text(f'#!/bin/sh\nTHROUGH_IT=yes exec {python} "$@"\n')
    (shims / "python3").chmod(0o755)
    look = 'import os, sys; print(sys.executable, os.environ.get("THROUGH_IT"))'
    project.eval(
        "e",
        "---\nmetrics: {checks: 1}\nchecks:\n"
        f"  - name: apart\n    run: |\n      python3 -c '{look}'; subject run echo hi; false\n    isolated: true\n"
        f"  - name: beside\n    run: |\n      python3 -c '{look}'; false\n---\nHi.\n",
    )
    project.agent("mine", 'models = {"none": ["fixed"]}\ndef command(): return ["true"]\n')
    project.process = True
    env = {"PATH": f"{shims}:/usr/bin:/bin", "PYTHONPATH": str(Path(orvl.__file__).parents[1])}
    done = project.orvl("mine", "--eval", "e", "--sandbox", sandbox, env=env)
    assert done.status == 0, done.err
    apart, beside = project.orvl("show", "mine/e/1", "--json").json["attempts"][0]["checks"]
    assert apart["output"] == f"{python} None\nhi\n"
    assert beside["output"] == f"{python} yes\n"
