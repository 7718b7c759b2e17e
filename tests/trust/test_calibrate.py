"""Calibrations and the standing of certificates: what they say when data are odd, narrowed, changed or missing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time

import pytest
from test_certify import constant, giving, judged, passed, sound

from helpers.judging import evidence_in, items_of
from helpers.ladders import LINES, laddered
from orvl.store.sqlite import SqliteStore
from orvl.testing import Answer
from orvl.trust.control_agents import control_of

EVALS = ("one", "two", "three")
ITEMS = [f"Item {number}." for number in range(20)]
HALF = """
    models = {"none": ["fixed"]}

    def command():
        lines = ["    return a + b", "        if value > best:"]
        return ["sh", "-c", 'printf "%s\\\\n" "$@" > tools.py', "sh", *lines]
"""


def call(project, *words, status=0, evals=EVALS):
    done = project.orvl(*words, f"--eval={','.join(evals)}", "--episodes=1", "-q")
    assert "Traceback" not in done.err, done.err[-3000:]
    assert done.status == status, done.err[-2000:] + done.out[-3000:]
    return done


def certificate(project, *words, status=0, evals=EVALS):
    return call(project, "certify", "--gate", "--json", *words, status=status, evals=evals).json["certificate"]


def standing(project, *words):
    found = project.orvl("report", "--json", *words).json["certificate"]
    return found["state"], found["reasons"]


def flat(text):
    return " ".join(text.split())


def test_harsh_and_generous_judges_come_together_and_a_newer_failure_hides_no_map(project):
    laddered(project, names=EVALS)
    project.score("works", f"items = {ITEMS!r}\n")
    project.agent("half", HALF)
    harsh, generous = (giving(lambda r: 0.6 * passed(r)), giving(lambda r: 0.4 + 0.6 * passed(r)))
    with judged(project, anna=harsh, bert=generous):
        found = call(project, "calibrate", "--json").json["calibration"]["judges"]
        lines = {one["name"]: (round(one["map"]["intercept"], 6), round(one["map"]["slope"], 6)) for one in found}
        assert lines == {"anna": (0, 0.6), "bert": (0.4, 0.6)}
        assert project.orvl("half", "--eval=one,two", "--judge=bert").status == 0

        def rated():
            return project.orvl("report", "half", "--judge=bert", "--json").json["ratings"][0]

        assert rated()["R"] == 0.7
        assert abs(rated()["calibrated"] - 0.5) < 1e-9, "(0.7 - 0.4) / 0.6"
        text = call(project, "calibrate", "--judge=bert", evals=("one",), status=1).out
        assert "needs at least 2" in text and "0.00" not in text
        assert abs(rated()["calibrated"] - 0.5) < 1e-9, "nothing was found out, so the map holds"


@pytest.mark.nightly
def test_work_with_all_bugs_is_worth_what_it_passes(project):
    """Four checks see the bugs, and four others pass whatever is written: all bugs are worth a half, not nothing."""
    laddered(project, names=EVALS)
    project.score("works", f"items = {ITEMS!r}\n")
    more = ", ".join(f'{{"name": "there{one}", "run": "test -e tools.py"}}' for one in range(4))
    for name in EVALS:
        head = project.root / f"evals/{name}/eval.md"
        head.write_text(head.read_text().replace("checks: [", f"checks: [{more}, "))
    fair = giving(passed)
    with judged(project, anna=fair):
        found = call(project, "calibrate", "--json").json["calibration"]
    (anna,) = found["judges"]
    assert found["worth"]["dose-all"] == [0.5] * 3 and found["worth"]["good"] == [1.0] * 3
    assert set(found["worth_from"].values()) == {"checks"}
    assert abs(anna["map"]["intercept"]) < 0.03 and abs(anna["map"]["slope"] - 1) < 0.05, "it is right as it is"


@pytest.mark.nightly
def test_where_nobody_knows_what_anchors_are_worth_nothing_is_calibrated(project):
    laddered(project, names=EVALS)
    for name in EVALS:
        head = project.root / f"evals/{name}/eval.md"
        head.write_text(re.sub(r"checks: \[.*\]", 'checks: [{name: there, run: "test -e tools.py"}]', head.read_text()))
    with judged(project, anna=giving(passed_lines)):
        done = call(project, "calibrate", status=1)
        assert "nobody knows what its anchors are worth" in flat(done.out)
        agents = (
            "SELECT attempt.id, agent FROM attempt JOIN run ON attempt.run = run.id JOIN cell ON run.cell = cell.id"
        )
        worth = {"good": 0.9, "planted-bug": 0.8, "dose-2": 0.7, "dose-4": 0.5, "dose-all": 0.5}
        with SqliteStore(project.root / ".orvl", write=True) as store:
            for number, agent in store.rows(agents):
                store.add_label(number, "works", "ann", worth[control_of(agent)], None, None)
            store.db.commit()
        found = call(project, "calibrate", "--json").json["calibration"]
    assert found["worth"]["dose-all"] == [0.5] * 3 and set(found["worth_from"].values()) == {"people"}


def passed_lines(request):
    """The share of bugs that are not there, seen in the work itself."""
    shown = evidence_in(request)
    return sum(line in shown for line in LINES) / len(LINES)


def test_a_judge_that_follows_no_line_is_refused(project):
    laddered(project, names=EVALS)
    with judged(project, anna=giving(lambda request: 1.0 if passed(request) == 1 else 0.0)):
        done = call(project, "calibrate", status=1)
    assert "anna's scores do not follow a line: on anchors that the line has not seen it is off by" in flat(done.out)


def test_without_a_judge_nothing_runs_before_calibrate_says_so(project):
    laddered(project, names=EVALS)
    done = call(project, "calibrate", status=2)
    assert "no judge to calibrate" in done.err
    assert not (project.root / ".orvl/orvl.db").exists() or not project.rows("SELECT 1 FROM run")


def mixed(request):
    return constant(request) if "It is neat." in items_of(request) else sound(request)


@pytest.mark.nightly
def test_what_counts_must_be_what_was_certified_and_drift_is_of_the_same_question(project):
    laddered(project, names=EVALS, metrics="{works: 1, style: 1}")
    project.score("style", "items = ['It is neat.', 'It is tidy.']\n")
    with judged(project, anna=mixed):
        assert certificate(project)["metrics"]["style"]["flagged"]
        assert standing(project) == ("certified", [])
        state, reasons = standing(project, "--metric=style")
        assert state == "stale" and "style and works together, but is now rated on style alone" in reasons[0]

        narrow = certificate(project, "--metric=works")
        assert narrow["drift"] is None, "other metrics are another question"
        assert standing(project) == ("certified", []), "the newest certificate that speaks of what counts"
        assert standing(project, "--metric=works") == ("certified", [])

        certificate(project, evals=("one",), status=1)
        assert standing(project) == ("certified", []), "a refusal for want of evals says nothing of the judges"

        heads = [project.root / f"evals/{name}/eval.md" for name in EVALS]
        for head in heads:
            head.write_text(head.read_text().replace("works: 1,", "works: 0.1,"))
        state, reasons = standing(project)
        assert state == "stale" and "metric weights of the eval" in reasons[0]
        again = certificate(project, status=1)
        assert again["drift"] is None and standing(project)[0] == "refused"
        for head in heads:
            head.write_text(head.read_text().replace("works: 0.1,", "works: 1,"))
        settings = project.root / "orvl.toml"
        settings.write_text(settings.read_text().replace('model = "scripted"', 'model = "other"'))
        assert certificate(project)["drift"] is None, "another model is no drift"
        (project.root / "evals/two").rename(project.root / "gone")
        state, reasons = standing(project)
        assert state == "stale" and "The eval two, on which the judges were tested, no longer exists" in reasons[0]


def test_judges_without_a_say_come_and_go(project):
    laddered(project, names=EVALS)
    with judged(project, anna=sound, bert=constant):
        settings = project.root / "orvl.toml"
        settings.write_text(settings.read_text().replace("[judges.bert]\n", "[judges.bert]\nweight = 0\n"))
        text = call(project, "certify", "--gate").out
        assert "each control once, by 1 judge." in text
        assert standing(project, "--judge=anna") == ("certified", [])
        settings.write_text(settings.read_text().replace("weight = 0\n", "weight = 1\n"))
        state, reasons = standing(project)
        assert state == "stale" and "weight of the judge bert has changed" in reasons[0]


def test_programs_are_spoken_of_as_programs_and_their_files_count(project):
    laddered(project, names=EVALS, metrics="{checks: 1, lines: 1}")
    project.score("lines", "def score(run):\n    return 1.0 if run.files else 0.0\n")
    text = call(project, "certify", "--gate").out
    assert "these programs can tell" in text and "without a judge." in text and "the judges" not in text.lower()
    assert "these programs tell good work from bad" in flat(project.orvl("report").out)
    project.score("lines", "def score(run):\n    return 0.5\n")
    state, reasons = standing(project)
    assert state == "stale" and "lines has changed" in reasons[0]


def no_injections(request):
    return Answer("No.") if re.search("(?i)reviewer|verdict", evidence_in(request)) else sound(request)


def test_what_is_not_there_is_told_and_a_users_dummy_is_no_control(project):
    """Judges that keep silent, evals without bugs or good files, and an agent that only has the name of a control."""
    laddered(project, names=EVALS)
    project.agent("dummy_good", 'models = {"none": ["fixed"]}\n\ndef command():\n    return ["true"]\n')
    project.eval("plain", "Do it.\n")
    project.write("evals/shell/eval.md", "---\nmetrics: {works: 1}\n---\nWrite a script.\n")
    project.write("evals/shell/controls/good/run.sh", "echo hello\n")
    (project.root / "evals/shell/controls/bad").mkdir()
    project.write("evals/hollow/eval.md", "Do it.\n")
    (project.root / "evals/hollow/controls/good").mkdir(parents=True)
    with judged(project, anna=no_injections):
        every = (*EVALS, "plain", "shell", "hollow")
        text = flat(call(project, "certify", "--gate", status=1, evals=every).out)
        found = certificate(project, status=1, evals=every)
    assert set(found["evals"]) == {*EVALS, "shell"}
    assert found["scores"]["anna"]["good"]["one"] == 1, "controls/good, whatever agents/dummy_good.py does"
    assert found["silent"]["anna"]["missing"] == 20 and found["runs"] == {"failed": 0, "missing": 0}
    assert "anna gave no answer to 20 of 39 questions; most often: its answer is not the JSON" in text
    assert "shell: no bug could be planted in controls/good: write some as" in text
    assert "plain: it has no good result" in text and "hollow: its controls/good holds no file" in text
    assert "4 evals are few" in text
    auc = re.search(r"T1 AUC.*", call_text(project, every))[0]
    assert "≥ 0.95" in auc and auc.count("≥") == 1, "a share of pairs has no bound"


def call_text(project, evals):
    return project.orvl("certify", "--gate", "-q", f"--eval={','.join(evals)}", "--episodes=1").out


@pytest.mark.nightly
def test_a_killed_certificate_goes_on_and_leaves_no_files(project):
    def slow(request):
        time.sleep(0.1)
        return sound(request)

    laddered(project, names=EVALS)
    with judged(project, anna=slow) as (host,):
        words = ["certify", "--gate", "--eval=one,two,three", "--episodes=1", "--concurrency=2"]
        with subprocess.Popen(
            [*project.command, *words],
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:
            for _ in range(3):
                process.stderr.readline()
            os.kill(process.pid, signal.SIGKILL)
        before = len(host.given)
        assert before
        certificate(project)
        asked = len(host.given)
        certificate(project)
        assert len(host.given) == asked, "all is asked once"
    assert not [path for path in project.tmp.rglob("*") if path.name.startswith(("orvl-ladder", "planted"))]
    assert not list((project.tmp / f"orvl-{os.getuid()}").iterdir())


@pytest.mark.nightly
def test_a_judge_that_was_down_is_asked_again_and_one_that_moved_is_found_out(project):
    mood = {"down": True, "shift": 0.0}
    healthy = giving(lambda request: max(0.0, passed(request) - mood["shift"]))
    laddered(project, names=EVALS)
    with judged(project, anna=lambda request: Answer("no") if mood["down"] else healthy(request)) as (host,):
        assert certificate(project, status=1)["silent"]["anna"]["missing"] == 30
        mood["down"] = False
        asked = len(host.given)
        certificate(project, status=1)
        assert len(host.given) == asked, "only where that is asked for"
        assert certificate(project, "--unanswered")["silent"] == {}
        asked = len(host.given)
        certificate(project, "--unanswered")
        assert len(host.given) == asked
        mood["shift"] = 0.5
        (moved,) = certificate(project, "--fresh")["drift"]["judges"]
        assert moved["moved"] and moved["shift"]["mean"] < 0 and len(host.given) > asked
