"""Real runs through the gateway, by the command line: keys stay where they are, and every end has its sentence."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

from helpers.asker import AGENT, ASK, CANARY, EVAL, KEY, prepared
from helpers.user_project import blob_keys
from orvl.store.folder import FolderBlobs
from orvl.testing import Answer, Fault, ModelServer, Tokens

A_DOLLAR = Answer("Hello.", tokens=Tokens(input=60, output=40))


def everything_stored(project) -> bytes:
    """Every byte that orvl left in the project and in its temporary folder, with blobs unpacked."""
    store = project.root / ".orvl"
    found = [file.read_bytes() for file in store.rglob("*") if file.is_file()]
    blobs = FolderBlobs(store / "blobs")
    unpacked = [blobs.get(key) for key in blob_keys(store)]
    assert unpacked, "there are no blobs to look at"
    found += [file.read_bytes() for file in project.tmp.rglob("*") if file.is_file()]
    return b"\n".join([*found, *unpacked])


def processes_that_hold(secret: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        for name in ("environ", "cmdline"):
            try:
                if secret.encode() in (folder / name).read_bytes():
                    found.append(f"{folder.name}/{name}")
            except OSError:
                continue
    return found


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
@pytest.mark.parametrize("echo", [False, True])
def test_the_real_key_is_nowhere_but_at_the_provider(project, sandbox, echo):
    holders: list[str] = []

    def script(request):
        holders.extend(processes_that_hold(CANARY))
        sent.append(request.headers["authorization"])
        text = f"I know {CANARY}." if echo else "Hello."
        return Answer(text, headers={"x-echo": CANARY} if echo else {})

    sent: list[str] = []
    with ModelServer(script) as server:
        prepared(project, server, tool="spy")
        done = project.orvl("asker", "--eval=one", f"--sandbox={sandbox}", "--json", "-v", env=KEY, process=True)
        assert done.status == 0, done.err
        exports = [project.orvl("export", *words, env=KEY) for words in (["--output=out"], [])]
        shown = [project.orvl(*words, env=KEY) for words in (["report"], ["show", "asker"], ["list", "providers"])]
    assert sent == [f"Bearer {CANARY}"]
    assert holders == []
    stored = everything_stored(project)
    assert b"OPENAI_BASE_URL" in stored and b"python3" in stored, "the spy saw something"
    said = "".join(one.out + one.err for one in (done, *exports, *shown))
    written = b"".join(file.read_bytes() for file in project.root.rglob("*") if file.is_file())
    assert CANARY.encode() not in stored + written and CANARY not in said
    if echo:
        assert b"I know [redacted]." in stored


def test_a_version_is_asked_without_keys_too(project):
    with ModelServer() as server:
        prepared(project, server)
        agent = project.root / "agents" / "asker.py"
        look = "cat /proc/self/environ /proc/$PPID/environ | tr -cd a-zA-Z0-9- | grep -c canary-0123456789; true"
        agent.write_text(agent.read_text() + f"\nversion = ['sh', '-c', {look!r}]\n")
        for sandbox in ("bubblewrap", "none"):
            done = project.orvl("asker", "--eval=one", f"--sandbox={sandbox}", "--json", env=KEY, process=True)
            assert done.status in (0, 1), done.err
    versions = {version for (version,) in project.rows("SELECT version FROM cell")}
    assert "1" not in versions and "2" not in versions, "the version's program saw the key"


def test_what_a_run_used_is_what_the_provider_told(project):
    told = Tokens(input=1000, cached=300, output=50, reasoning=20)
    with ModelServer(lambda _: Answer("Hello.", tokens=told)) as server:
        prepared(project, server, times=3)
        done = project.orvl("asker", "--eval=one", "--json", env=KEY)
    assert done.status == 0, done.err
    usage = done.json["ratings"][0]["usage"]
    assert (usage["input_tokens"], usage["cached_tokens"], usage["output_tokens"]) == (3000, 900, 150)
    assert usage["cost_usd"] == pytest.approx(31.5) and usage["cost_source"] == "metered"
    again = project.orvl("asker", "--eval=one", "--json")
    assert again.status == 0 and again.json["ratings"] == done.json["ratings"], "what is done needs no key"
    rows = project.rows("SELECT number, status, input_tokens, output_tokens, tries FROM model_call ORDER BY number")
    assert rows == [(number, 200, 1000, 50, 1) for number in (1, 2, 3)]


# -- before anything starts


def attempts(project) -> int:
    try:
        return project.rows("SELECT count(*) FROM attempt")[0][0]
    except sqlite3.OperationalError:
        return 0


def test_without_a_key_there_is_one_sentence_and_nothing_starts(project):
    with ModelServer() as server:
        prepared(project, server)
        for env in ({}, {"CANARY_KEY": ""}, {"CANARY_KEY": "  "}):
            done = project.orvl("asker", "--eval=one", env=env)
            assert done.status == 2 and done.out == ""
            assert done.err.strip() == "orvl: host needs a key: set CANARY_KEY, then run the command again."
        assert server.requests == []
    assert attempts(project) == 0


def test_an_agent_that_does_not_speak_through_orvl_needs_no_key(project):
    project.agent("own", 'models = {"openai": ["gpt-5"]}\n\ndef command(prompt):\n    return ["touch", "x"]\n')
    project.eval("one", EVAL)
    env = {name: "" for name in os.environ if name.endswith("_API_KEY")}
    done = project.orvl("own", "--eval=one", "--json", env={**env, "OPENAI_API_KEY": ""})
    assert done.status == 0, done.err


def test_a_protocol_that_a_provider_does_not_offer_is_refused_at_once(project):
    with ModelServer() as server:
        prepared(project, server)
        project.agent("other", AGENT.format(tool="ask", times=1, models='{"host": ["m"]}', protocol="anthropic"))
        done = project.orvl("other", "--eval=one", env=KEY)
        assert done.status == 2 and "other speaks anthropic" in done.err and "host" in done.err and "openai" in done.err
        assert "Traceback" not in done.err and server.requests == []
    assert attempts(project) == 0


def test_a_provider_that_nobody_knows_gets_the_closest_name(project):
    with ModelServer() as server:
        prepared(project, server)
        project.agent("other", AGENT.format(tool="ask", times=1, models='{"opnrouter": ["m"]}', protocol="openai"))
        done = project.orvl("other", "--eval=one", env=KEY)
    assert done.status == 2 and "'opnrouter'" in done.err and "openrouter" in done.err and "Traceback" not in done.err
    assert attempts(project) == 0


# -- faults, and whom they stop


def test_a_bad_key_stops_its_provider_with_one_message_and_no_other(project):
    with ModelServer(key="another") as bad, ModelServer(key=CANARY) as good:
        prepared(
            project,
            good,
            more=f'[providers.bad]\n        protocol = "openai"\n        base_url = "{bad.url}/v1"\n        key = "CANARY_KEY"',
        )
        models = '{"host": ["m"], "bad": ["m", "n", "o"]}'
        project.agent("asker", AGENT.format(tool="ask", times=1, models=models, protocol="openai"))
        done = project.orvl("asker", "--eval=one", "--episodes=4", "--concurrency=1", "--json", env=KEY)
        assert done.status == 1
        assert len(bad.requests) == 2 and len(good.requests) == 4, "one of the agent, one of orvl's own"
    said = "Giving up on bad: 401 Incorrect API key provided"
    assert done.err.count(said) <= 1
    assert [one.count(said) for one in done.json["warnings"]].count(1) == 1
    rated = {(row["provider"], row["model"]): row["runs"] for row in done.json["ratings"]}
    assert rated["host", "m"]["rated"] == 4
    assert sum(rated["bad", model]["errored"] for model in "mno") == 1
    assert all(rated["bad", model]["rated"] == 0 for model in "mno")


def test_a_model_that_fails_for_good_is_missing_data_and_no_zero(project):
    with ModelServer(lambda _: Fault(404, "The model does not exist.")) as server:
        prepared(project, server)
        done = project.orvl("asker", "--eval=one", "--json", env=KEY)
        assert done.status == 1 and len(server.requests) == 2
    row = done.json["ratings"][0]
    assert row["R"] is None and row["runs"]["errored"] == 1 and row["runs"]["failed"] == 0
    assert "The model does not exist." in project.rows("SELECT reason FROM attempt")[0][0]


def test_a_failure_that_passes_is_not_seen_in_the_rating(project):
    with ModelServer([Fault(500), Fault(429, "Slow.", headers={"retry-after-ms": "50"}), Answer("Hello.")]) as server:
        prepared(project, server)
        done = project.orvl("asker", "--eval=one", "--json", env=KEY)
    assert done.status == 0, done.err
    assert done.json["ratings"][0]["runs"] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}
    assert project.rows("SELECT tries, status FROM model_call") == [(3, 200)]


def test_a_limit_of_calls_is_the_agents_failure(project):
    with ModelServer() as server:
        prepared(project, server, times=50, more="[limits]\n        calls = 2\n        cost = 1000.0")
        done = project.orvl("asker", "--eval=one", "--json", env=KEY)
        assert len(server.requests) == 2
    assert done.json["ratings"][0]["runs"]["failed"] == 1
    assert "limits.calls" in project.rows("SELECT reason FROM attempt")[0][0]


def test_the_budget_ends_a_session_with_status_three(project):
    with ModelServer(lambda _: A_DOLLAR) as server:
        prepared(project, server, times=2)
        words = ("asker", "--eval=one", "--episodes=6", "--budget=3", "--concurrency=1", "--json")
        done = project.orvl(*words, env=KEY)
        assert done.status == 3, done.err
        assert len(server.requests) == 3
        assert any("Stopped by the budget: $3.00 of $3.00 spent" in one for one in done.json["warnings"]), done.json
        assert "To continue: orvl asker" in done.err
        rated = done.json["ratings"][0]["runs"]["rated"]
        assert rated == 1, "what was rated is kept, and what the budget cut is no failure"
        again = project.orvl("asker", "--eval=one", "--episodes=6", "--json", env=KEY)
    assert again.status == 0, again.err
    assert again.json["ratings"][0]["runs"]["rated"] == 6


def test_a_budget_that_stops_all_that_runs_at_once_has_status_three_too(project):
    with ModelServer(lambda _: A_DOLLAR) as server:
        prepared(project, server, times=50)
        words = ("asker", "--eval=one", "--episodes=2", "--budget=5", "--concurrency=2")
        assert "(a guess: prices × par tokens for a run)" in project.orvl(*words, "--dry-run", env=KEY).out
        done = project.orvl(*words, env=KEY)
        assert done.status == 3, done
        assert "To continue: orvl asker" in done.err
        assert 5 <= len(server.requests) <= 5 + 2


# -- the end of orvl itself


def started(project, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*project.command, *words],
        cwd=project.root,
        env={**project.env, **KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(condition, seconds: float = 40.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_a_kill_in_the_middle_of_a_call_leaves_nothing_and_is_continued(project, sandbox):
    slow = True
    with ModelServer(lambda _: Answer("Hello.", first_byte=30.0 if slow else 0.0)) as server:
        prepared(project, server)
        tool = str(project.root / "tool" / "ask.py")
        process = started(project, "asker", "--eval=one", f"--sandbox={sandbox}", "--episodes=3")
        wait_for(lambda: server.open == 3)
        assert processes_that_hold(CANARY) == []
        assert processes_that_hold(tool)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        wait_for(lambda: server.open == 0 and not processes_that_hold(tool))
        assert project.rows("SELECT outcome, reason FROM attempt") == []
        slow = False
        done = project.orvl("asker", "--eval=one", "--sandbox=none", "--episodes=3", "--json", env=KEY)
        assert done.status == 0, done.err
        assert len(server.requests) == 6


def test_an_interrupt_in_the_middle_of_a_call_lets_it_end_and_starts_no_other(project):
    with ModelServer(lambda _: Answer("Hello.", first_byte=1.5)) as server:
        prepared(project, server)
        process = started(project, "asker", "--eval=one", "--episodes=3", "--concurrency=1")
        wait_for(lambda: server.open == 1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        assert process.returncode == 130, err
        assert b"To continue: orvl asker" in err and b"Traceback" not in err
        assert len(server.requests) == 1
        assert project.rows("SELECT outcome FROM attempt") == [("finished",)]
        done = project.orvl("asker", "--eval=one", "--episodes=3", "--json", env=KEY)
        assert done.status == 0 and len(server.requests) == 3


def test_two_interrupts_in_the_middle_of_a_call_end_it_at_once(project):
    with ModelServer(lambda _: Answer("Hello.", first_byte=60)) as server:
        prepared(project, server)
        tool = str(project.root / "tool" / "ask.py")
        process = started(project, "asker", "--eval=one")
        wait_for(lambda: server.open == 1)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        assert process.returncode == 130
        wait_for(lambda: server.open == 0 and not processes_that_hold(tool))
    assert attempts(project) == 0


def test_the_door_is_the_only_way_out_of_the_walls(project):
    project.write(
        "tool/out.py",
        """
        import socket, sys

        for host, port in (("127.0.0.1", int(sys.argv[5])), ("1.1.1.1", 80), ("127.0.0.1", 22)):
            try:
                socket.create_connection((host, port), 3).close()
                print("reached", host, port)
            except OSError as error:
                print("refused", host, port)
        """,
    )
    with ModelServer() as server:
        prepared(project, server)
        text = AGENT.format(tool="out", times=1, models='{"host": ["m"]}', protocol="openai")
        project.agent("asker", text.replace("model, prompt]", f'model, prompt, "{server.port}"]'))
        done = project.orvl("asker", "--eval=one", "--json", env=KEY)
        assert done.status == 0, done.err
        assert server.requests == [] and server.others == []
    assert b"reached" not in everything_stored(project)
    assert everything_stored(project).count(b"refused 127.0.0.1") >= 1


def test_the_record_holds_every_call_word_for_word(project):
    with ModelServer([Answer("Grüße.")]) as server:
        prepared(project, server)
        assert project.orvl("asker", "--eval=one", env=KEY).status == 0
    lines = [json.loads(line) for line in everything_stored(project).split(b"\n") if line.startswith(b'{"number": 1')]
    assert len(lines) == 1
    assert "Grüße." in json.loads(lines[0]["answered"])["choices"][0]["message"]["content"]
    assert json.loads(lines[0]["asked"])["messages"][0]["content"] == "Say hello."


def test_a_call_that_orvl_held_back_is_not_the_agents_failure(project):
    """Its client gives up while the gateway waits; the agent could do nothing about it."""
    with ModelServer(lambda _: Answer("hi")) as server:
        prepared(project, server, times=2, more="per_minute = 1")
        project.write("tool/ask.py", ASK.replace("urlopen(request)", "urlopen(request, timeout=3)"))
        project.toml(
            (project.root / "orvl.toml").read_text().replace("[providers.host]", "attempts = 1\n[providers.host]")
        )
        done = project.orvl("asker", "--eval=one", "--json", env=KEY)
    assert done.status == 1, done.err
    assert done.json["ratings"][0]["runs"] == {"planned": 1, "rated": 0, "failed": 0, "errored": 1}
    assert "orvl held the call back" in project.rows("SELECT reason FROM attempt")[0][0]


def test_a_key_that_no_request_can_carry_is_refused(project):
    with ModelServer(lambda _: Answer("hi")) as server:
        prepared(project, server)
        done = project.orvl("asker", "m", "host", "one", env={"CANARY_KEY": "ab\ncd"})
        assert done.status == 2
        assert "CANARY_KEY contains a line break" in done.err
        assert not server.requests


def test_an_agents_own_mistake_comes_with_the_providers_words(project):
    with ModelServer(lambda _: Fault(status=400, message="your prompt is too long")) as server:
        prepared(project, server)
        project.orvl("asker", "--eval=one", env=KEY)
    assert project.rows("SELECT outcome, reason FROM attempt")[0][0] == "failed"
    assert (
        "host had refused its last call: 400 your prompt is too long"
        in project.rows("SELECT reason FROM attempt")[0][0]
    )
