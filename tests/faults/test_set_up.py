"""An agent that is set up wrongly is errored with its own words; none can choose to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from helpers.user_project import UserProject
from orvl.testing import ModelServer

ASK = """
import json, os, sys, urllib.request

def ask():
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()
    head = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    urllib.request.urlopen(urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body, head)).read()
"""
AGENT = """
protocol = "openai"
models = {{"host": ["m", "other"]}}

def command(prompt, model):
    return ["python3", "-c", {code!r}, prompt, model]
"""
USAGE = "sys.exit('error: no config.toml; run `mine init` first')"


@pytest.fixture
def host(project: UserProject) -> Iterator[UserProject]:
    """A project with a model behind the gateway, an easy eval and a hard one."""
    with ModelServer() as server:
        project.toml(
            f'[providers.host]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nkey = "HOST_KEY"\n'
        )
        for name in ("easy", "hard"):
            project.eval(name, f"---\nmetrics: {{speed: 1, tokens: 1}}\n---\nThis is {name}.\n")
        yield project


def agent(project: UserProject, code: str, name: str = "mine") -> None:
    project.agent(name, AGENT.format(code=ASK + code))


def run(project: UserProject, *words: str) -> dict[str, dict[str, Any]]:
    """The runs of an agent on the two evals, by eval."""
    project.orvl(*(words or ("mine", "m", "--eval", "easy,hard")), env={"HOST_KEY": "k" * 20})
    rows = project.orvl("report", "mine*", "m", "--by", "run", "--json").json["ratings"]
    return {row["eval"]: row for row in rows}


def scores(row: dict[str, Any]) -> dict[str, float]:
    return {name: metric["mean"] for name, metric in row["metrics"].items()}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (USAGE, "ended with status 1, and said: error: no config.toml; run `mine init` first"),
        ("print('usage: mine --model M'); sys.exit(64)", "ended with status 64, and said: usage: mine --model M"),
        ("input('Which login? ')", "EOFError"),
        ("import signal; os.kill(os.getpid(), signal.SIGILL)", "signal 4"),
        ("raise ModuleNotFoundError('litellm')", "ModuleNotFoundError: litellm"),
        ("import urllib.error\nos.environ['OPENAI_API_KEY'] = 'stale'\nask()", "401"),
        ("os.environ['OPENAI_BASE_URL'] += '/v1'\nask()", "404"),
    ],
)
def test_an_agent_that_never_calls_its_model_is_errored_with_its_own_words(host, code, words):
    agent(host, code)
    rows = run(host)
    assert [(row["outcome"], row["R"]) for row in rows.values()] == [("errored", None)] * 2
    for row in rows.values():
        assert words in row["reason"]
        assert row["reason"].endswith("it seems to be set up wrongly")


@pytest.mark.parametrize("concurrency", ["1", "4"])
def test_an_agent_cannot_choose_to_be_errored_on_a_hard_eval(host, concurrency):
    agent(host, "if 'hard' in sys.argv[1]: " + USAGE + "\nask(); open('answer.txt', 'w').write('done')")
    words = ("--eval", "easy,hard", "--episodes", "3", "--concurrency", concurrency)
    done = host.orvl("mine", "m", *words, "--json", env={"HOST_KEY": "k" * 20})
    rows = {row["eval"]: row for row in done.json["ratings"]}
    assert rows["easy"]["runs"] == {"planned": 3, "rated": 3, "failed": 0, "errored": 0}
    assert rows["hard"]["runs"] == {"planned": 3, "rated": 3, "failed": 3, "errored": 0}
    assert scores(rows["hard"]) == {"speed": 0, "tokens": 0}


def test_a_later_command_knows_that_an_agent_works(host):
    agent(host, "if 'hard' in sys.argv[1]: " + USAGE + "\nask()")
    run(host, "mine", "m", "--eval", "easy")
    assert run(host, "mine", "m", "--eval", "hard")["hard"]["outcome"] == "failed"


def test_an_earlier_command_is_put_right_by_the_next(host):
    agent(host, "if 'hard' in sys.argv[1]: " + USAGE + "\nask()")
    assert run(host, "mine", "m", "--eval", "hard")["hard"]["outcome"] == "errored"
    assert run(host)["hard"]["outcome"] == "failed"


def test_a_run_that_fails_after_a_call_shows_that_the_set_up_works(host):
    agent(host, "if 'hard' in sys.argv[1]: " + USAGE + "\nask(); sys.exit(3)")
    assert run(host)["hard"]["outcome"] == "failed"


def test_a_call_of_another_model_is_refused_and_shows_that_the_set_up_works(host):
    agent(host, "if 'hard' in sys.argv[1]: " + USAGE + "\nask()")
    text = (host.root / "agents" / "mine.py").read_text()
    host.agent("mine", text.replace('"model": "m"', '"model": "dearer"'))
    run(host, "mine", "m", "--eval", "easy")
    assert {row["outcome"] for row in run(host).values()} == {"failed"}


def test_a_file_that_was_edited_is_another_agent(host):
    agent(host, "ask()")
    run(host, "mine", "m", "--eval", "easy")
    agent(host, USAGE)
    assert run(host, "mine", "m", "--eval", "easy")["easy"]["outcome"] == "errored"


def test_an_overlay_that_breaks_an_agent_is_errored_beside_the_agent_that_works(host):
    agent(host, "if '--turbo' in sys.argv: sys.exit('unknown option --turbo')\nask()")
    host.write("overlays/fast/overlay.toml", 'arguments = ["--turbo"]\n')
    run(host, "mine,mine+fast", "m", "--eval", "easy")
    rows = host.orvl("report", "--by", "run", "--json").json["ratings"]
    assert {row["agent"]: row["outcome"] for row in rows} == {"mine": "finished", "mine+fast": "errored"}


def test_a_limit_that_an_agent_hits_without_a_call_is_its_own(host):
    host.toml((host.root / "orvl.toml").read_text() + "[limits]\nturn = 1\ngrace = 0.5\n")
    agent(host, "import time; time.sleep(60)")
    assert {row["outcome"] for row in run(host).values()} == {"failed"}


def test_an_agent_that_ends_at_once_earns_nothing_for_it(host):
    agent(host, "print('welcome, please log in')")
    row = run(host)["easy"]
    assert (row["outcome"], scores(row)) == ("finished", {"speed": 0, "tokens": 0})
    assert row["reason"] == "it made no call of its model, and said: welcome, please log in"


def test_an_agent_without_a_model_that_fails_is_rated_but_earns_nothing_for_doing_nothing(project):
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nHi.\n")
    for name, code in (("idle", "exit 2"), ("worker", "echo half > a.txt; exit 2"), ("done", "echo all > a.txt")):
        text = f'models = {{"none": ["fixed"]}}\ndef command(): return ["sh", "-c", {code!r}]\n'
        project.agent(name, text)
    done = project.orvl("idle,worker,done", "--eval", "e", "--json").json
    rows = {row["agent"]: row for row in done["ratings"]}
    assert [rows[name]["runs"]["failed"] for name in ("idle", "worker", "done")] == [1, 1, 0]
    assert rows["idle"]["R"] == 0
    assert rows["worker"]["R"] > 0 and rows["done"]["R"] > 0


def test_errored_rows_say_why_in_every_report(host):
    agent(host, "sys.exit(f'no login for process {os.getpid()}, {sys.argv[1]}')")
    words = ("mine", "m", "--eval", "easy,hard", "--episodes", "2")
    done = host.orvl(*words, env={"HOST_KEY": "k" * 20})
    assert "mine m host: 4 runs errored: 2 times turn 1 ended with status 1, and said: no login for process" in done.out
    for by in ("contestant", "eval"):
        rows = host.orvl("report", *([] if by == "contestant" else ["--by", by]), "--json").json["ratings"]
        total = 4 if by == "contestant" else 2
        assert {row["runs"]["errored"] for row in rows} == {total}
        assert all(row["reason"].startswith(f"2 of {total} errored: turn 1 ended with status 1") for row in rows)
    assert "2 of 4 errored: turn 1 ended with status 1" in host.orvl("report", "--csv").out
