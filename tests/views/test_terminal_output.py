"""What anybody else has written cannot take over a terminal, whatever command shows it; what is piped stays as it is."""

from __future__ import annotations

import json
import re

import pytest

from helpers.pseudo_terminal import drawn_by

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\u202eevil\u2066\u200b\U000e0041"
UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
AGENT = """
models = {{"none": ["m"]}}

def command(prompt):
    write = "import sys; open({name!r}, 'w').write({evil!r}); sys.stdout.write({evil!r}); sys.stderr.write({evil!r})"
    return ["python3", "-c", write]

def read(output):
    return {{"session": {evil!r}, "steps": [{{"source": "agent", "message": {evil!r}}}]}}
"""


def on_a_terminal(project, *words):
    """What a command writes to a terminal, on both streams."""
    env = {**project.env, "NO_COLOR": "1", "TERM": "xterm", "PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}
    _, said = drawn_by(project, *words, env=env)
    return said.decode("utf-8", "surrogateescape").replace("\r\n", "\n")


@pytest.fixture
def hostile(project):
    name = "a\x1b[31mb\u202e.txt"
    project.agent("mine", AGENT.format(name=name, evil=EVIL))
    project.eval(
        "e", "---\nmetrics: {checks: 1}\nchecks: [{name: c, run: \"printf '\\\\033[2J\\\\233'; false\"}]\n---\nx"
    )
    done = project.orvl("mine", "--eval=e", "--sandbox=none")
    assert done.status == 0, done.err
    return project


SHOWN = {
    "show": ("show", "mine/e/1"),
    "show --json": ("show", "mine/e/1", "--json"),
    "show --output": ("show", "mine/e/1", "--output"),
    "show --diff": ("show", "mine/e/1", "--diff"),
    "show --file": ("show", "mine/e/1", "--file", "a\x1b[31mb\u202e.txt"),
    "show of a run that is not there": ("show", f"mine/{EVIL.replace(chr(0), '')}/1"),
    "show of a file that is not there": ("show", "mine/e/1", "--file", EVIL),
    "export atif": ("export", "atif", "mine/e/1", "--output", "-"),
    "export runs as JSON lines": ("export", "runs", "-", "--format", "jsonl"),
    "export runs as CSV": ("export", "runs", "-", "--format", "csv"),
    "report": ("report", "--by", "run"),
    "report --json": ("report", "--json"),
    "an agent that is not there": (EVIL, "--eval=e"),
    "an eval that is not there": ("mine", f"--eval={EVIL}"),
    "a judge that is not there": ("mine", "--eval=e", f"--judge={EVIL}"),
    "list": ("list",),
    "doctor": ("doctor",),
    "a flag that is not there": (f"--{EVIL}",),
    "a project that is not there": ("list", "--project", EVIL),
}


def test_no_command_lets_anything_through_to_a_terminal(hostile):
    for how, words in SHOWN.items():
        said = on_a_terminal(hostile, *words)
        assert not UNSAFE.search(said), (how, UNSAFE.search(said), said[:400])
        assert "Traceback" not in said, said


def test_json_on_a_terminal_is_json(hostile):
    shown = json.loads(on_a_terminal(hostile, "show", "mine/e/1", "--json"))
    assert shown["attempts"][0]["turns"][0]["session"] == EVIL
    trajectory = json.loads(on_a_terminal(hostile, "export", "atif", "mine/e/1", "--output", "-"))
    assert any(step.get("message") == EVIL for step in trajectory["steps"])


def test_what_is_piped_stays_as_it_is(hostile):
    assert hostile.call("show", "mine/e/1", "--file", "a\x1b[31mb\u202e.txt").stdout.decode() == EVIL
    raw = hostile.call("export", "atif", "mine/e/1", "--output", "-").stdout.decode()
    assert "\u202e" in raw and any(step.get("message") == EVIL for step in json.loads(raw)["steps"])


def test_progress_and_errors_of_a_run_are_clean(project):
    project.agent(
        "mine",
        f'models = {{"none": ["m"]}}\n\ndef command(prompt):\n    return ["sh", "-c", {f"printf %s {EVIL!r} >&2; exit 3"!r}]\n',
    )
    project.eval("e", "---\nmetrics: {checks: 1}\nchecks: [{name: c, run: 'true'}]\n---\nx")
    said = on_a_terminal(project, "mine", "--eval=e", "--sandbox=none")
    assert not UNSAFE.search(said), said


def test_a_screenshot_is_not_written_to_a_terminal(hostile):
    assert "is not text" in on_a_terminal(hostile, "show", "mine/e/1", "--shot", "x")
