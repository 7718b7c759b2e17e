"""What is kept of the gate: in the store by the eval's content, in the package, and in what rankings say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import orvl
from helpers.graded import grade
from helpers.viewing import viewing
from orvl.project import Project
from orvl.store import open_store
from orvl.trust.standing import eval_content
from orvl.trust.vetted import KIND, VERSION, packaged
from orvl.trust.vetting.vet import gate_tests

EVALS = tuple(f"e{number}" for number in range(1, 8))
BUILT_IN = sorted(path.parent.name for path in (Path(orvl.__file__).parent / "evals").glob("*/eval.md"))


@pytest.fixture
def ranked(project):
    """Two contestants that are ranked by programs alone."""
    for agent, value in (("better", 0.9), ("worse", 0.1)):
        grade(project, agent, dict.fromkeys(EVALS, value))
    project.orvl("better,worse", "--json")
    return project


def keep(project, name, *, vetted, whole=True, content=None):
    """A record as `orvl check` keeps it."""
    eval_ = Project(project.root).eval(name)
    record = {
        "version": VERSION,
        "eval": name,
        "content": content or eval_content(eval_),
        "vetted": vetted,
        "whole": whole,
    }
    with open_store(project.root / ".orvl", write=True) as store:
        store.transaction([lambda inside: inside.add_trust(KIND, record)])


def vetted(project) -> dict[str, bool | None]:
    return project.orvl("report", "--json").json["vetted"]


def test_nobody_has_tried_yet(ranked):
    assert vetted(ranked) == dict.fromkeys(EVALS)


def test_the_newest_record_of_an_evals_content_counts(ranked):
    keep(ranked, "e1", vetted=True)
    keep(ranked, "e2", vetted=False)
    keep(ranked, "e3", vetted=True, content="of another content")
    keep(ranked, "e4", vetted=True, whole=False)
    assert vetted(ranked) == {**dict.fromkeys(EVALS), "e1": True, "e2": False}
    keep(ranked, "e2", vetted=True)
    assert vetted(ranked)["e2"] is True


def test_a_changed_eval_has_not_passed(ranked):
    keep(ranked, "e1", vetted=True)
    path = ranked.root / "evals/e1.md"
    path.write_text(path.read_text() + "And more.\n")
    ranked.orvl("better,worse", "--json")
    assert vetted(ranked)["e1"] is None


def test_a_ranking_names_evals_that_have_not_passed(ranked):
    for name in EVALS[:5]:
        keep(ranked, name, vetted=True)
    sentence = "2 of 7 evals of this ranking did not pass the gate: e6, e7. See: orvl check e6 e7"
    assert sentence in " ".join(ranked.orvl("report").out.split())
    with viewing(ranked) as viewer:
        assert sentence in viewer.get("/board").text
        assert json.loads(viewer.get("/board.json").text)["vetted"]["e6"] is None
    for name in EVALS[5:]:
        keep(ranked, name, vetted=True)
    assert "All 7 evals of this ranking passed the gate." in " ".join(ranked.orvl("report").out.split())


def test_a_damaged_record_is_told(ranked):
    with open_store(ranked.root / ".orvl", write=True) as store:
        store.transaction([lambda inside: inside.add_trust(KIND, {"version": VERSION})])
    done = ranked.orvl("report")
    assert done.status == 2 and "A record of the gate" in done.err


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_package_holds_the_result_of_each_eval_as_it_is_now(name, project):
    """Stale or missing: orvl check NAME --write."""
    record = packaged()[name]
    assert record["content"] == eval_content(Project(project.root).eval(name))
    assert record["version"] == VERSION and record["whole"] and record["vetted"]
    assert sorted(record["tests"], key=int) == [str(test.number) for test in gate_tests()]


def test_reports_know_what_the_package_holds(project):
    project.orvl("dummy-good,dummy-bad", "--eval=hello-world", "--json")
    assert vetted(project) == {"hello-world": packaged()["hello-world"]["vetted"]}
