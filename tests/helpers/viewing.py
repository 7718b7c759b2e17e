"""A store with runs of hostile and of plain agents, and the real viewer on it."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from helpers.user_project import UserProject

PAGES = (
    "/board",
    "/evals",
    "/eval/one",
    "/runs",
    "/compare?a=plain&b=empty",
    "/compare/runs",
    "/trust",
    "/history",
    "/endpoints",
    "/now",
    "/label?person=ann",
)
SCRIPT = "<script>alert(1)</script>"
HANDLER = "<img src=x onerror=alert(1)>"
TEXTS = (
    *(SCRIPT, HANDLER, "</pre></details><style>*{display:none}</style>", "<a href='javascript:alert(1)'>here</a>"),
    *(
        "<svg onload=alert(1)>",
        "\x1b]0;owned\x07\x1b[31mred",
        "\u202eright to left\u2066",
        "\"'><b>out",
        "*{background:url(https://evil.example)} </style>",
        "[here](javascript:alert(1)) ![x](https://evil.example/x.png)",
        "\x00\x08&lt;",
    ),
)
IMPORTED = ("<svg onload=alert(1)>", "other")
IMPORTED_EVAL = "b?c#d <b>&amp;.json"
LONG = 10_000_000
PROGRAM = """
import json, sys
texts = json.loads(sys.argv[1])
for text in texts:
    print(text)
    open(text.replace("/", "_").replace(chr(0), "_"), "w").write(text)
open("page.html", "w").write(texts[0])
open("picture.svg", "w").write(texts[4])
open("picture.png", "wb").write(bytes.fromhex("89504e470d0a1a0a") + b"....")
open(b"name-" + bytes([255]), "w").write("x")
open("long.txt", "w").write("a" * LONG)
open("name\\nof \\"two\\" 'lines'.txt", "w").write("x")
open("x" * 255, "w").write("x")
open("quotes.txt", "w").write('"\\u202e&' * 400_000)
open("lines.txt", "w").write("\\n" * 400_000)
open("small-lines.txt", "w").write("<\\n" * 120_000)
print("z" * LONG)
sys.exit("fail" in sys.argv[2])
""".replace("LONG", str(LONG))
AGENT = f"""
import json
models = {{"none": ["fixed"]}}
TEXTS = {TEXTS!r}

def command(prompt):
    return ["python3", "-c", {PROGRAM!r}, json.dumps(TEXTS), prompt]

def read(output):
    steps = [{{"source": "agent", "message": text, "reasoning_content": text,
              "tool_calls": [{{"tool_call_id": "1", "function_name": text, "arguments": {{text: text}}}}],
              "observation": {{"results": [{{"source_call_id": "1", "content": text}}]}}}} for text in TEXTS]
    return {{"steps": steps}}
"""


def make_store(project: UserProject) -> None:
    """Three contestants on two evals: one writes everything hostile and fails on the second, one works, one does
    nothing; and two imported ones."""
    project.toml("[judges.ann]\nanswers = 'yes'\n[judges.bob]\nanswers = 'no'\n")
    project.agent("hostile", AGENT)
    project.agent(
        "plain", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "echo hi > answer.txt"]\n'
    )
    head = "metrics: {checks: 1, readability: 2}\nchecks: [{name: there, run: test -f answer.txt}]"
    project.eval("one", f"---\n{head}\n---\nSay hello {HANDLER}.\n---\nAnd again.\n")
    project.eval("two", f"---\n{head}\n---\nThis will fail.\n")
    done = project.orvl("hostile,plain,empty", "--eval=one,two", timeout=300)
    assert "Traceback" not in done.err, done.err
    rows = [
        {"agent": agent, "model": "*[m]", "provider": "", "eval": IMPORTED_EVAL, "scores.tests": 0.5}
        for agent in IMPORTED
    ]
    file = project.write("results.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    assert project.orvl("import", "results", str(file)).status == 0


@dataclass(frozen=True)
class Reply:
    """What the viewer answered."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Viewer:
    """A running `orvl view`."""

    project: UserProject
    port: int
    token: str
    pid: int

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return f"{self.origin}/board?token={self.token}"

    @property
    def cookie(self) -> str:
        return f"orvl-{self.port}={self.token}"

    def ask(
        self, path: str, headers: Mapping[str, str] | None = None, method: str = "GET", body: str | None = None
    ) -> Reply:
        """Without the token, unless the headers have it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers, answer.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Reply:
        """As a browser that has the cookie."""
        return self.ask(path, {"Cookie": self.cookie, **headers})

    def runs(self, *words: str) -> list[dict[str, Any]]:
        return self.project.orvl("report", *words, "--by=run", "--json").json["ratings"]


@contextmanager
def viewing(
    project: UserProject, *flags: str, env: Mapping[str, str] | None = None, fails: bool = False
) -> Iterator[Viewer]:
    """The real command, until the end of the block; `fails` where a page of it may have a bug."""
    process = subprocess.Popen(
        [*project.command, "view", *(flags or ("--no-open",))],
        cwd=project.root,
        env={**project.env, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/board\?token=(\S+)", line)
        assert found, line + (process.stderr.read() if process.stderr else "")
        yield Viewer(project, int(found[1]), found[2], process.pid)
    finally:
        process.terminate()
        _, errors = process.communicate(timeout=30)
    assert fails or "Traceback" not in errors, errors
    assert process.returncode == 0


def wait_for(condition, what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)
