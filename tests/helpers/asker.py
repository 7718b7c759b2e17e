"""An agent that asks a model through the gateway, at a provider with a key."""

from __future__ import annotations

import os

from helpers import gateways
from orvl.testing import ModelServer

CANARY = f"{gateways.CANARY}-{os.getpid()}"
"""Of this process alone: others look for theirs in all processes of the machine."""

ASK = """
import json, os, sys, urllib.request

url, key, model, prompt = sys.argv[1:]
for number in range(int(os.environ.get("TIMES", "1"))):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}]}).encode()
    request = urllib.request.Request(url + "/chat/completions", body, {"Authorization": "Bearer " + key})
    with urllib.request.urlopen(request) as answer:
        said = json.loads(answer.read())["choices"][0]["message"]["content"]
    print(said, flush=True)
open("answer.txt", "w").write(said)
"""

SPY = """
import os, subprocess, sys, urllib.request

seen = [repr(dict(os.environ)), repr(sys.argv)]
for folder in os.listdir("/proc"):
    for name in ("environ", "cmdline", "task/%s/environ" % folder):
        try:
            seen.append(open("/proc/%s/%s" % (folder, name), "rb").read().decode("utf-8", "replace"))
        except OSError:
            pass
seen.append(subprocess.run(["ps", "auxeww"], capture_output=True, text=True).stdout)
for top, _, names in os.walk(os.environ["HOME"]):
    seen += [open(os.path.join(top, name), errors="replace").read() for name in names]
open("seen.txt", "w").write("\\n".join(seen))
"""

AGENT = """
from pathlib import Path
from orvl import Command

TOOL = Path(__file__).parent.parent / "tool" / "{tool}.py"
protocol = "{protocol}"
models = {models}

def command(prompt, endpoint, model):
    argv = ["python3", TOOL, endpoint.url, endpoint.key, model, prompt]
    return Command(argv, env={{"TIMES": "{times}"}})
"""

EVAL = "---\nmetrics: {speed: 1}\n---\nSay hello.\n"


def prepared(project, server: ModelServer, *, times: int = 1, tool: str = "ask", more: str = ""):
    """A project with an agent that asks a model, at a provider with a key."""
    project.write("tool/ask.py", ASK)
    project.write("tool/spy.py", SPY + ASK)
    models = '{"host": ["m"]}'
    project.agent("asker", AGENT.format(tool=tool, times=times, models=models, protocol="openai"))
    project.eval("one", EVAL)
    project.toml(
        f"""
        [providers.host]
        protocol = "openai"
        base_url = "{server.base_url("openai")}"
        key = "CANARY_KEY"
        prices = {{m = {{input = 10000, output = 10000}}}}
        {more}
        """
    )
    return project


KEY = {"CANARY_KEY": CANARY}
