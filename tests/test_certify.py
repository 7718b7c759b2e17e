"""Certificates: judges of known virtue and vice over the ladder of controls, from the command line."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from contextlib import contextmanager

import pytest

from judging import answer_of, evidence_in, items_of, pointer_in, servers
from orvl.testing import Answer

GOOD = """
def add(a, b):
    return a + b


def largest(values):
    best = values[0]
    for value in values:
        if value > best:
            best = value
    return best


def greet(name):
    return "Hello, " + name


def total(rows):
    amount = 0
    for row in rows:
        amount = add(amount, row)
    return amount
"""
LINES = [
    "    return a + b",
    "        if value > best:",
    '    return "Hello, " + name',
    "        amount = add(amount, row)",
]
CHECKS = [
    json.dumps({"name": f"c{number}", "run": f"grep -qxF {shlex.quote(line)} tools.py"})
    for number, line in enumerate(LINES)
]
PATCH = "--- a/tools.py\n+++ b/tools.py\n@@ -{at},1 +{at},1 @@\n-{old}\n+{new}\n"
BUGS = {
    "1": (2, "    return a + b", "    return a - b"),
    "2": (8, "        if value > best:", "        if value < best:"),
    "3": (14, '    return "Hello, " + name', '    return "Goodbye, " + name'),
    "4": (20, "        amount = add(amount, row)", "        amount = add(amount, amount)"),
}
ITEMS = ["It adds.", "It finds the largest.", "It greets.", "It totals."]


def laddered(project, names=("one", "two", "three"), metrics="{works: 1}"):
    """Evals with a good and a bad control, and four bugs."""
    project.score("works", f"items = {ITEMS!r}\n")
    for name in names:
        head = f"---\nmetrics: {metrics}\nchecks: [{', '.join(CHECKS)}]\n---\n"
        project.write(f"evals/{name}/eval.md", head + f"Write tools.py, number {name}.\n")
        project.write(f"evals/{name}/controls/good/tools.py", GOOD)
        project.write(f"evals/{name}/controls/bad/tools.py", "def nothing():\n    pass\n")
        for number, (at, old, new) in BUGS.items():
            project.write(f"evals/{name}/controls/bugs/{number}.patch", PATCH.format(at=at, old=old, new=new))


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
            path.write_text((path.read_text() if path.exists() else "") + text)
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
    "silent": ({"anna": silent, "bert": silent, "carl": silent}, "T1", "It was not tested whether"),
}


@pytest.mark.parametrize("vice", VICES)
def test_a_panel_with_a_vice_is_refused_in_plain_words(project, vice):
    judges, test, words = VICES[vice]
    laddered(project)
    with judged(project, **judges):
        found = certify(project, "--gate", status=1)
        assert found["state"] == "refused"
        assert test in failed(found)
        assert any(words in reason for reason in found["refused_because"]), found["refused_because"]
        if vice == "one of three at random":
            assert found["passes_without"] == ["carl"]
            assert any("Without carl the panel would pass" in reason for reason in found["refused_because"])
        report = project.orvl("report", "--json").json
        assert report["certificate"]["state"] == "refused"
        assert all(row["rank"] is None for row in report["ratings"])
        assert "so the rows are not ranked" in " ".join(project.orvl("report").out.split())
