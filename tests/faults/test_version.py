"""An agent's version command is somebody else's program: it runs where the agent itself runs, and within bounds."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from orvl.sandbox import version
from orvl.sandbox.version import NoVersion, printed_version, run_bounded

AGENT = """
models = {{"none": ["m"]}}
version = {argv!r}
def command(): return "true"
"""


@pytest.fixture
def tool(project):
    """Makes an agent whose program, in PATH, is this shell script."""
    folder = project.root.parent / "bin"
    folder.mkdir()

    def make(script, *words):
        path = folder / "their-agent"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        project.agent("their", AGENT.format(argv=["their-agent", *(words or ["--version"])]))
        project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo on.\n")
        return {"PATH": f"{folder}:{os.environ['PATH']}"}

    return make


def test_a_version_command_changes_and_sees_nothing_of_the_users(project, tool):
    secret = project.root.parent / "secret.txt"
    secret.write_text("mine")
    env = tool(
        f"echo theirs > {secret}; cat {secret} /etc/shadow > $HOME/seen 2>&1; touch here; kill -9 {os.getpid()}\n"
        f"grep -q mine {secret} $HOME/seen && echo 'saw it' || echo '1.2.3 in '$(pwd)' of '$HOME"
    )
    done = project.orvl("their", "--eval=e", "--json", env=env)
    assert done.status == 0, done.err
    assert secret.read_text() == "mine"
    assert not (project.root / "here").exists()
    shown = project.orvl("show", "their/e/1", "--json").json
    assert shown["version"] == "1.2.3 in /workspace of /home/agent"


def test_without_walls_only_where_that_was_asked_for(project, tool):
    env = tool(f"echo version > {project.root}/here; echo 1.0")
    assert project.orvl("their", "--eval=e", "--dry-run", env=env).status == 0
    assert project.orvl("doctor", env=env).status in (0, 1)
    assert not (project.root / "here").exists()
    assert project.orvl("their", "--eval=e", "--sandbox=none", env=env).status == 0
    assert (project.root / "here").exists()


def test_endless_output_is_cut_and_its_first_line_is_the_version(project, tool):
    env = tool("echo 4.5.6; yes | head -c 1000000000")
    done = project.orvl("their", "--eval=e", "--dry-run", env=env, timeout=60)
    assert done.status == 0, done.err


def test_a_line_without_an_end_is_bounded():
    found = printed_version(["yes"], lambda _: run_bounded(["sh", "-c", "tr '\\0' x </dev/zero"], env=dict(os.environ)))
    assert found == "x" * 200


def test_a_version_command_that_never_ends_is_ended_with_all_that_it_started(monkeypatch, tmp_path):
    monkeypatch.setattr(version, "SECONDS", 5.0)
    mark = tmp_path / "mark"
    script = f"(sleep 600 & echo $! > {mark}); exec sleep 600"
    found = printed_version(["it"], lambda _: run_bounded(["sh", "-c", script], env=dict(os.environ)))
    assert isinstance(found, NoVersion)
    assert "timed out" in found.why
    process = Path(f"/proc/{int(mark.read_text())}/cmdline")
    deadline = time.monotonic() + 60
    while _is_running(process):
        assert time.monotonic() < deadline, "it is gone, or waits only for whoever reaps it"
        time.sleep(0.05)


def _is_running(command_line: Path) -> bool:
    try:
        return bool(command_line.read_bytes())
    except OSError:
        return False


def test_a_version_command_that_is_missing_or_fails_is_a_sentence(project, tool):
    env = tool("echo broken >&2; exit 3")
    done = project.orvl("their", "--eval=e", env=env)
    assert done.status == 2
    assert "ended with status 3 and said: broken" in done.err
    (project.root.parent / "bin/their-agent").unlink()
    done = project.orvl("their", "--eval=e", env=env)
    assert done.status == 2
    assert "is not installed: 'their-agent' is not in PATH" in done.err
