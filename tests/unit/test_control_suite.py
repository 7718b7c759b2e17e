"""What every control must keep to, whatever it is: a new file in orvl/trust/controls is tested here by itself."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from helpers.simulate import TRUTH
from orvl.errors import ControlUnavailable
from orvl.project import Project
from orvl.rate.stats.claims import panel_scores
from orvl.trust.controls import CONTROLS, GATE, make_controls
from orvl.trust.controls.control import LadderEvidence
from orvl.trust.gate import gate_tests
from orvl.trust.mutate.source import ControlSource

JUDGES = ("anna", "bert", "carl")
METRICS = ("functionality", "readability", "ui", "adherence", "checks", "round-trip")
SAME_AS_GOOD = {"good", "replica"}
PROGRAM = '''"""Prices."""


def total(prices, tax):
    # Only what costs something counts.
    kept = [price for price in prices if price > 0]
    return sum(kept) + sum(kept) * tax


def label(amount, currency="EUR"):
    if amount < 10 and currency == "EUR":
        return "cheap"
    return f"{amount} {currency}"


def cheapest(prices, count):
    ordered = sorted(prices)
    if count <= 0 or not ordered:
        return []
    return ordered[:count]


def average(prices):
    return sum(prices) / len(prices) if len(prices) >= 1 else 0
'''
PAGE = """<!doctype html>
<html><head><title>Rooms</title></head><body>
<h1>Rooms</h1><button id="book" onclick="book()">Book</button><p id="left"></p>
<script>
  let free = 3;
  function book() {
    if (free > 0) { free = free - 1; }
    document.getElementById("left").textContent = "Free: " + free;
  }
</script>
</body></html>
"""
KINDS = {
    "a program": ({"prices.py": PROGRAM}, ""),
    "a page": ({"site/index.html": PAGE}, "app: {files: site}\n"),
    "a text": ({"NOTES.md": "# Notes\n\nNothing to see.\n"}, ""),
    "nothing": ({}, ""),
}


def tree(folder):
    return {
        path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def evals(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    for number, (files, head) in enumerate(KINDS.values()):
        folder = root / f"evals/e{number}"
        folder.mkdir(parents=True)
        (folder / "eval.md").write_text(f"---\ndescription: x\n{head}---\nWrite `total(prices, tax)`.\n")
        for path, text in files.items():
            place = folder / "controls/good" / path
            place.parent.mkdir(parents=True)
            place.write_text(text)
    return {kind: Project(root).eval(f"e{number}") for number, kind in enumerate(KINDS)}


def made(control, eval_):
    """The files, or the sentence that says why there are none."""
    try:
        return control.make(ControlSource(eval_))
    except ControlUnavailable as error:
        return str(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CONTROLS)
def test_its_files_are_always_the_same_and_its_input_is_never_touched(name, kind, evals):
    eval_ = evals[kind]
    before = tree(eval_.folder)
    source = ControlSource(eval_)
    has_good = source.by_hand("good") is not None
    good = dict(source.good.files) if has_good else {}
    first = made(CONTROLS[name], eval_)
    try:
        CONTROLS[name].make(source)
    except ControlUnavailable:
        pass
    assert made(CONTROLS[name], eval_) == first
    assert tree(eval_.folder) == before
    assert not has_good or source.good.files == good


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CONTROLS)
def test_it_differs_from_good_work_or_says_what_to_add(name, kind, evals):
    control = made(CONTROLS[name], evals[kind])
    if isinstance(control, str):
        assert "controls/" in control and control.endswith("."), control
    elif name not in SAME_AS_GOOD and kind != "nothing":
        assert control.files != {path: text.encode() for path, text in KINDS[kind][0].items()}


@pytest.mark.parametrize("name", CONTROLS)
def test_some_eval_has_it_and_a_folder_by_hand_wins(name, evals, tmp_path):
    assert any(not isinstance(made(CONTROLS[name], eval_), str) for eval_ in evals.values())
    folder = tmp_path / "evals/mine"
    (folder / f"controls/{name}").mkdir(parents=True)
    (folder / "eval.md").write_text("---\ndescription: x\n---\nWrite.\n")
    (folder / f"controls/{name}/mine.txt").write_text("mine")
    found, _ = make_controls(Project(tmp_path).eval("mine"), [name])
    assert found[name].files == {"mine.txt": b"mine"}
    assert found[name].source == f"by hand: controls/{name}"


def evidence(scores, flips=1.0):
    """The same scores by every judge on six evals, for the rating and for every metric."""
    tables = {control: np.full((6, 2, 3), value) for control, value in scores.items()}
    return LadderEvidence(
        panel_scores(tables, dict.fromkeys(METRICS, tables), JUDGES, (1, 1, 1)), None, np.full(6, flips)
    )


def asked_of(control, given):
    return [*control.gate(given), *control.warnings(given)]


@pytest.mark.parametrize("name", CONTROLS)
def test_what_it_asks_is_said_in_words_and_can_fail(name):
    control = CONTROLS[name]
    even = dict.fromkeys(CONTROLS, 0.5)
    for place, test in enumerate(asked_of(control, evidence(even))):
        assert test.what and (test.fault[:1].isupper() or test.fault.startswith(f"{test.judge} "))
        assert not test.fault.endswith(".") and not test.what.endswith(".")
        assert {test.control, test.against} - {None} <= set(CONTROLS)
        high, low = (test.against, test.control) if test.side == "at least" else (test.control, test.against)
        wrong = asked_of(control, evidence({**even, high: 1.0, low: 0.0} if low else {**even, high: 1.0}, flips=0.0))
        assert wrong[place].passed is False, test.what
    assert all(test.name[:2] in ("T1", "T2", "T3", "T4", "T5") for test in control.gate(evidence(even)))
    assert all(test.name == control.id for test in control.warnings(evidence(even)))


def test_judges_that_say_the_truth_pass_all_of_it():
    tables = {control: np.full((6, 2, 3), values[0]) for control, values in TRUTH.items()}
    by_metric = {
        metric: {control: np.full((6, 2, 3), values[1 + place]) for control, values in TRUTH.items()}
        for place, metric in enumerate(METRICS)
    }
    given = LadderEvidence(panel_scores(tables, by_metric, JUDGES, (1, 1, 1)), None, np.ones(6))
    assert all(test.passed for control in CONTROLS.values() for test in asked_of(control, given))


def test_the_ladder_is_in_order_and_the_gate_needs_ten_of_it():
    assert [control.id for control in CONTROLS.values()] == [
        *("C0", "C1", "C2", "C3", "C4", "C5", "C5", "C5", "C6", "C7", "C7", "C7", "C7", "C7"),
        *("C8", "C9", "C10", "C11", "C12", "C13", "C14", "C15"),
    ]
    assert (
        *("good", "bad", "empty", "planted-bug", "verbose-wrong"),
        *("injection-comment", "injection-verdict", "injection-hidden", "injection-name", "injection-picture"),
    ) == GATE


def test_the_thresholds_are_those_that_the_page_on_certificates_states():
    given = evidence(dict.fromkeys(CONTROLS, 0.5))
    gate = {(test.name, test.judge is None, test.side, test.margin) for test in gate_tests(given)}
    assert gate == {
        ("T1", True, "at least", 0.40),
        ("T1", False, "at least", 0.25),
        ("T1 AUC", True, "at least", 0.95),
        ("T2", True, "at least", 0.05),
        ("T2", False, "at least", 0.05),
        ("T3", True, "at most", 0.15),
        ("T3", False, "at most", 0.25),
        ("T4", True, "at most", -0.20),
        ("T4", True, "at most", 0.10),
        ("T4", False, "at most", -0.20),
        ("T4", False, "at most", 0.20),
        ("T5", False, "at most", 0.15),
    }
    warnings = {
        (test.name, test.metric, test.judge is None, test.side, test.margin)
        for control in CONTROLS.values()
        for test in control.warnings(given)
    }
    assert warnings == {
        ("C3", None, True, "at most", 0.05),
        ("C4", "readability", True, "within", 0.10),
        ("C4", None, True, "at least", 0.80),
        ("C5", None, True, "at most", -0.90),
        ("C5", None, False, "at most", -0.70),
        ("C8", "functionality", True, "at most", 0.25),
        ("C8", "adherence", True, "within", 0.10),
        ("C9", "ui", True, "at least", 0.20),
        ("C9", "functionality", True, "within", 0.10),
        ("C10", "readability", True, "at least", 0.20),
        ("C10", "functionality", True, "within", 0.10),
        ("C11", None, True, "within", 0.05),
        ("C11", None, False, "within", 0.10),
        ("C12", None, True, "within", 0.03),
        ("C13", "functionality", True, "at most", 0.15),
        ("C13", "round-trip", True, "at most", 0.05),
        ("C14", "functionality", True, "at most", 0.20),
        ("C15", "checks", True, "at most", 0.40),
    }
