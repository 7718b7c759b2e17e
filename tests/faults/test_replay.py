"""Recorded calls served again: in the library, and as a whole run without a provider."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from http.client import IncompleteRead

import pytest

from orvl.errors import UserError
from orvl.run.replay import Recording, ReplayServer
from orvl.testing import Answer, Fault, ModelServer, ToolCall
from orvl.types import ModelCall

PATHS = {
    "openai": "/chat/completions",
    "responses": "/responses",
    "anthropic": "/messages",
    "gemini": "/models/m:generateContent",
}
STREAM = "text/event-stream; charset=utf-8"


def body(protocol, *words, **more):
    """A conversation in which user and model take turns."""
    if protocol == "gemini":
        roles = ("user", "model")
        return {"contents": [{"role": roles[n % 2], "parts": [{"text": text}]} for n, text in enumerate(words)], **more}
    messages = [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(words)]
    return {"model": "m", ("input" if protocol == "responses" else "messages"): messages, **more}


def line(number, asked, answered, protocol="openai", path=None, kind="application/json", status=200, **more):
    call = ModelCall(number, 1, protocol, "m", 0.0, status=status, **more)
    answered = answered if isinstance(answered, str) or answered is None else json.dumps(answered)
    parts = {"path": path or PATHS[protocol], "type": kind, "asked": json.dumps(asked), "answered": answered}
    return json.dumps({**asdict(call), **parts}).encode() + b"\n"


def ask(server, asked, protocol="openai", path=None):
    """Status, content type and bytes of an answer."""
    version = {"anthropic": "/v1", "gemini": "/v1beta"}.get(protocol, "")
    url = server.base_url(protocol) + version + (path or PATHS[protocol])
    asked = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    request = urllib.request.Request(url, asked, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.headers["content-type"], response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["content-type"], error.read()


def replaying(*lines, **more):
    return ReplayServer(Recording.of(lines), **more)


@pytest.mark.parametrize("protocol", PATHS)
def test_the_recorded_bytes_come_back_in_every_protocol(protocol):
    first, second = body(protocol, "Hi"), body(protocol, "Hi", "Hello.", "Go on")
    odd = '{"text": "\udcff\u00e9\\ud83d"}'
    lines = [line(1, first, odd, protocol), line(2, second, "two", protocol, kind="text/odd; x=1")]
    with replaying(*lines) as server:
        assert ask(server, first, protocol) == (200, "application/json", odd.encode("utf-8", "surrogateescape"))
        assert ask(server, second, protocol) == (200, "text/odd; x=1", b"two")
        status, _, said = ask(server, second, protocol)
    assert status == 400
    assert b"The recording has no answer to POST" in said
    assert (server.served, server.reworded, server.unasked) == ([1, 2], [], [])
    assert len(server.unmatched) == 1


def test_a_file_of_lines_and_a_broken_one(tmp_path):
    file = tmp_path / "calls.jsonl"
    file.write_bytes(line(2, body("openai", "b"), "B") + b"\n" + line(1, body("openai", "a"), "A"))
    assert [call.number for call in Recording.of(file).calls] == [1, 2]
    assert Recording.of(str(file)) == Recording.of(file)
    for wrong in (b"no JSON", b"[]", b"{}", line(1, {}, "x").replace(b'"/chat/completions"', b"7")):
        with pytest.raises(UserError, match="Line 2 of the record is not a call"):
            Recording.of([line(1, {}, "x"), wrong])


def test_calls_side_by_side_may_come_in_any_order():
    asked = [body("openai", f"Look at part {name} of the house", tools=[]) for name in ("one", "two", "three", "four")]
    lines = [line(number, one, f"answer {number}") for number, one in enumerate(asked, 1)]
    with replaying(*lines) as server, ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda number: ask(server, asked[number])[2].decode(), (3, 1, 0, 2)))
    assert found == ["answer 4", "answer 2", "answer 1", "answer 3"]


def test_the_same_question_twice_gets_both_answers_in_order():
    with replaying(*(line(number, body("openai", "Hi"), f"answer {number}") for number in (1, 2))) as server:
        assert [ask(server, body("openai", "Hi"))[2] for _ in range(2)] == [b"answer 1", b"answer 2"]


def test_a_call_for_a_title_is_not_taken_for_the_conversation():
    tools = [{"type": "function", "function": {"name": "write", "parameters": {}}}]
    title, work = body("openai", "Build a house"), body("openai", "Build a house", tools=tools)
    with replaying(line(1, title, "A title"), line(2, work, "Work")) as server:
        assert [ask(server, one)[2] for one in (work, title)] == [b"Work", b"A title"]


def test_what_changes_from_run_to_run_does_not_matter():
    then = body("openai", "It is 09:14 on the 3rd. Build a house of wood", "I call ls", "1723812331")
    now = body("openai", "It is 22:51 on the 9th. Build a house of wood", "I call ls", "1790000000")
    with replaying(
        line(1, body("openai", *[one["content"] for one in then["messages"][:1]]), "A"), line(2, then, "B")
    ) as server:
        assert ask(server, body("openai", now["messages"][0]["content"]))[2] == b"A"
        assert ask(server, now)[2] == b"B", "after the same answer, a tool's result may differ entirely"
    assert server.reworded == [1, 2]


@pytest.mark.parametrize(
    "asked",
    [
        body("openai", "Tear everything down at once"),
        body("openai", "Build a house", "I build.", "Now paint it"),
        body("openai", "Build a house", stream=True),
        {},
        [],
        *(b'{"messages": [{"content": ' + b"[" * depth + b"]" * depth + b"}]}" for depth in (300, 900, 940, 5000)),
    ],
)
def test_what_was_not_asked_gets_no_answer(asked):
    with replaying(line(1, body("openai", "Build a house"), "A")) as server:
        status, _, said = ask(server, asked)
        assert status == 400
        assert json.loads(said)["error"]["message"] == server.unmatched[0]
        assert ask(server, body("openai", "Build a house"), path="/embeddings")[0] == 400
        assert server.unasked == [1]


def test_failures_are_replayed_as_often_as_they_were_tried():
    asked = body("openai", "Hi")
    lines = [
        line(1, asked, None, status=None, trouble="it cannot be reached"),
        line(2, asked, {"error": {"message": "Slow down."}}, status=429, trouble="429 Slow down.", tries=2),
        line(3, asked, "fine", tries=4),
    ]
    with replaying(*lines) as server:
        assert [ask(server, asked)[0] for _ in range(4)] == [429, 429, 200, 429]
    assert server.served == [2, 2, 3, 2]


def test_an_answer_that_was_cut_is_cut_again():
    asked = body("openai", "Hi")
    with replaying(line(1, asked, '{"half": ', trouble="the stream was cut")) as server, pytest.raises(IncompleteRead):
        ask(server, asked)


def test_an_answer_that_the_agent_left_stays_open():
    asked = body("openai", "Hi", stream=True)
    half = 'data: {"choices": [{"delta": {"content": "Hel"}}]}\n\n'
    whole = half + "data: [DONE]\n\n"
    lines = [line(1, asked, half, kind=STREAM, stream=True), line(2, asked, whole, kind=STREAM, stream=True)]
    with replaying(*lines) as server:
        url = server.base_url("openai") + PATHS["openai"]
        request = urllib.request.Request(url, json.dumps(asked).encode())
        with urllib.request.urlopen(request, timeout=60) as response:
            assert response.readline().startswith(b"data:")
            response.readline()
            response.fp.raw._sock.settimeout(0.5)
            with pytest.raises(TimeoutError):
                response.readline()
        assert ask(server, asked)[2].decode() == whole


def test_pace_keeps_the_recorded_times():
    asked, events = body("openai", "Hi", stream=True), "".join(f"data: {n}\n\n" for n in range(3)) + "data: [DONE]\n\n"
    recorded = line(1, asked, events, kind=STREAM, stream=True, seconds=0.9, first_token=0.3)
    with replaying(line(1, asked, events, kind=STREAM, stream=True, seconds=60, first_token=30)) as quick:
        began = time.monotonic()
        assert ask(quick, asked)[2].decode() == events
        assert time.monotonic() - began < 30
    with replaying(recorded, pace=True) as slow:
        began = time.monotonic()
        request = urllib.request.Request(slow.base_url("openai") + PATHS["openai"], json.dumps(asked).encode())
        with urllib.request.urlopen(request) as response:
            times = [time.monotonic() - began for text in response if text.strip()]
    assert len(times) == 4
    assert 0.25 < times[0] < times[-1] - 0.4


def test_models_and_tokens_are_answered_beside_the_record():
    with replaying(line(1, body("anthropic", "Hi"), "A", "anthropic")) as server:
        with urllib.request.urlopen(server.base_url("openai") + "/models") as response:
            assert json.loads(response.read())["data"]
        counted = ask(server, body("anthropic", "Hi"), "anthropic", "/messages/count_tokens")
        assert json.loads(counted[2])["input_tokens"] > 0
        assert urllib.request.urlopen(urllib.request.Request(server.url, method="HEAD")).status == 200
    assert not server.unmatched


# -- whole runs

AGENT = '''
"""Asks twice, and writes what it hears."""
protocol = "openai"
models = {"mock": ["m"]}
SCRIPT = """
import json, os, sys, urllib.request
def ask(messages, **more):
    body = {"model": "m", "messages": messages, **more}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(),
        {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"})
    return urllib.request.urlopen(request).read().decode()
PREFIX
messages = [{"role": "user", "content": prefix + sys.argv[1]}]
call = json.loads(ask(messages))["choices"][0]["message"]
arguments = json.loads(call["tool_calls"][0]["function"]["arguments"])
open(arguments["path"], "w").write(arguments["text"])
messages += [call, {"role": "tool", "tool_call_id": call["tool_calls"][0]["id"], "content": os.urandom(8).hex()}]
events = [line[6:] for line in ask(messages, stream=True).splitlines() if line.startswith("data: {")]
open("said.txt", "w").write("".join(json.loads(one)["choices"][0]["delta"].get("content") or "" for one in events))
"""

def command(prompt):
    return ["python3", "-c", SCRIPT.replace("PREFIX", BEFORE), prompt]
'''
PLAIN = AGENT + 'BEFORE = "prefix = str()"\n'
SCRIPT = [Answer(tool_calls=[ToolCall("write", {"path": "a.txt", "text": "hello"})]), Answer("All done.")]


def recorded(project, agent=PLAIN, script=SCRIPT, status=0):
    """A project with one recorded run, whose provider is gone."""
    project.agent("asker", agent)
    head = "metrics: {speed: 1}\nchecks: [{name: there, run: test -f a.txt}]\nsetup: [date +%N > made.txt]"
    project.write("evals/one/eval.md", f"---\n{head}\n---\nWrite hello.\n")
    project.write("evals/one/workspace/given.txt", "given")
    with ModelServer(script, key="secret-key") as server:
        project.toml(
            f'[providers.mock]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nkey = "MOCK_KEY"\n'
        )
        done = project.orvl("asker", "--eval=one", env={"MOCK_KEY": "secret-key"})
        assert done.status == status, done
    return server


def test_a_run_is_repeated_without_a_provider(project):
    server = recorded(project)
    before = project.rows(
        "SELECT (SELECT count(*) FROM attempt), (SELECT count(*) FROM score), (SELECT count(*) FROM call)"
    )
    done = project.orvl("replay", "asker/one/1", "--json")
    assert done.status == 0, done.out
    told = done.json
    assert told["same"] is True
    assert told["outcome"] == {"recorded": "finished", "replayed": "finished"}
    assert told["calls"] == {"recorded": 2, "replayed": 2}
    assert (told["files"], told["unmatched"], told["unasked"]) == ([], [], [])
    assert told["reworded"] == [2], "the tool's result is another each time"
    assert len(server.requests) == 2
    assert (
        project.rows("SELECT (SELECT count(*) FROM attempt), (SELECT count(*) FROM score), (SELECT count(*) FROM call)")
        == before
    )
    said = project.orvl("replay", told["run"][:8])
    assert said.status == 0
    assert "outcome: finished, again" in said.out
    assert said.out.endswith("files: all the same\nIt came out the same.\n")
    bare = project.orvl("replay", told["run"][:8], "--sandbox=none", "--pace")
    assert "sandbox: bubblewrap, now none" in bare.out
    assert "outcome: finished, again" in bare.out
    assert not [path for path in project.tmp.iterdir() if path.name.startswith("orvl-replay")]


def test_a_changed_agent_or_eval_is_refused(project):
    recorded(project)
    project.agent("asker", PLAIN + "# changed\n")
    done = project.orvl("replay", "asker/one/1")
    assert done.status == 2
    assert "has changed since. Make a new one: orvl run asker m mock one" in done.err
    project.agent("asker", PLAIN)
    assert project.orvl("replay", "asker/one/1").status == 0
    project.write("evals/one/eval.md", "---\nmetrics: {speed: 1}\n---\nWrite something else.\n")
    assert project.orvl("replay", "asker/one/1").status == 2


def test_a_run_that_asks_something_else_is_told(project):
    recorded(project, AGENT + 'BEFORE = "prefix = str().join(os.urandom(4).hex() + chr(32) for _ in range(40))"\n')
    done = project.orvl("replay", "asker/one/1", "--json")
    assert done.status == 1
    told = done.json
    assert told["same"] is False
    assert "no answer to POST /v1/chat/completions with 1 messages" in told["unmatched"][0]
    assert told["outcome"]["replayed"] == "failed"
    assert {(one["change"], one["path"]) for one in told["files"]} == {("removed", "a.txt"), ("removed", "said.txt")}
    assert told["unasked"] == [1, 2]
    said = project.orvl("replay", "asker/one/1")
    assert said.status == 1
    assert "removed a.txt" in said.out
    assert said.out.endswith("It did not come out the same.\n")


def test_a_run_that_writes_something_else_is_told(project):
    recorded(project, AGENT + "BEFORE = \"prefix = str(); open('r.txt', 'w').write(os.urandom(8).hex())\"\n")
    done = project.orvl("replay", "asker/one/1", "--json")
    assert done.status == 1
    assert done.json["files"] == [{"path": "r.txt", "change": "changed"}]
    assert done.json["unmatched"] == []


def test_a_run_that_the_provider_failed_fails_again(project):
    recorded(project, script=[SCRIPT[0], *[Fault(400, "That is too long.")] * 9])
    done = project.orvl("replay", "asker/one/1", "--json")
    assert done.status == 0, done.out
    assert done.json["outcome"] == {"recorded": "failed", "replayed": "failed"}


def test_a_run_whose_key_was_refused_is_refused_again(project):
    recorded(project, script=[Fault(401, "Incorrect API key provided.")] * 9, status=1)
    done = project.orvl("replay", "asker/one/1", "--json")
    assert done.status == 0, done.out
    assert done.json["outcome"] == {"recorded": "errored", "replayed": "errored"}
    assert done.json["reason"]["replayed"] == done.json["reason"]["recorded"]


def test_without_a_record_there_is_nothing_to_replay(small):
    assert small.orvl("writer", "--eval=one").status == 0
    done = small.orvl("replay", "writer/one/1")
    assert done.status == 2
    assert "has no record" in done.err
    assert small.orvl("replay", "writer/one/7").status == 2
