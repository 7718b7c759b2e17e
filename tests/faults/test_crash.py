"""SIGKILL at any moment loses nothing that was stored, repeats nothing, and leaves nothing behind: as root and as an
ordinary user, while agents run, while judges are asked, and during gc, a race and a migration."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from helpers.campaign import Campaign, assert_whole_version, processes_of, until
from helpers.judging import says
from helpers.ladders import laddered
from helpers.ordinary_user import AS_ROOT, OrdinaryProject, library_for_all
from helpers.user_project import UserProject
from orvl.store import database
from orvl.store.schema import MIGRATIONS
from orvl.testing import ModelServer

PROCESS = True
MADE_ONCE = ("library",)
NIGHTLY = pytest.mark.nightly
# Kills, and episodes of each cell.
SMALL, LARGE = (4, 1), (40, 16)
SIZES = [
    pytest.param(user, sandbox, *size, id=f"{user}-{sandbox}-{name}", marks=[] if is_quick else NIGHTLY)
    for user in ("root", "ordinary")
    for sandbox in ("none", "bubblewrap")
    for name, size in (("small", SMALL), ("large", LARGE))
    # Each user and each sandbox is in the quick ones; both together, and dozens of kills, run at night.
    for is_quick in [name == "small" and (user == "ordinary") == (sandbox == "bubblewrap")]
]

AGENT = """
models = {{"none": ["one"]}}

def command(prompt):
    # A daemon that leaves its parent and session behind, then a little work.
    work = 'setsid sleep {marker} >/dev/null 2>&1 & sleep 0.1; cat given > out; echo "$1" >> out'
    return ["sh", "-c", work, "sh", prompt]
"""
HEAD = """---
metrics: {speed: 1, checks: 1}
checks: [{name: out, run: test -s out}]
setup: 'echo made > given; for n in $(seq 80); do echo $n > f$n; done'
---
"""


@pytest.fixture(scope="module")
def library():
    with library_for_all() as folder:
        yield folder


@pytest.fixture
def project_of(request):
    """A project of root, or of an ordinary user."""
    base = Path(tempfile.mkdtemp(prefix="orvl-crash-"))

    def make(user: str) -> UserProject:
        if user == "ordinary":
            return OrdinaryProject(base, request.getfixturevalue("library"))
        if not AS_ROOT:
            pytest.skip("the tests do not run as root")
        project = UserProject(base / "project")
        project.process = True
        return project

    yield make
    shutil.rmtree(base)


def matrix(project, evals: int = 3) -> None:
    marker = f"{random.randrange(10**6, 10**7)}.5"
    for name in ("anne", "bert"):
        project.agent(name, AGENT.format(marker=marker))
    for number in range(evals):
        project.write(f"evals/e{number}/eval.md", HEAD + f"x{number}\n")
        project.write(f"evals/e{number}/workspace/a", "a\n")


# -- runs


@pytest.mark.parametrize(("user", "sandbox", "kills", "episodes"), SIZES)
def test_kills_of_a_matrix(project_of, user, sandbox, kills, episodes):
    project = project_of(user)
    matrix(project)
    campaign, runs = Campaign(project, seed=4), 6 * episodes
    words = ["anne,bert", "--eval=e*", f"--episodes={episodes}", "--concurrency=4", f"--sandbox={sandbox}", "-q"]
    for _ in range(kills):
        campaign.kill(words)
    assert campaign.kills, "the kills came too late to prove anything"
    done = campaign.finish(*words, "--json")
    assert all(
        row["runs"] == {"planned": episodes, "rated": episodes, "failed": 0, "errored": 0}
        for row in done.json["ratings"]
    )
    assert sorted(row[4] for row in campaign.attempts()) == ["finished"] * runs


@pytest.mark.parametrize(
    ("user", "kills"),
    [("ordinary", 3), pytest.param("root", 20, marks=NIGHTLY), pytest.param("ordinary", 20, marks=NIGHTLY)],
)
def test_kills_of_a_race(project_of, user, kills):
    project = project_of(user)
    project.score("x", 'def score(run): return float(run.read("answer"))\n')
    for name, value in (("anne", 0.9), ("bert", 0.5), ("carl", 0.1)):
        work = f"sleep 0.05; printf {value} > answer"
        project.agent(name, f'models = {{"none": ["m"]}}\ndef command(): return ["sh", "-c", {work!r}]\n')
    for number in range(6):
        project.eval(f"e{number}", f"---\nmetrics: {{x: 1}}\n---\nTask {number}.\n")
    campaign = Campaign(project, seed=11)
    words = ["anne,bert,carl", "--eval=e*", "--race", "--sandbox=none", "--concurrency=2", "-q"]
    for _ in range(kills):
        campaign.kill(words)
    assert campaign.kills
    done = campaign.finish(*words, "--json")
    assert max(done.json["ratings"], key=lambda row: row["R"])["agent"] == "anne"
    assert {row[4] for row in campaign.attempts()} == {"finished"}


@pytest.mark.parametrize("kills", [3, pytest.param(25, marks=NIGHTLY)])
def test_kills_while_judges_are_certified(project, kills):
    """Every answer that is on the disk stays; only what was on its way is asked again."""
    laddered(project, names=("one", "two"))
    asked = []

    def judge(request):
        asked.append(request.prompt_text)
        return says("yes")(request)

    with ModelServer(judge) as server:
        project.toml(
            f'[providers.host]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nconcurrency = 2\n'
            '[judges.anna]\nmodel = "scripted"\nprovider = "host"\n'
        )
        words = ["certify", "--eval=one,two", "--episodes=1"]
        campaign = Campaign(project, seed=7)
        for _ in range(kills):
            campaign.kill([*words, "-q"], until_changed=(1, 2, 4, 8))
        killed = campaign.kills
        assert killed
        campaign.finish(*words, "--json", status=1)
        answered = project.rows("SELECT sum(json_extract(detail, '$.calls')) FROM score WHERE judge <> ''")[0][0]
        assert answered <= len(asked) <= answered + killed * 2
        before = len(asked)
        campaign.finish(*words, "--json", status=1)
        assert len(asked) == before, "what is answered is not asked again"


# -- gc


def litter(project, number: int) -> None:
    """Blobs that nobody refers to, and files that are half written."""
    owner = (project.root / ".orvl").stat()
    for at in range(number):
        folder = project.root / ".orvl/blobs" / f"{at % 256:02x}"
        folder.mkdir(exist_ok=True)
        os.chown(folder, owner.st_uid, owner.st_gid)
        (folder / f"{at:062x}.zst").write_bytes(b"x" * 100)
        (folder / f"{at:062x}.12345678.part").write_bytes(b"x" * 100)


@pytest.mark.parametrize(
    ("user", "kills"),
    [("root", 2), pytest.param("root", 30, marks=NIGHTLY), pytest.param("ordinary", 30, marks=NIGHTLY)],
)
def test_kills_of_gc_and_of_runs_between(project_of, user, kills):
    project = project_of(user)
    matrix(project, evals=1)
    words = ["anne,bert", "--eval=e0", "--sandbox=none", "-q"]
    campaign = Campaign(project, seed=3)
    campaign.finish(*words, "--json")
    for number in range(kills):
        litter(project, 800)
        campaign.kill(["gc"], until_changed=(0, 1), most=0.4)
        campaign.kill([*words, f"--episodes={number + 2}"])
    assert campaign.kills
    done = campaign.finish(*words, f"--episodes={kills + 1}", "--json")
    assert all(row["runs"]["rated"] == kills + 1 for row in done.json["ratings"])
    campaign.finish("gc")
    assert campaign.finish("gc").out.startswith("0 files")
    for name in ("anne", "bert"):
        assert project.orvl("show", f"{name}/e0/1", "--file", "out").out == "made\nx0\n"


def test_gc_beside_runs_and_other_gcs_deletes_nothing_that_is_needed(project):
    matrix(project, evals=1)
    words = ["anne,bert", "--eval=e0", "--sandbox=none", "-q"]
    assert project.orvl(*words).status == 0
    litter(project, 500)
    commands = [["gc"], [*words, "--episodes=3"], ["gc"], [*words, "--episodes=4"], ["gc"]]
    started = [
        subprocess.Popen(
            [*project.command, *command],
            cwd=project.root,
            env=project.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for command in commands
    ]
    ended = [(process.communicate(timeout=240)[1].decode(), process.returncode) for process in started]
    assert [status for _, status in ended] == [0] * len(commands), ended
    doctor = project.orvl("doctor")
    assert "intact, 8 runs" in doctor.out
    assert project.orvl("gc").out.startswith("0 files")


# -- a migration


def older_store(folder: Path, rows: int) -> None:
    """A store of the first version with so many rows that bringing it up to date takes a while."""
    database.make(folder)
    with closing(database.connect(folder, write=True, migrations=MIGRATIONS[:1])) as db:
        db.execute("BEGIN")
        db.execute("INSERT INTO call VALUES (1, 0, '0', '{}', 0)")
        db.execute("INSERT INTO cell VALUES (1, 'k', 'a', 'm', 'p', 'e', '', '[]')")
        detail = json.dumps({"turns": [], "cut": []})
        numbers = f"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {rows}) "
        for statement in (
            "INSERT INTO run SELECT x, 'r' || x, 1, x FROM n",
            "INSERT INTO attempt (id, run, call, outcome, started, seconds, sandbox, detail) "
            f"SELECT x, x, 1, 'finished', 0, 1, 'none', '{detail}' FROM n",
            "INSERT INTO checked SELECT x, 'key', '[]' FROM n",
            "INSERT INTO score SELECT x, x, 1, 'speed', 's', '', '', 1, 'scored', 0.5, NULL, NULL FROM n",
        ):
            db.execute(statement.replace("SELECT", f"{numbers}SELECT", 1))
        db.execute("COMMIT")


@pytest.mark.parametrize(
    ("half_ways", "rows"), [pytest.param(3, 40_000, id="small"), pytest.param(30, 100_000, id="large", marks=NIGHTLY)]
)
def test_kills_of_a_migration_leave_the_old_store_or_the_new(project, half_ways, rows):
    older_store(project.root / ".orvl", rows)
    before = {table: project.rows(f"SELECT * FROM {table} ORDER BY 1") for table in ("run", "attempt", "score")} | {
        "checked": project.rows("SELECT attempt, key, results FROM checked ORDER BY attempt")
    }
    saved, half_way, tries = project.root / "saved", 0, random.Random(5)
    shutil.copytree(project.root / ".orvl", saved)
    for number in range(40 * half_ways):
        process = subprocess.Popen(
            [*project.command, "report" if number % 2 else "gc"],
            cwd=project.root,
            env=project.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        log = project.root / ".orvl/orvl.db-wal"
        until(lambda log=log, process=process: process.poll() is not None or _size(log), "nothing was written")
        time.sleep(tries.uniform(0, 0.03 * rows / 20_000))
        process.send_signal(signal.SIGKILL)
        assert b"Traceback" not in process.communicate()[1]
        version = assert_whole_version(project.root / ".orvl")
        assert version in (1, len(MIGRATIONS))
        half_way += version == 1 and bool(_size(log))
        if half_way == half_ways:
            break
        if version > 1:
            # Once more from the beginning.
            shutil.rmtree(project.root / ".orvl")
            shutil.copytree(saved, project.root / ".orvl")
    assert half_way, "the kills came too early or too late to prove anything"
    assert project.orvl("report").status == 0
    assert assert_whole_version(project.root / ".orvl") == len(MIGRATIONS)
    for table in ("run", "attempt", "score"):
        after = project.rows(f"SELECT * FROM {table} ORDER BY 1")
        assert [row[: len(old)] for row, old in zip(after, before[table], strict=True)] == before[table]
    assert project.rows("SELECT attempt, key, results FROM checked ORDER BY attempt") == before["checked"]
    with closing(sqlite3.connect(project.root / ".orvl/orvl.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


# -- what an agent did to its guard


def test_a_guard_that_an_agent_stopped_does_not_outlive_orvl(project):
    project.agent(
        "mine",
        'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "touch began; kill -STOP $PPID; sleep 600"]\n',
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    process = subprocess.Popen(
        [*project.command, "mine", "--sandbox=none", "--eval=e", "-q"], cwd=project.root, env=project.env
    )
    until(lambda: list(project.tmp.glob("orvl-*/*/*/workspace/began")), "the agent did not begin")
    process.kill()
    process.wait()
    until(lambda: not processes_of(project.root.parent), "a process outlived orvl")
    assert project.orvl("empty", "--eval=e").status == 0
    assert list(project.tmp.glob("orvl-*/*")) == []
