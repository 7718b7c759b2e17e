"""A store with one run of everything: files with lines, judges that point to them, model calls, and a browser's look."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from helpers.judging import items_of
from helpers.user_project import UserProject
from orvl.capture.browser.result import Look, Shot, StepResult
from orvl.store import open_store
from orvl.testing import Answer, Fault, ModelServer, Tokens
from orvl.types import Inspection

ODD_NAME = "odd \"'><b>name\nof two lines.js"
LONG_FILE = "".join(f"line {number}\n" for number in range(1, 60_001))
POINTERS = (
    "src/app.js:41",
    "`./src/app.js#L3-L9`",
    "check:there, check:second",
    "step:2; screenshot:desktop-light",
    "page",
    ODD_NAME.replace("\n", "\\n") + ":1",
    "long.txt:50000",
)
NOWHERE = (
    "src/app.js:41x",
    "missing.js:1",
    "javascript:alert(1)",
    "//evil.example/a:1",
    "check:nobody <script>alert(1)</script>",
    "step:99",
    "screenshot:../../etc/passwd",
)
"""Judges are models, and read what agents write: they can be made to say anything."""
ASK = """
import json, os, sys, urllib.request

url, key, model, prompt = sys.argv[1:]
for number in range(4):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}]}).encode()
    request = urllib.request.Request(url + "/chat/completions", body, {"Authorization": "Bearer " + key})
    try:
        urllib.request.urlopen(request).read()
    except OSError:
        pass
os.makedirs("src", exist_ok=True)
open("src/app.js", "w").write("".join(f"let a{n} = {n}\\n" for n in range(1, 61)))
open("answer.txt", "w").write("hi\\n")
open("long.txt", "w").write("".join(f"line {n}\\n" for n in range(1, 60001)))
open(ODD_NAME, "w").write("odd\\n")
""".replace("ODD_NAME", repr(ODD_NAME))
STEPS = [
    {"source": "user", "message": "Say hello."},
    {
        "source": "agent",
        "message": "I look for the needle.",
        "reasoning_content": "A needle, again a Needle.",
        "tool_calls": [{"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "grep hay"}}],
        "observation": {"results": [{"source_call_id": "1", "content": "nothing"}]},
    },
    {
        "source": "agent",
        "message": "Others shall look.",
        "tool_calls": [{"tool_call_id": "2", "function_name": "task", "arguments": {"prompt": "look"}}],
        "observation": {
            "results": [
                {
                    "source_call_id": "2",
                    "content": "found",
                    "subagent_trajectory_ref": [{"trajectory_path": "sub.json", "session_id": "scout"}],
                }
            ]
        },
    },
    {"source": "agent", "message": "Done."},
]
AGENT = """
from orvl import Command
protocol = "openai"
models = {{"host": ["m"]}}
ASK = {ask!r}

def command(prompt, endpoint, model):
    return Command(["python3", "-c", ASK, endpoint.url, endpoint.key, model, prompt])

def read(output):
    return {{"steps": {steps!r}}}
"""
TWIN_PROGRAM = f"""
import os
os.mkdir("src")
open("src/app.js", "w").write("".join(f"let a{{n}} = {{n % 41}}\\n" for n in range(1, 61)))
open({ODD_NAME!r}, "w").write("odd\\n")
"""
TWIN = f"""
models = {{"none": ["fixed"]}}

def command(prompt):
    return ["python3", "-c", {TWIN_PROGRAM!r}]
"""
HEAD = """---
metrics: {checks: 1, clear: 2}
checks: [{name: there, run: test -f answer.txt}, {name: second, run: echo not there; false}]
---
Say hello.
"""


def picture(width: int = 4, height: int = 4) -> bytes:
    """A small PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((17, 130, 59)) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


LOOK = Look(
    "done",
    shots=(
        Shot("desktop-light", "desktop-light.png", 4, 4, 70),
        Shot("step-2", "step-2.png", 4, 4, 70),
        Shot("step-3-Two_Items", "step-3-Two_Items.png", 4, 4, 70),
    ),
    steps=(
        StepResult(1, "open /", True),
        StepResult(2, "expect text <script>alert(1)</script>", False, "it is not there", "step-2"),
        StepResult(3, "screenshot Two_Items", True, None, "step-3-Two_Items"),
    ),
)


def _judge(pointers: Sequence[str], verdict: str) -> Any:
    def say(request: Any) -> Answer:
        number = len(items_of(request))
        items = [
            {"item": place, "pointer": pointers[place - 1], "why": f"Reason {place}.", "verdict": verdict}
            for place in range(1, number + 1)
        ]
        return Answer(json.dumps({"items": items, "rationale": "All in all <b>good</b>."}))

    return say


@dataclass(frozen=True)
class Evidence:
    """The keys of runs of one eval: the twin's judge found what it found in the asker's, the plain one's did not."""

    asker: str
    plain: str
    twin: str


def make_evidence(project: UserProject) -> Evidence:
    """Carries the runs out, and puts a browser's look beside that of the asker."""
    model = [Answer("Hello.", tokens=Tokens(input=60, output=40, cached=20)), Fault(400, "no <b>way</b>")]
    agent_script = [*model, Answer("Hello.", tokens=Tokens(input=600, output=400)), Answer("Hello.")]
    project.score("clear", f"items = {[f'Item {place}.' for place, _ in enumerate(POINTERS, 1)]!r}\n")
    project.agent("asker", AGENT.format(ask=ASK, steps=STEPS))
    project.agent(
        "plain", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "echo hi > answer.txt"]\n'
    )
    project.agent("twin", TWIN)
    project.eval("one", HEAD)
    with (
        ModelServer(agent_script) as server,
        ModelServer(_judge(POINTERS, "no")) as ann,
        ModelServer(_judge(NOWHERE, "yes")) as bob,
    ):
        hosts = "".join(
            f'[providers.{name}]\nprotocol = "openai"\nbase_url = "{one.base_url("openai")}"\n'
            for name, one in (("host", server), ("a", ann), ("b", bob))
        )
        judges = "".join(f'[judges.{name}]\nmodel = "x"\nprovider = "{name[0]}"\n' for name in ("ann", "bob"))
        project.toml(hosts + judges)
        done = project.orvl("asker,plain,twin", "--eval=one", "--sandbox=none", "--yes", "--concurrency=1", timeout=300)
        assert "Traceback" not in done.err, done.err
    rows = project.orvl("report", "--by=run", "--json").json["ratings"]
    keys = {row["agent"]: row["run"] for row in rows}
    _add_look(project, keys["asker"])
    return Evidence(**keys)


def _add_look(project: UserProject, run: str) -> None:
    with open_store(project.root / ".orvl", write=True) as store:
        with store.blobs.batch() as batch:
            shot = batch.put(picture())
            results = batch.put(json.dumps(LOOK.as_json()).encode())
        look = Inspection("page", "key", results, {picture.file: shot for picture in LOOK.shots})
        attempt = store.attempts(run)[-1]
        store.transaction([lambda store: store.add_inspection(attempt, look)])
