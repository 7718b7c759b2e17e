"""A pull request of a sample project, from end to end: git, an agent that asks a model, a baseline on the main branch."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from xml.etree import ElementTree as ET

import pytest

from helpers.junit import check
from orvl.testing import Answer, ModelServer

EVALS = tuple(f"task-{number}" for number in range(1, 9))
BASELINE = "reports/baseline.json"
ASK = """
import json, sys, urllib.request

url, key, model, system, prompt = sys.argv[1:]
messages = [{"role": "system", "content": system}, {"role": "user", "content": prompt}]
body = json.dumps({"model": model, "messages": messages}).encode()
request = urllib.request.Request(url + "/chat/completions", body, {"Authorization": "Bearer " + key})
with urllib.request.urlopen(request) as answer:
    open("answer.txt", "w").write(json.loads(answer.read())["choices"][0]["message"]["content"])
"""
AGENT = '''
"""Answers with what a model says."""
from pathlib import Path

TOOL = Path(__file__).parent.parent / "tool" / "ask.py"
SYSTEM = "{system}"
protocol = "openai"
models = {{"host": ["m"]}}

def command(prompt, endpoint, model):
    return ["python3", TOOL, endpoint.url, endpoint.key, model, SYSTEM, prompt]
'''
TOML = """
attempts = 1
[providers.host]
protocol = "openai"
base_url = "{url}"
free = true
"""


def model(request):
    """Right where it is told to think, and nearly always wrong where it is not."""
    is_right = "Think" in request.prompt_text or "task-1" in request.prompt_text
    return Answer("right" if is_right else "wrong", again=True)


class Repository:
    """A user's repository, and what its CI does."""

    def __init__(self, project):
        self.project = project
        self.summary = project.root.parent / "step-summary.md"

    def git(self, *words):
        who = ["-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *who, *words], cwd=self.project.root, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def branch(self, name):
        """A pull request begins on the main branch."""
        self.git("checkout", "-q", "main")
        self.git("checkout", "-q", "-b", name)

    def agent(self, system):
        self.project.agent("mine", AGENT.format(system=system))

    def ci(self, baseline, *flags):
        """What a workflow of this repository runs: one command."""
        files = ("--junit=junit.xml", "--md=summary.md", "--github")
        self.summary.unlink(missing_ok=True)
        env = {"GITHUB_STEP_SUMMARY": str(self.summary)}
        return self.project.orvl("mine", "--sandbox=none", "--baseline", baseline, *files, *flags, env=env, timeout=300)

    def read(self, name):
        return (self.project.root / name).read_text()


@pytest.fixture
def server():
    with ModelServer(model) as running:
        yield running


@pytest.fixture
def repository(project, server):
    """On main: the project, its agent, and the report that pull requests are held against."""
    project.write("tool/ask.py", ASK)
    project.write(".gitignore", ".orvl/\njunit.xml\nsummary.md\n")
    project.score("right", 'def score(run): return 0.95 if run.read("answer.txt") == "right" else 0.05\n')
    for name in EVALS:
        project.eval(name, f"---\nmetrics: {{right: 1}}\n---\nDo {name}.\n")
    project.toml(TOML.format(url=server.base_url("openai")))
    made = Repository(project)
    made.agent("Think before you answer.")
    made.git("init", "-q", "-b", "main")
    assert project.orvl("mine", "--sandbox=none").status == 0
    project.write(BASELINE, project.orvl("report", "--json").out)
    made.commit("The project, and its baseline")
    return made


@pytest.fixture(params=["REF:PATH", "FILE"])
def baseline(request, repository):
    """Both ways to name it; the file is taken out of git, as from an artifact."""
    if request.param == "REF:PATH":
        return f"main:{BASELINE}"
    file = repository.project.root.parent / "baseline.json"
    shutil.copy(repository.project.root / BASELINE, file)
    return str(file)


def test_a_change_that_makes_the_agent_worse_is_found(repository, baseline):
    repository.branch("faster")
    repository.agent("Answer at once.")
    repository.commit("Do not waste time")
    done = repository.ci(baseline)
    assert done.status == 4, done.out + done.err
    summary = repository.read("summary.md")
    title, *rest = summary.splitlines()
    assert re.match(r"## orvl: ❌ `FAILED: 1 of 1 contestant worse than in .* beyond chance\.`", title)
    worse = next(line for line in rest if "WORSE" in line)
    assert "mine m host: WORSE. Now − baseline: -0.787" in worse, "by how much"
    found = re.search(r"\((-\d\.\d{3}) to (-\d\.\d{3})\).*e-value (?:is )?(\d+)", worse)
    assert found, worse
    assert float(found[1]) < -0.787 < float(found[2]) < 0 and int(found[3]) >= 20, "how sure"
    assert "`task-2`" in summary and "0.050" in summary, "where"
    assert summary in repository.summary.read_text()
    suites = ET.fromstring(repository.read("junit.xml"))
    check(suites)
    assert suites.find("testsuite/properties/property[@name='baseline']").get("value") == "WORSE"


def test_a_change_that_does_not_passes(repository, baseline):
    repository.branch("typo")
    repository.agent("Think hard before you answer.")
    repository.commit("Say it better")
    done = repository.ci(baseline)
    assert done.status == 0, done.out + done.err
    summary = repository.read("summary.md")
    assert re.match(r"## orvl: ✅ `PASSED: 0 of 1 contestant worse", summary)
    assert "WORSE" not in summary
    suites = ET.fromstring(repository.read("junit.xml"))
    check(suites)
    assert (suites.get("tests"), suites.get("failures"), suites.get("errors")) == ("8", "0", "0")
    episodes = [case.findtext("system-out") for case in suites.iter("testcase")]
    assert all("episode 1: finished, R 0.950, orvl show " in text for text in episodes)


def test_a_change_that_touches_no_agent_runs_nothing_again(repository, server, baseline):
    repository.branch("docs")
    repository.project.write("README.md", "A sample.\n")
    repository.commit("Explain it")
    before = len(server.requests)
    assert repository.ci(baseline).status == 0
    assert len(server.requests) == before


def test_a_provider_that_is_down_is_neither_a_pass_nor_worse(repository, baseline):
    """docs/ci.md: what is missing may be what got worse, so that is status 1."""
    repository.branch("unlucky")
    repository.agent("Think twice before you answer.")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        repository.project.toml(TOML.format(url=f"http://127.0.0.1:{port}/v1"))
        repository.commit("Think twice, at a provider that is down")
        done = repository.ci(baseline)
    assert done.status == 1, done.out + done.err
    summary = repository.read("summary.md")
    title = summary.splitlines()[0]
    assert "UNDECIDED" in title and "⚠️" in title
    assert "PASSED" not in summary and "WORSE" not in summary and "FAILED" not in summary
    suites = ET.fromstring(repository.read("junit.xml"))
    check(suites)
    assert suites.get("failures") == "0"
    assert int(suites.get("errors")) + sum(int(suite.get("skipped")) for suite in suites) == 8


def test_a_threshold_and_a_baseline_in_one_command(repository, baseline):
    repository.branch("faster")
    repository.agent("Answer at once.")
    repository.commit("Do not waste time")
    assert repository.ci(baseline, "--fail-under", "0.5").status == 4
    suites = ET.fromstring(repository.read("junit.xml"))
    check(suites)
    failed = {case.get("name") for case in suites.iter("testcase") if case.find("failure") is not None}
    assert failed == {*EVALS} - {"task-1"}


def test_the_summary_alone_on_standard_output(repository):
    done = repository.project.orvl("mine", "--sandbox=none", "--baseline", f"main:{BASELINE}", "--md=-")
    assert done.status == 0
    assert done.out.startswith("## orvl: ✅")
    assert "PASSED" in done.err, "what a person looks for stands on standard error"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--junit="], "--junit is empty"),
        (["--md=no/such/folder/x.md"], "cannot be written: there is no folder no/such/folder"),
        (["--md=-", "--json"], "--md - writes to standard output, as --json does"),
        (["--github"], "--github needs GITHUB_STEP_SUMMARY"),
        (["--dry-run", "--junit=x.xml"], "--dry-run rates nothing"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_runs(repository, server, flags, sentence):
    repository.agent("Think once more.")
    before = len(server.requests)
    done = repository.project.orvl("mine", "--sandbox=none", *flags)
    assert (done.status, sentence in done.err) == (2, True), done.err
    assert len(server.requests) == before
