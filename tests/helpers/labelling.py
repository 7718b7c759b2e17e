"""Runs that judges disagree on, for people to label, and a person at a terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from contextlib import contextmanager

from helpers.user_project import UserProject

NAMES = ("alpha-agent", "beta-agent", "mega-model", "alpha agent", "Mega Model")
LEVELS = (1, 2, 3, 4, 5)
AGENT = """
models = {"none": ["mega-model"]}

def command(prompt):
    words = "printf 'made by NAME with Mega Model\\\\n\\\\033[31mred NUMBER\\\\n' > answer.txt; seq 300 > long.txt"
    return ["sh", "-c", words]
"""
WORTH = '''
"""What is it worth?"""

def score(run, judge):
    level = int(run.prompts[0][-2])
    own = int(run.read("answer.txt")[-2])
    return 0.9 - own / 10 - (0 if judge.name == "kind" else 0.1 * level)
'''
JUDGES = """
[judges.kind]
model = "fixed"
answers = {tidy = ["yes", "yes"]}

[judges.harsh]
model = "fixed"
answers = {tidy = ["yes", "no"]}
"""


def make_judged_runs(project: UserProject) -> None:
    """Ten runs: two agents on five evals, on which the judges disagree the more the higher the level."""
    project.toml(JUDGES)
    project.score("tidy", '"""Is it tidy?"""\nitems = [("It is short.", 3), "It is named well."]\n')
    project.score("worth", WORTH)
    project.score("files", '"""How many files?"""\n\ndef score(run):\n    return 0.5\n')
    for number, name in enumerate(("alpha-agent", "beta-agent"), 1):
        project.agent(name, AGENT.replace("NAME", name).replace("NUMBER", str(number)))
    for level in LEVELS:
        project.eval(f"e{level}", f"---\nmetrics: {{tidy: 1, worth: 2, files: 1}}\n---\nDo level {level}.\n")
    done = project.orvl("alpha-agent,beta-agent", "--eval=e*", "--sandbox=none")
    assert done.status == 0, done.err


def runs_of(project):
    """(key, agent, eval) of all runs."""
    return project.rows("SELECT run.key, agent, eval FROM run JOIN cell ON cell.id = run.cell ORDER BY run.key")


def stored(project):
    return project.rows("SELECT metric, person, value, coalesce(note, drawn) FROM label ORDER BY id")


@contextmanager
def terminal(project, *words, end="\n"):
    """orvl on a pseudo terminal of 100 × 30: `say(text, until)` types a text, and gives what is drawn until then."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in project.env.items() if name != "CI"}
    env |= {"TERM": "dumb", "COLUMNS": "100", "LINES": "30", "PAGER": "cat"}
    call = [*project.command, "label", *words]
    process = subprocess.Popen(call, cwd=project.root, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    drawn = []

    def say(text, until, again=lambda: None):
        """`again` is done after each second of silence."""
        if text is not None:
            os.write(ours, f"{text}{end}".encode())
        seen, deadline = "", time.monotonic() + 20
        while until not in seen:
            assert time.monotonic() < deadline, seen
            if not select.select([ours], [], [], 1)[0]:
                again()
                continue
            try:
                seen += os.read(ours, 65536).decode("utf-8", "replace")
            except OSError:
                break
        drawn.append(seen)
        return seen

    say.fd = ours
    try:
        yield process, say, drawn
    finally:
        process.kill()
        process.wait(timeout=60)
        os.close(ours)
