"""Every command that prints tables, on terminals of several widths and in a pipe: all of it is there, and it fits."""

from __future__ import annotations

import json
import re

import pytest

from helpers.pseudo_terminal import drawn_by
from orvl.report.terminal import cell_width

SANDBOX = "none"
MADE_ONCE = ("stored",)
WIDTHS = (60, 80, 120, 160)
LONG = "an-agent-whose-name-is-longer-than-any-column-of-a-narrow-terminal-could-be"
TWINS = (f"{LONG}-1", f"{LONG}-2")
BOTH = ",".join(TWINS)
MODEL = "模型-" * 6 + "m"
EVALS = [f"an-eval-with-a-long-name-of-its-own-{number}" for number in range(4)]
METRICS = [f"a-metric-that-nobody-could-call-short-{number}" for number in range(6)]
AGENT = """
models = {{"none": ["{model}"]}}

def command(prompt):
    return ["sh", "-c", "echo {name} > answer.txt"]
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    from helpers.user_project import UserProject

    project = UserProject(tmp_path_factory.mktemp("widths") / "project")
    project.sandbox = SANDBOX
    for place, name in enumerate(METRICS):
        project.score(name, f'def score(run): return 0.{place + 1} + 0.3 * ("1" in run.read("answer.txt"))\n')
    for name in EVALS:
        project.eval(name, f"---\nmetrics: {json.dumps(dict.fromkeys(METRICS, 1))}\n---\nSay hello.\n")
    for name in TWINS:
        project.agent(name, AGENT.format(model=MODEL, name=name))
    done = project.orvl(BOTH, "--eval", EVALS[0])
    assert done.status == 0, done.out
    project.agent(TWINS[0], AGENT.format(model=MODEL, name="changed 1"))
    done = project.orvl(BOTH)
    assert done.status == 0, done.err
    return project


COMMANDS = {
    "run": (*TWINS[:1],),
    "dry-run": (BOTH, "--dry-run", "--fresh"),
    "report": ("report",),
    "report by eval": ("report", "--by", "eval"),
    "report by run": ("report", "--by", "run"),
    "matrix": ("report", "--matrix"),
    "history": ("report", "--history"),
    "compare": ("compare", *TWINS),
    "show": ("show", f"{TWINS[0]}/{EVALS[1]}/1"),
    "show a row": ("show", TWINS[0]),
    "list": ("list",),
    "doctor": ("doctor",),
    "gc": ("gc", "--runs", "--agent", TWINS[0], "--dry-run"),
    "certify": ("certify", "--eval", "hello-world", "--gate", "--episodes=1", "-q"),
    "certify dry": ("certify", "--eval", "hello-world", "--dry-run"),
    "endpoints": ("endpoints",),
    "install": ("install",),
}
SLOW = ("doctor", "certify")
NAMED = {
    "run": TWINS[:1],
    "dry-run": (*TWINS, *EVALS, MODEL),
    "report": (*TWINS, *METRICS, MODEL),
    "report by eval": (*TWINS, *METRICS, *EVALS),
    "report by run": (*TWINS, *METRICS, *EVALS),
    "matrix": (*TWINS, *EVALS),
    "history": (TWINS[0], EVALS[0]),
    "compare": (*TWINS, *METRICS),
    "show": (*METRICS,),
    "show a row": (*METRICS, *EVALS),
    "list": (*TWINS, *EVALS, *METRICS, MODEL),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_nothing_is_wider_than_the_terminal(stored, what):
    for width in WIDTHS[::2] if what in SLOW else WIDTHS:
        out = stored.orvl(*COMMANDS[what], env={"COLUMNS": str(width)}).out
        assert out, what
        for line in out.splitlines():
            assert cell_width(line) <= width, (width, line)


@pytest.mark.parametrize("what", NAMED)
def test_every_name_can_be_read_at_every_width(stored, what):
    """Folded names are put together from the columns of the lines in which they stand."""
    for width in (*WIDTHS[::2], None):
        out = stored.orvl(*COMMANDS[what], env={"COLUMNS": str(width)} if width else {}).out
        for name in NAMED[what]:
            assert name in out if width is None else is_folded_in(name, out), (what, width, name, out)


def test_a_pipe_has_every_column_and_one_line_for_each_row(stored):
    out = stored.orvl("report").out
    head = next(line for line in out.splitlines() if "R_pen" in line)
    assert all(name in head for name in METRICS)
    assert sum(line.lstrip("–1 ").startswith(LONG) for line in out.splitlines()) == 2


def test_every_column_of_the_pipe_is_there_at_every_width(stored):
    wide = next(line for line in stored.orvl("report").out.splitlines() if "R_pen" in line)
    for width in WIDTHS:
        out = stored.orvl("report", env={"COLUMNS": str(width)}).out
        for heading in re.split(r"\s{2,}", wide.strip()):
            assert is_folded_in(heading, out), (width, heading)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_real_terminal_is_measured(stored, width):
    env = {**stored.env, "TERM": "xterm", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    status, said = drawn_by(stored, "report", env=env, width=width)
    assert status == 0
    lines = said.decode().replace("\r\n", "\n").split("\n")
    assert width - 30 < max(map(cell_width, lines)) <= width
    assert all(is_folded_in(name, "\n".join(lines)) for name in (*TWINS, *METRICS))


def is_folded_in(name: str, out: str) -> bool:
    """Whether some cell of a table, or a text, reads as the name, where need be over several lines."""
    grid = [list(cells(line)) for line in out.splitlines()]
    name = name.replace(" ", "")
    return any(begins(name, cell, grid[at + 1 :]) for at, line in enumerate(grid) for cell in line)


def cells(line: str):
    """The parts of a line that are two spaces apart, each with its place on the screen."""
    screen = "".join(sign + "\0" * (cell_width(sign) - 1) for sign in line)
    for found in re.finditer(r"[^ ]+(?: [^ ]+)*", screen):
        yield found.start(), found.end(), found[0].replace("\0", "").replace(" ", "")


def begins(name: str, cell, below) -> bool:
    first, last, text = cell
    ends = [text[at:] for at in range(len(text)) if name.startswith(text[at:])]
    return name in text or any(goes_on(name[len(end) :], (first, last), below) for end in ends)


def goes_on(rest: str, where: tuple[int, int], below) -> bool:
    """Whether the lines below have the rest in the same column."""
    for first, last, text in below[0] if below else ():
        if first <= where[1] and last >= where[0]:
            if text.startswith(rest):
                return True
            if rest.startswith(text) and goes_on(rest[len(text) :], (first, last), below[1:]):
                return True
    return False
