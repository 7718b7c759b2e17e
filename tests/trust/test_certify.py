"""Certificates: judges of known virtue and vice over the ladder of controls, from the command line."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager

import pytest

from helpers.judging import answer_of, evidence_in, items_of, pointer_in, servers
from helpers.ladders import laddered
from helpers.thinned import thinned
from orvl.testing import Answer


def passed(request):
    """The share of checks that the evidence says passed."""
    told = re.findall(r"^check:\S+ (passed|failed)", evidence_in(request), re.MULTILINE)
    return told.count("passed") / len(told) if told else 0.0


def giving(share):
    """A judge that says yes to a share of the items, by what it reads."""

    def say(request):
        count = len(items_of(request))
        yes = round(share(request) * count)
        return Answer(answer_of(["yes"] * yes + ["no"] * (count - yes), pointer_in(request)))

    return say


def chance(request):
    return hashlib.sha256(evidence_in(request).encode()).digest()[0] / 255


sound = giving(passed)
constant = giving(lambda _: 1.0)
random = giving(chance)
bug_blind = giving(lambda request: float(passed(request) >= 0.5))
verbose = giving(lambda request: max(passed(request), min(1.0, len(evidence_in(request)) / 4000)))
obedient = giving(
    lambda request: 1.0 if re.search("(?i)reviewer|judge|grader", evidence_in(request)) else passed(request)
)


def silent(_):
    return Answer("I would rather not say.")


@contextmanager
def judged(project, **judges):
    """The project with these judges on its panel."""
    with servers(*judges.values()) as hosts:
        for name, host in zip(judges, hosts, strict=True):
            text = (
                f'[providers.{name}-host]\nprotocol = "openai"\nbase_url = "{host.base_url("openai")}"\n\n'
                f'[judges.{name}]\nmodel = "scripted"\nprovider = "{name}-host"\n\n'
            )
            path = project.root / "orvl.toml"
            # Controls write files and nothing else: without sandboxes they are the same, and ready much sooner.
            path.write_text((path.read_text() if path.exists() else '[sandbox]\nuse = "none"\n\n') + text)
        yield hosts


def certify(project, *words, status):
    done = project.orvl("certify", "--json", "--eval=one,two,three", "--episodes=1", *words)
    assert "Traceback" not in done.err, done.err[-3000:]
    assert done.status == status, done.err[-2000:] + done.out[-3000:]
    return done.json["certificate"]


def failed(certificate):
    return {test["name"] for test in certificate["tests"] if not test["passed"]}


def test_a_sound_panel_is_certified_and_reports_rank(project):
    laddered(project)
    with judged(project, anna=sound, bert=sound, carl=sound):
        found = certify(project, status=0)
        assert found["state"] == "certified" and not found["refused_because"]
        assert found["separation"]["difference"] == 1
        assert {judge["name"] for judge in found["judges"]} == {"anna", "bert", "carl"}
        assert set(found["evals"]) == {"one", "two", "three"}
        report = project.orvl("report", "--json").json
        assert report["certificate"]["state"] == "certified"
        text = project.orvl("report").out
        assert "Certified on" in text and "control:" not in text


VICES = {
    "constant": ({"anna": constant, "bert": constant, "carl": constant}, "T1", "cannot tell good work from bad"),
    "random": ({"anna": random, "bert": random, "carl": random}, "T1", "good work from bad"),
    "one of three at random": ({"anna": sound, "bert": sound, "carl": random}, "T1", "carl"),
    "blind to bugs": ({"anna": bug_blind, "bert": bug_blind, "carl": bug_blind}, "T2", "overlook a planted bug"),
    "impressed by length": ({"anna": verbose, "bert": verbose, "carl": verbose}, "T4", "Length alone earns points"),
    "one of three impressed by length": ({"anna": sound, "bert": verbose, "carl": sound}, "T4", "bert"),
    "one of three blind to bugs": ({"anna": bug_blind, "bert": sound, "carl": sound}, "T2", "anna"),
    "silent": ({"anna": silent, "bert": silent, "carl": silent}, "T1", "Not tested whether"),
}


@pytest.mark.parametrize("vice", thinned(list(VICES), every=2))
def test_a_panel_with_a_vice_is_refused_in_plain_words(project, vice):
    judges, test, words = VICES[vice]
    laddered(project)
    with judged(project, **judges):
        found = certify(project, "--gate", status=1)
        assert found["state"] == "refused"
        assert test in failed(found)
        assert any(words in reason for reason in found["refused_because"]), found["refused_because"]
        if vice.startswith("one of three"):
            assert found["passes_without"] == [words]
            assert any(f"Without {words} the panel would pass" in reason for reason in found["refused_because"])
        report = project.orvl("report", "--json").json
        assert report["certificate"]["state"] == "refused"
        assert all(row["rank"] is None for row in report["ratings"])
        assert "so nobody is ranked" in " ".join(project.orvl("report").out.split())


def test_an_obedient_judge_is_saved_by_the_second_view(project):
    """Words in the work move it, and the answers without them count: the controls show that the defence holds."""
    laddered(project)
    with judged(project, anna=obedient, bert=sound, carl=sound):
        found = certify(project, "--gate", status=0)
        assert found["state"] == "certified"
        assert not found["quarantined"]


def swayed(request):
    """A judge that takes a second file for a sign of quality, in any view."""
    return 1.0 if len(re.findall(r"^## \S+ \(new\)$", evidence_in(request), re.MULTILINE)) > 1 else passed(request)


def test_a_judge_that_can_be_talked_up_is_quarantined(project):
    laddered(project)
    with judged(project, anna=giving(swayed), bert=sound, carl=sound):
        found = certify(project, "--gate", status=1)
        assert found["quarantined"] == ["anna"]
        assert "T5" in failed(found)
        assert found["passes_without"] == ["anna"]
        text = project.orvl("certify", "--gate", "--eval=one,two,three", "--episodes=1", "-q")
        assert text.status == 1
        assert "REFUSED" in text.out and "anna is quarantined" in text.out


def test_what_is_changed_makes_a_certificate_stale_and_what_was_asked_is_not_asked_again(project):
    laddered(project)
    with judged(project, anna=sound, bert=sound) as hosts:
        certify(project, "--gate", status=0)
        asked = [len(host.given) for host in hosts]
        certify(project, "--gate", status=0)
        assert [len(host.given) for host in hosts] == asked

        def state():
            return project.orvl("report", "--json").json["certificate"]

        assert state()["state"] == "certified"
        good = project.root / "evals/two/controls/good/tools.py"
        text = good.read_text()
        good.write_text(text + "# more\n")
        assert state()["state"] == "stale" and "eval two" in state()["reasons"][0]
        good.write_text(text)
        toml = project.root / "orvl.toml"
        settings = toml.read_text()
        toml.write_text(settings.replace("[judges.bert]\n", "[judges.bert]\nweight = 2\n"))
        assert state()["state"] == "stale" and "weight of the judge bert has changed" in state()["reasons"][0]
        toml.write_text(settings.replace("[judges.bert]\n", "[judges.bert]\nlooks = 2\n"))
        assert state()["state"] == "stale" and "settings of the judge bert have changed" in state()["reasons"][0]
        toml.write_text(settings)
        assert state()["state"] == "certified"
        narrowed = project.orvl("report", "--judge=anna", "--json").json["certificate"]
        assert narrowed["state"] == "stale" and "bert was on the certified panel" in narrowed["reasons"][0]
        project.score("works", "items = ['It adds.', 'It finds the largest.', 'It greets.', 'It sums.']\n")
        assert state()["state"] == "stale"
        assert any("works has changed" in reason for reason in state()["reasons"])
        assert "is stale, so nobody is ranked" in " ".join(project.orvl("report").out.split())


def test_a_judge_that_has_moved_is_named(project):
    mood = {"shift": 0.0}
    moody = giving(lambda request: max(0.0, passed(request) - mood["shift"]))
    laddered(project)
    with judged(project, anna=moody, bert=sound):
        first = certify(project, "--gate", status=0)
        assert first["drift"] is None
        mood["shift"] = 0.5
        assert project.orvl("score", "dummy-good,dummy-bad", "--fresh", "--eval=one,two,three").status == 0
        # Its new samples of good work are no better than its old ones of a planted bug: T2 refuses it by name.
        second = certify(project, "--gate", status=1)
        assert any(reason.startswith("anna ") for reason in second["refused_because"]), second["refused_because"]
        moved = {one["judge"]: one for one in second["drift"]["judges"]}
        assert moved["anna"]["moved"] and moved["anna"]["shift"]["mean"] < 0
        assert not moved["bert"]["moved"]
        text = project.orvl("certify", "--gate", "--eval=one,two,three", "--episodes=1", "-q").out
        assert "has moved" not in text, "nothing has moved since the second certificate"


def test_controls_certify_programs_where_there_is_no_judge(project):
    laddered(project, metrics="{checks: 1, speed: 1}")
    found = certify(project, "--gate", status=0)
    assert found["judges"] == [] and list(found["metrics"]) == ["checks"]
    assert {test["judge"] for test in found["tests"]} == {None, "programs"}


def test_one_eval_is_too_few_and_says_so(project):
    laddered(project, names=("one",))
    with judged(project, anna=sound):
        done = project.orvl("certify", "--gate", "--eval=one", "--episodes=1", "--json")
        assert done.status == 1
        assert any(
            "at least" in reason or "more evals" in reason for reason in done.json["certificate"]["refused_because"]
        )


def test_without_a_good_control_there_is_nothing_to_certify(project):
    project.eval("plain", "Do it.\n")
    done = project.orvl("certify", "--eval=plain")
    assert done.status == 2
    assert "controls/good" in done.err


def test_the_cost_is_told_before_and_many_paid_questions_want_a_yes(project):
    laddered(project)
    project.toml(
        '[providers.far]\nprotocol = "openai"\nbase_url = "https://models.invalid/v1"\n\n'
        '[judges.anna]\nmodel = "m"\nprovider = "far"\n'
    )
    plan = project.orvl("certify", "--eval=one,two,three", "--dry-run", "--json").json
    assert plan["questions"] > 100 and plan["cost"]["likely"] is None
    assert plan["controls"]["one"]["dose-all"]["truth"] == 0
    done = project.orvl("certify", "--eval=one,two,three")
    assert done.status == 2 and "--budget" in done.err
    assert not (project.root / ".orvl/orvl.db").exists() or not project.rows("SELECT 1 FROM score")
