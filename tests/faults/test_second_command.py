"""A second command in the same project waits, says so, and does what is left; whoever only reads does not wait."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import orvl
from orvl.engine import Notice
from orvl.errors import StoreBusy
from orvl.store import open_store

SANDBOX = "none"

AGENT = """
from pathlib import Path

ROOT = Path(__file__).parent.parent
models = {"none": ["m"]}

def command():
    # Logs that it has begun, and ends when it is let go.
    return ["sh", "-c", 'echo x >> "$1"; while ! test -e "$2"; do sleep 0.05; done', "sh", ROOT / "NAME.log", ROOT / "go"]
"""


@pytest.fixture
def gated(project):
    """Agents whose runs end when the file `go` is there."""
    for name in ("anne", "bert"):
        project.agent(name, AGENT.replace("NAME", name))
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.started = []
    yield project
    (project.root / "go").touch()
    for process in project.started:
        process.communicate(timeout=300)


def start(project, *words: str, sandbox: bool = True) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [*project.command, *words, *(["--sandbox=none"] if sandbox else [])],
        cwd=project.root,
        env=project.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    project.started.append(process)
    return process


def until(condition, process: subprocess.Popen[str] | None = None) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.02)


def began(project, name: str) -> int:
    log = project.root / f"{name}.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def waiting(process: subprocess.Popen[str]) -> str:
    """The first line of a command's messages, which it prints when it waits."""
    line = process.stderr.readline()
    assert "Waiting for another orvl" in line, line + process.stderr.read()
    return line


def test_the_same_command_twice_runs_nothing_twice(gated):
    words = ["anne", "--eval=one", "--episodes=4", "--json"]
    first = start(gated, *words)
    until(lambda: began(gated, "anne"), first)
    second = start(gated, *words)
    line = waiting(second)
    assert f"(process {first.pid})" in line
    assert str(gated.root / ".orvl") in line
    assert "Ctrl-C stops waiting" in line
    assert began(gated, "anne") <= 4
    (gated.root / "go").touch()
    ended = [process.communicate(timeout=300) for process in (first, second)]
    assert [process.returncode for process in (first, second)] == [0, 0], ended
    ratings = [json.loads(out)["ratings"] for out, _ in ended]
    assert ratings[0] == ratings[1]
    assert ratings[0][0]["runs"] == {"planned": 4, "rated": 4, "failed": 0, "errored": 0}
    assert began(gated, "anne") == 4


def test_five_commands_with_other_agents_and_episodes_do_each_run_once(gated):
    first = start(gated, "anne", "--eval=one", "--episodes=2", "-q")
    until(lambda: began(gated, "anne"), first)
    others = [
        start(gated, *words, "--eval=one", "-q")
        for words in (["bert"], ["anne,bert", "--episodes=3"], ["anne", "--episodes=4"], ["bert", "--episodes=2"])
    ]
    for process in others:
        waiting(process)
    (gated.root / "go").touch()
    ended = [process.communicate(timeout=120) for process in (first, *others)]
    assert [process.returncode for process in (first, *others)] == [0] * 5, ended
    assert (began(gated, "anne"), began(gated, "bert")) == (4, 3)
    assert gated.rows("SELECT count(*) FROM attempt") == [(7,)]


def test_whoever_only_reads_does_not_wait(gated):
    assert gated.orvl("empty", "--eval=one").status == 0
    first = start(gated, "anne", "--eval=one", "-q")
    until(lambda: began(gated, "anne"), first)
    for words in (
        ["report", "--json"],
        ["report"],
        ["show", "empty/one/1"],
        ["doctor"],
        ["list"],
        ["export", "runs", "runs.csv"],
        ["export", "scores", "scores.jsonl"],
        ["anne", "--eval=one", "--dry-run"],
        ["endpoints"],
        ["compare", "empty", "anne"],
    ):
        result = gated.orvl(*words)
        assert "Waiting" not in result.err, words
        assert "Another orvl" not in result.err, words
        assert "Traceback" not in result.err, words
        assert result.status == 0 or words[0] == "compare", (words, result.err)
    assert first.poll() is None


@pytest.mark.parametrize("words", [["gc"], ["score", "anne", "--eval=one"]], ids=lambda words: words[0])
def test_gc_and_score_wait_too(gated, words):
    first = start(gated, "anne", "--eval=one", "-q")
    until(lambda: began(gated, "anne"), first)
    second = start(gated, *words, sandbox=False)
    waiting(second)
    (gated.root / "go").touch()
    _, err = second.communicate(timeout=300)
    assert second.returncode == 0, err
    assert gated.orvl("show", "anne/one/1").status == 0


def test_a_command_goes_on_when_the_one_before_it_is_killed(gated):
    words = ["anne", "--eval=one", "--episodes=3", "--concurrency=1", "-q"]
    first = start(gated, *words)
    until(lambda: began(gated, "anne"), first)
    second = start(gated, *words)
    waiting(second)
    first.send_signal(signal.SIGKILL)
    until(lambda: began(gated, "anne") == 2, second)
    (gated.root / "go").touch()
    assert second.wait(60) == 0
    assert gated.rows("SELECT outcome, count(*) FROM attempt GROUP BY 1") == [("finished", 3)]


def test_ctrl_c_stops_waiting_and_touches_nothing(gated):
    first = start(gated, "anne", "--eval=one", "-q")
    until(lambda: began(gated, "anne"), first)
    second = start(gated, "bert", "--eval=one")
    waiting(second)
    second.send_signal(signal.SIGINT)
    _, err = second.communicate(timeout=300)
    assert second.returncode == 130
    assert "Traceback" not in err
    assert first.poll() is None
    assert began(gated, "bert") == 0
    (gated.root / "go").touch()
    assert first.wait(60) == 0


def test_the_library_waits_and_says_so_in_an_event(gated):
    first = start(gated, "anne", "--eval=one", "-q")
    until(lambda: began(gated, "anne"), first)
    said = []

    def on_event(event) -> None:
        if isinstance(event, Notice) and "Waiting for another orvl" in event.sentence:
            said.append(event.sentence)
            (gated.root / "go").touch()

    results = orvl.open(gated.root).run("anne", eval="one", sandbox="none", on_event=on_event)
    assert len(said) == 1
    assert f"(process {first.pid})" in said[0]
    assert len(results.runs) == 1
    assert began(gated, "anne") == 1


def test_the_library_can_be_told_to_stop_waiting(gated):
    first = start(gated, "anne", "--eval=one", "-q")
    until(lambda: began(gated, "anne"), first)

    async def wait() -> None:
        stop = asyncio.Event()
        await orvl.open(gated.root).run_async("anne", eval="one", stop=stop, on_event=lambda _: stop.set())

    with pytest.raises(StoreBusy, match="Another orvl"):
        asyncio.run(wait())


def test_a_process_does_not_wait_for_itself(gated):
    with open_store(gated.root / ".orvl", write=True), pytest.raises(StoreBusy):
        orvl.open(gated.root).run("anne", eval="one", sandbox="none")


def test_a_lock_file_without_a_process_stops_nobody(gated):
    (gated.root / "go").touch()
    lock = Path(gated.root / ".orvl/lock")
    lock.parent.mkdir()
    for content in (b"", b"1", b"\xff" * 100):
        lock.write_bytes(content)
        assert gated.orvl("anne", "--eval=one").status == 0


def test_a_lock_of_another_program_is_named_as_unknown(gated):
    (gated.root / ".orvl").mkdir()
    code = "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.flock(f, 2); print(flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", code, gated.root / ".orvl/lock"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    holder.stdout.readline()
    second = start(gated, "anne", "--eval=one", "-q")
    assert "(process unknown)" in waiting(second)
    (gated.root / "go").touch()
    holder.communicate()
    assert second.wait(60) == 0
