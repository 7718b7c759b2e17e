"""`action.yml` and the example workflows: they are YAML, name only inputs that exist, and their shell lines work."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from helpers.graded import EIGHT, all_eight, grade

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
EXAMPLES = sorted((ROOT / "docs/examples").glob("*.yml"))
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
SANDBOX = "none"


class Runner:
    """Carries out steps of the action as GitHub's runner does, with the real orvl on the PATH."""

    def __init__(self, project, **inputs):
        self.project = project
        self.folder = project.root.parent / "runner"
        (self.folder / "bin").mkdir(parents=True, exist_ok=True)
        self.values = {f"inputs.{name}": one.get("default", "") for name, one in ACTION["inputs"].items()}
        self.values |= {f"inputs.{name.replace('_', '-')}": value for name, value in inputs.items()}
        self.values["github.action_path"] = str(ROOT)
        self.program("orvl", f'exec "{sys.executable}" -m orvl "$@"')

    def program(self, name, line):
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def filled(self, text):
        return EXPRESSION.sub(lambda found: str(self.values[found[1]]), text)

    def step(self, name):
        step = STEPS[name]
        files = {key: self.folder / key for key in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
        for key in ("GITHUB_OUTPUT", "GITHUB_PATH"):
            files[key].write_text("")
        done = subprocess.run(
            [shutil.which("bash"), "--noprofile", "--norc", "-eo", "pipefail", "-c", self.filled(step["run"])],
            cwd=self.project.root,
            env={
                **self.project.env,
                "PATH": f"{self.folder / 'bin'}:{self.project.env['PATH']}",
                "RUNNER_TEMP": str(self.folder),
                **{key: str(path) for key, path in files.items()},
                **{key: self.filled(value) for key, value in step.get("env", {}).items()},
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        for line in files["GITHUB_OUTPUT"].read_text().splitlines():
            key, _, value = line.partition("=")
            self.values[f"steps.{step['id']}.outputs.{key}"] = value
        return done

    def all(self):
        """The status of the action: that of the first step that fails."""
        for name in ("Run", "Report"):
            done = self.step(name)
            if done.returncode:
                break
        return done


@pytest.fixture
def graded(project):
    grade(project, "mine", all_eight(0.9))
    return project


def runner(project, **inputs):
    return Runner(project, **{"words": f"mine m none {','.join(EIGHT)}", "run_flags": "--sandbox none", **inputs})


def test_what_it_writes_and_that_it_passes(graded):
    made = runner(graded, fail_under="0.5")
    done = made.all()
    assert done.returncode == 0, done.stderr
    assert made.values["steps.report.outputs.status"] == "0"
    out = graded.root / "orvl-report"
    report = json.loads((out / "report.json").read_text())
    assert (report["gate"]["state"], len(report["cells"])) == ("passed", 8)
    assert ET.parse(out / "junit.xml").getroot().get("tests") == "8"
    summary = (out / "summary.md").read_text()
    assert summary in (made.folder / "GITHUB_STEP_SUMMARY").read_text()
    assert "PASSED" in summary


def test_its_report_is_a_baseline_for_the_next(graded):
    assert runner(graded).all().returncode == 0
    shutil.copy(graded.root / "orvl-report/report.json", graded.root / "base line.json")
    grade(graded, "mine", all_eight(0.1))
    made = runner(graded, baseline="base line.json")
    assert made.all().returncode == 4
    assert made.values["steps.report.outputs.status"] == "4"
    assert "WORSE" in (graded.root / "orvl-report/summary.md").read_text()


def test_missing_runs_are_no_pass_although_nothing_was_asked(graded):
    grade(graded, "mine", {**all_eight(0.9), "e3": None})
    made = runner(graded)
    assert made.all().returncode == 1
    assert made.values["steps.run.outputs.status"] == "1"
    assert (graded.root / "orvl-report/summary.md").exists()


def test_a_wrong_call_ends_it_at_once(graded):
    made = runner(graded, words="nobody")
    assert made.all().returncode == 2
    assert not (graded.root / "orvl-report").exists()


def test_a_report_without_a_run(graded):
    assert runner(graded).all().returncode == 0
    before = graded.rows("SELECT count(*) FROM attempt")
    made = runner(graded, run_flags="none", fail_under="0.95")
    assert made.all().returncode == 4
    assert graded.rows("SELECT count(*) FROM attempt") == before


def test_words_reach_orvl_as_they_are(graded):
    made = runner(
        graded,
        words="mine\n  'x y' $(touch hacked) `touch hacked` * ; touch hacked\n",
        budget="1 --yes",
        fail_under="0",
    )
    made.program("orvl", f'printf "%s\\n" "$@" > "{made.folder}/words-$1"')
    assert made.all().returncode == 0
    assert not (graded.root / "hacked").exists()
    hostile = ["mine", "'x", "y'", "$(touch", "hacked)", "`touch", "hacked`", "*", ";", "touch", "hacked"]
    ran = (made.folder / "words-run").read_text().splitlines()
    assert ran == ["run", *hostile, "--sandbox", "none", "--budget=1 --yes", "--project", "."]
    reported = (made.folder / "words-report").read_text().splitlines()
    assert reported[: len(hostile) + 4] == ["report", *hostile, "--project", ".", "--fail-under=0"]


def test_it_installs_itself_into_an_environment_of_its_own(graded):
    made = runner(graded, python="fake-python")
    record = f'printf "%s\\n" "$*" >> "{made.folder}/calls"'
    made.program("fake-python", f'{record}\nmkdir -p "$3/bin" && cp "$0" "$3/bin/python"')
    done = made.step("Install orvl")
    assert done.returncode == 0, done.stderr
    calls = (made.folder / "calls").read_text().splitlines()
    assert calls == [f"-m venv {made.folder}/orvl", f"-m pip install --quiet {ROOT}"]
    assert (made.folder / "GITHUB_PATH").read_text() == f"{made.folder}/orvl/bin\n"


def test_no_expression_stands_in_a_shell_line():
    """What a pull request may choose must reach the shell as a variable, never as text of a script."""
    for path in (ROOT / "action.yml", *EXAMPLES):
        for step in steps_of(yaml.safe_load(path.read_text())):
            assert "${{" not in step.get("run", ""), path.name


def test_the_action_names_only_what_it_has():
    known = {f"inputs.{name}" for name in ACTION["inputs"]} | {"github.action_path", "steps.run.outputs.status"}
    for step in STEPS.values():
        assert step["shell"] == "bash"
        assert {name for text in step["env"].values() for name in EXPRESSION.findall(text)} <= known
    assert all(one.get("description") for one in (*ACTION["inputs"].values(), *ACTION["outputs"].values()))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_examples_use_the_action_as_it_is(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"]
    uses = [step for step in steps_of(workflow) if "/orvl@" in step.get("uses", "")]
    assert len(uses) == 1
    assert set(uses[0]["with"]) <= set(ACTION["inputs"])
    assert uses[0]["with"]["budget"], "what costs money has a limit"
    names = {step.get("id") for step in steps_of(workflow)}
    assert set(re.findall(r"steps\.(\w+)\.", path.read_text())) <= names
    for step in steps_of(workflow):
        if "run" in step:
            subprocess.run(["bash", "-n", "-c", step["run"]], check=True)


def test_there_is_an_example_for_pull_requests_and_one_for_the_night():
    triggers = {path.stem: yaml.safe_load(path.read_text())[True] for path in EXAMPLES}  # YAML 1.1 reads `on` as true
    assert "pull_request" in triggers["pull-request"]
    assert triggers["nightly"]["schedule"]
    nightly = next(
        step for step in steps_of(yaml.safe_load(EXAMPLES[0].read_text())) if "orvl@" in step.get("uses", "")
    )
    assert "--race" in nightly["with"]["run-flags"]


def test_the_nightly_baseline_is_where_the_pull_request_looks(graded):
    nightly, pull = (yaml.safe_load(path.read_text()) for path in EXAMPLES)
    keep = next(step["run"] for step in steps_of(nightly) if "baseline" in step.get("name", ""))
    asked = next(step["with"]["baseline"] for step in steps_of(pull) if "orvl@" in step.get("uses", ""))
    assert runner(graded).all().returncode == 0
    for words in (("init", "--bare", "-q", "-b", "main", "../origin"), ("init", "-q", "-b", "main")):
        subprocess.run(["git", *words], cwd=graded.root, check=True)
    subprocess.run(["git", "remote", "add", "origin", "../origin"], cwd=graded.root, check=True)
    subprocess.run(["git", "config", "push.autoSetupRemote", "true"], cwd=graded.root, check=True)
    for _ in range(2):
        subprocess.run(["bash", "-e", "-c", keep], cwd=graded.root, check=True, env=graded.env)
    grade(graded, "mine", all_eight(0.1))
    assert runner(graded, baseline=asked.replace("${{ github.base_ref }}", "main")).all().returncode == 4


def steps_of(document):
    if "jobs" in document:
        return [step for job in document["jobs"].values() for step in job["steps"]]
    return document["runs"]["steps"]
