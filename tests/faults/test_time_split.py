"""How a run's time was spent: by the model, by tools, by the agent itself, and waiting for orvl."""

from __future__ import annotations

import pytest

from orvl.testing import Answer, Fault, ModelServer, ToolCall

TOOL = """
import json, sys, time, urllib.request

url, key = sys.argv[1:]

def ask():
    tools = [{"type": "function", "function": {"name": "t", "parameters": {}}}]
    body = {"model": "m", "messages": [{"role": "user", "content": "x"}], "tools": tools}
    request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), {"Authorization": "Bearer " + key})
    urllib.request.urlopen(request).read()

time.sleep(0.7)
ask()
time.sleep(0.5)
ask()
"""
AGENT = """
from pathlib import Path

protocol = "openai"
models = {"host": ["m"]}

def command(prompt, endpoint):
    return ["python3", Path(__file__).parent.parent / "tool.py", endpoint.url, endpoint.key]
"""


def test_the_time_of_a_run_is_split_and_adds_up(project):
    busy = Fault(503, "Busy.", headers={"retry-after-ms": "900"})
    script = [Answer("", tool_calls=[ToolCall("t", {})], first_byte=0.6), busy, Answer("Done.", first_byte=0.3)]
    with ModelServer(script) as server:
        project.write("tool.py", TOOL)
        project.agent("asker", AGENT)
        project.eval("one", "---\nmetrics: {speed: 1}\n---\nSay hello.\n")
        project.toml(f'[providers.host]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\n')
        done = project.orvl("asker", "--eval=one", "--json")
    assert done.status == 0, done.err
    usage = done.json["ratings"][0]["usage"]
    model, tools, own, waiting = (usage[f"{part}_seconds"] for part in ("model", "tools", "own", "waiting"))
    (turn,) = project.orvl("show", "asker/one/1", "--json").json["attempts"][0]["turns"]
    assert model + tools + own + waiting == pytest.approx(turn["seconds"], abs=0.05)
    assert usage["seconds"] == pytest.approx(turn["seconds"] - waiting, abs=0.05)
    assert model >= 0.85 and tools >= 0.45 and own >= 0.65 and waiting >= 0.85
    shown = project.orvl("show", "asker/one/1").out
    assert "time: model " in shown and "waiting " in shown


def test_an_agent_without_a_model_has_its_time_to_itself(project):
    usage = project.orvl("empty", "fixed", "none", "hello-world", "--json").json["ratings"][0]["usage"]
    assert (usage["model_seconds"], usage["tools_seconds"], usage["waiting_seconds"]) == (0.0, 0.0, 0.0)
    assert usage["own_seconds"] == usage["seconds"]


def test_where_nobody_saw_the_calls_it_is_unknown(project):
    project.agent("own", 'models = {"openai": ["gpt-5"]}\n\ndef command(prompt):\n    return ["touch", "x"]\n')
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nSay hello.\n")
    done = project.orvl("own", "--eval=one", "--json")
    assert done.status == 0 and "model_seconds" not in done.json["ratings"][0]["usage"]
    assert "time: model, tools, own and waiting unknown" in project.orvl("show", "own/one/1").out
