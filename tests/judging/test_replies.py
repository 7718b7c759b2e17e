"""Each judge's answer is stored as it arrives: a command that was killed asks only what is missing, and pays nothing twice."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import threading
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest

from helpers.judging import answer_of, items_of, pointer_in, says
from helpers.ladders import laddered
from orvl.testing import Answer, Fault, ModelServer

PROCESS = True
AT_ONCE = 2
FILES = {"a.py": "# Adds two numbers.\ndef add(a, b):\n    return a + b\n"}
WRITE = "import json, sys; [open(p, 'w').write(t) for p, t in json.loads(sys.argv[1]).items()]"
METRICS = ("m1", "m2", "m3", "m4")
SAYS_YES = says("yes")
VIEWS = 2
"""The file has a comment, so that each question is asked with and without words."""


@dataclass
class CountingJudge:
    """Answers every question, and tells when the next `left` of them have been asked."""

    script: Any = SAYS_YES
    asked: list[str] = field(default_factory=list)
    left: int = 0
    reached: threading.Event = field(default_factory=threading.Event)

    def __call__(self, request: Any) -> Any:
        self.asked.append(request.prompt_text)
        self.left -= 1
        if self.left == 0:
            self.reached.set()
        return self.script(request)

    def wait_for(self, number: int) -> threading.Event:
        self.reached.clear()
        self.left = number
        return self.reached


def judged_project(project, servers, episodes=1, metrics=METRICS):
    words = ["python3", "-c", WRITE, json.dumps(FILES)]
    for name in ("worker", "rival"):
        project.agent(name, f'models = {{"none": ["m"]}}\n\ndef command(prompt):\n    return {words!r}\n')
    for metric in metrics:
        project.score(metric, f"items = ['{metric} adds numbers.', '{metric} says so.']\n")
    project.eval("e", "---\nmetrics: {" + ", ".join(f"{m}: 1" for m in metrics) + "}\n---\nAdd two numbers.\n")
    hosts = [
        f'[providers.h{at}]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nconcurrency = {AT_ONCE}\n'
        f'[judges.j{at}]\nmodel = "scripted"\nprovider = "h{at}"\n'
        for at, server in enumerate(servers)
    ]
    project.toml(f"episodes = {episodes}\n" + "\n".join(hosts))


def killed_at(project, judge, number, *words, by=signal.SIGKILL):
    """Kills a command when a judge has been asked so many more questions; says whether it came to that."""
    reached = judge.wait_for(number)
    process = subprocess.Popen(
        [*project.command, *words],
        cwd=project.root,
        env=project.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        while process.poll() is None:
            if reached.wait(0.05):
                os.kill(process.pid, by)
                process.wait(60)
                return True
    return False


def stored_answers(project):
    """Answers that are on the disk: those that wait for their score, and those that led to one."""
    if not (project.root / ".orvl/orvl.db").exists():
        return 0
    waiting = project.rows("SELECT count(*) FROM judge_reply")[0][0]
    details = project.rows("SELECT detail FROM score WHERE judge <> ''")
    return waiting + sum(json.loads(detail)["calls"] for (detail,) in details)


@pytest.mark.parametrize("episodes", [2, pytest.param(6, marks=pytest.mark.nightly)])
def test_kills_while_runs_are_judged_lose_no_answer(project, episodes):
    judges = CountingJudge(), CountingJudge()
    with ModelServer(judges[0]) as one, ModelServer(judges[1]) as two:
        judged_project(project, (one, two), episodes)
        words = ("worker", "--eval=e", "--sandbox=none", "-q")
        needed = len(judges) * len(METRICS) * VIEWS * episodes
        repeated = 0
        for number in (1, 2, 3, 5, 4):
            before = stored_answers(project)
            asked = sum(len(judge.asked) for judge in judges)
            if not killed_at(project, judges[number % 2], number, *words):
                break
            lost = sum(len(judge.asked) for judge in judges) - asked - (stored_answers(project) - before)
            assert 0 <= lost <= AT_ONCE * len(judges), "more was lost than was on its way"
            repeated += lost
        assert repeated, "no kill came while a judge was asked"
        done = project.orvl(*words, "--json")
        assert done.status == 0, done.err
    assert sum(len(judge.asked) for judge in judges) == needed + repeated
    row = done.json["ratings"][0]
    assert row["runs"] == {"planned": episodes, "rated": episodes, "failed": 0, "errored": 0}
    assert all(row["metrics"][metric]["mean"] == 1 for metric in METRICS)
    assert project.rows("SELECT count(*) FROM judge_reply") == [(0,)]
    assert stored_answers(project) == needed
    assert project.orvl("doctor").status == 0


def test_an_answer_that_was_stored_is_the_one_that_counts(project):
    """A judge that answers otherwise the second time: what it said first stands."""
    moods = iter(["yes"] * 3)
    judge = CountingJudge(lambda request: says(next(moods, "no"))(request))
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1", "m2"))
        project.toml((project.root / "orvl.toml").read_text().replace(f"concurrency = {AT_ONCE}", "concurrency = 1"))
        killed_at(project, judge, 4, "worker", "--eval=e", "--sandbox=none", "-q")
        kept = stored_answers(project)
        assert kept in (3, 4)
        assert project.orvl("worker", "--eval=e").status == 0
        # Where the stored answers and the new one differ, both views are asked again: 3 questions.
        assert len(judge.asked) in (4 + (4 - kept), 4 + (4 - kept) + 3)
    details = [json.loads(row[0]) for row in project.rows("SELECT detail FROM score WHERE judge <> ''")]
    said = [answer for detail in details for answer in (*detail["answers"], *detail["plain"]["answers"])]
    assert said.count("yes") >= 2 * 2, "the first answers were yes, and are not asked for again"


def test_an_interrupted_command_keeps_what_was_answered(project):
    """Ctrl-C while one judge answers and the other hangs."""
    quick, hanging = CountingJudge(), CountingJudge(lambda _: Fault.hang(30))
    with ModelServer(quick) as one, ModelServer(hanging) as two:
        judged_project(project, (one, two))
        words = ("worker", "--eval=e", "--sandbox=none", "-q")
        reached = quick.wait_for(len(METRICS) * VIEWS)
        process = subprocess.Popen([*project.command, *words], cwd=project.root, env=project.env)
        assert reached.wait(60)
        for _ in range(2):  # The second ends it at once.
            process.send_signal(signal.SIGINT)
        process.wait(60)
        hanging.script = says("yes")
        hanging.asked.clear()
        done = project.orvl(*words, "--json")
    assert done.status == 0, done.err
    assert len(hanging.asked) == len(METRICS) * VIEWS
    assert len(quick.asked) <= len(METRICS) * VIEWS + 2 * AT_ONCE


@pytest.mark.parametrize("command", ["certify", "calibrate"])
def test_controls_are_judged_on_where_the_command_was_killed(project, tmp_path, command):
    words = (command, "--eval=one", "--episodes=1", "--yes", "-q", *(["--gate"] if command == "certify" else []))
    judge = CountingJudge()
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("works",))
        (project.root / "evals/e.md").unlink()
        laddered(project, ("one",))
        assert project.orvl(*words, f"--store={tmp_path / 'whole'}").status in (0, 1)
        needed = len(judge.asked)
        judge.asked.clear()
        lost = 0
        for number in (2, 3, 1):
            asked, before = len(judge.asked), stored_answers(project)
            assert killed_at(project, judge, number, *words)
            lost += len(judge.asked) - asked - (stored_answers(project) - before)
        assert project.orvl(*words).status in (0, 1)
    assert len(judge.asked) == needed + lost
    assert lost <= 3 * AT_ONCE


def test_a_race_goes_on_where_it_was_killed(project):
    judge = CountingJudge()
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1", "m2"))
        words = ("worker,rival", "--eval=e", "--race", "--sandbox=none", "-q")
        lost = 0
        for number in (2, 3):
            asked = len(judge.asked)
            before = stored_answers(project)
            assert killed_at(project, judge, number, *words)
            lost += len(judge.asked) - asked - (stored_answers(project) - before)
        project.orvl(*words)
    assert len(judge.asked) == 2 * 2 * VIEWS + lost


@pytest.mark.parametrize("fresh", [True, False])
def test_scoring_again_goes_on_where_it_was_killed(project, fresh):
    """A new sample of every score, or of what nobody answered: each is taken once, however often the command is killed."""
    judge = CountingJudge() if fresh else CountingJudge(lambda _: Answer("I will not say."))
    with ModelServer(judge) as server:
        judged_project(project, [server], episodes=3, metrics=("m1", "m2"))
        assert project.orvl("worker", "--eval=e").status in (0, 1)
        judge.asked.clear()
        words = ("score", "worker", "--eval=e", "--concurrency=1", *(["--fresh"] if fresh else []))
        lost = 0
        for number in (3, 5, 4):
            asked, before = len(judge.asked), stored_answers(project)
            assert killed_at(project, judge, number, *words)
            lost += len(judge.asked) - asked - (stored_answers(project) - before)
        assert project.orvl(*words).status in (0, 1)
    tries = 1 if fresh else 2
    assert len(judge.asked) == 3 * 2 * VIEWS * tries + lost
    samples = project.rows("SELECT max(sample), count(*) FROM score WHERE judge <> ''")
    assert samples == [(2, 3 * 2 * 2)]


def test_a_judge_that_looks_things_up_is_not_shown_them_again(project):
    """A conversation of several answers goes on after the last one that is stored."""

    def script(request):
        if "Looks left" not in request.prompt_text:
            return Answer(json.dumps({"looks": ["list ."], "items": [], "rationale": ""}))
        return Answer(answer_of(["yes"] * len(items_of(request)), pointer_in(request)))

    judge = CountingJudge(script)
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1",))
        project.score("m1", "may_look = True\nitems = ['It adds.']\n")
        project.toml((project.root / "orvl.toml").read_text() + "looks = 2\n")
        lost = 0
        for number in (3, 1):
            asked = len(judge.asked)
            before = stored_answers(project)
            if killed_at(project, judge, number, "worker", "--eval=e", "--sandbox=none", "-q"):
                lost += len(judge.asked) - asked - (stored_answers(project) - before)
        assert project.orvl("worker", "--eval=e").status == 0
    assert len(judge.asked) == 2 * VIEWS + lost


def test_what_stored_answers_cost_is_not_charged_again(project):
    """The budget of a command is for what it asks itself; a score's own cost is that of all its answers."""
    judge = CountingJudge()
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1", "m2"))
        assert killed_at(project, judge, 3, "worker", "--eval=e", "--sandbox=none", "-q")
        done = project.orvl("worker", "--eval=e", "--json")
    assert done.status == 0
    for (detail,) in project.rows("SELECT detail FROM score WHERE judge <> ''"):
        assert json.loads(detail)["calls"] == VIEWS
        assert json.loads(detail)["input_tokens"] == 1000 * VIEWS


def test_a_round_trip_goes_on_where_it_was_killed(project):
    def script(request):
        if "Write for them" in request.prompt_text:
            return Answer(json.dumps({"description": "It adds.", "rules": ["Add two numbers."]}))
        return Answer(json.dumps({"files": [{"path": "a.py", "content": FILES["a.py"]}]}))

    judge = CountingJudge(script)
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1",))
        assert killed_at(project, judge, 3, "round-trip", "e")
        kept = project.rows("SELECT count(*) FROM judge_reply")[0][0]
        assert kept in (2, 3)
        assert project.orvl("round-trip", "e").status == 0
    assert len(judge.asked) == 3 + (3 - kept)
    assert project.rows("SELECT count(*) FROM judge_reply") == [(0,)]


FUNCTION = """
import random

async def score(run, judge):
    first = await judge.checklist(["It adds."])
    again = await judge.checklist(["It adds."])
    more = await judge.checklist(["It is short."], evidence="Two lines.")
    return (float(first) + float(again) + float(more)) / 3
"""


def test_a_users_own_function_asks_only_what_is_missing(project):
    """It asks the same question twice, and a third one: each answer is its own."""
    judge = CountingJudge()
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1",))
        project.score("m1", FUNCTION)
        lost = 0
        for number in (2, 3):
            asked, before = len(judge.asked), stored_answers(project)
            assert killed_at(project, judge, number, "worker", "--eval=e", "--sandbox=none", "-q")
            lost += len(judge.asked) - asked - (stored_answers(project) - before)
        assert project.orvl("worker", "--eval=e").status == 0
    assert len(judge.asked) == 3 * VIEWS + lost


def test_an_answer_that_cannot_be_used_is_paid_once_too(project):
    """The second try goes on from the first answer, which is stored although nobody could use it."""

    def script(request):
        return SAYS_YES(request) if "That answer cannot be used" in request.prompt_text else Answer("Hm.")

    judge = CountingJudge(script)
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1",))
        asked, before = len(judge.asked), stored_answers(project)
        assert killed_at(project, judge, 3, "worker", "--eval=e", "--sandbox=none", "-q")
        lost = len(judge.asked) - asked - (stored_answers(project) - before)
        assert project.orvl("worker", "--eval=e").status == 0
    assert len(judge.asked) == 2 * VIEWS + lost


@pytest.mark.parametrize(
    "content", ["{}", '{"answer": 1, "call": 2, "replied": 3}', '{"answer": {"x": 1}, "call": {}}', "[]"]
)
def test_an_answer_in_a_store_from_elsewhere_that_is_none_is_asked_for(project, content):
    judge = CountingJudge()
    with ModelServer(judge) as server:
        judged_project(project, [server], metrics=("m1",))
        assert killed_at(project, judge, 2, "worker", "--eval=e", "--sandbox=none", "-q")
        with closing(sqlite3.connect(project.root / ".orvl/orvl.db")) as db, db:
            db.execute("UPDATE judge_reply SET content = ?", (content,))
        done = project.orvl("worker", "--eval=e", "--json")
    assert done.status == 0 and "Traceback" not in done.err, done.err
    assert done.json["ratings"][0]["metrics"]["m1"]["mean"] == 1
