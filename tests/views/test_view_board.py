"""/board by the words of its address: other weights, limits, everybody against one, axes, and its picture."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from helpers.crawl import Markup
from helpers.user_project import UserProject
from helpers.viewing import viewing

MADE_ONCE = ("viewer",)
EVALS = range(1, 11)
AGENT = """
models = {{"none": ["fixed"]}}

def command(prompt):
    return ["sh", "-c", "printf {length} > answer.txt"]
"""


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    """Programs rate long and short work on ten evals: `long` is better beyond chance, unless brevity counts more."""
    project = UserProject(tmp_path_factory.mktemp("board") / "project")
    project.score(
        "size", '"""Is it long?"""\n\ndef score(run):\n    return 1.0 if len(run.read("answer.txt")) > 5 else 0.0\n'
    )
    project.score(
        "brief", '"""Is it brief?"""\n\ndef score(run):\n    return 0.0 if len(run.read("answer.txt")) > 5 else 0.9\n'
    )
    project.agent("long", AGENT.format(length="a" * 9))
    project.agent("short", AGENT.format(length="a"))
    for number in EVALS:
        project.eval(f"e{number}", "---\nmetrics: {size: 3, brief: 1}\n---\nWrite.\n")
    done = project.orvl("long,short", "--eval=e*", "--sandbox=none")
    assert done.status == 0, done.err
    with viewing(project) as running:
        yield running


def words(reply) -> str:
    return " ".join("".join(Markup(reply.text).data).split())


def ratings(viewer, path: str) -> dict[str, dict]:
    return {row["agent"]: row for row in viewer.get(path).json["ratings"]}


def test_the_board_says_first_who_is_best(viewer):
    page = viewer.get("/board")
    assert re.search(r"<h1>Best: long fixed none\. All others that are ranked are shown to be worse", page.text)
    assert page.text.count('class="winner"') == 1
    assert ratings(viewer, "/board.json")["long"]["rank"] == 1


def test_weights_of_the_address_rate_again_and_nobody_is_ranked(viewer):
    """As if orvl.toml and the evals had them, but for ranks: these weights are nobody's before they are looked for."""
    found = ratings(viewer, "/board.json?w.brief=9")
    assert found["long"]["R"] == pytest.approx(0.25)
    assert found["short"]["R"] == pytest.approx(0.675)
    assert {row["rank"] for row in found.values()} == {None}
    page = viewer.get("/board?w.brief=9")
    assert "Re-rated with brief 9, as this address says." in words(page)
    assert "so nobody is ranked here" in words(page)
    assert 'class="winner"' not in page.text
    assert "Best:" not in words(page)
    assert 'name="w.brief" value="9"' in page.text
    assert "the same as a command" not in page.text
    assert ratings(viewer, "/board.json")["long"]["R"] == pytest.approx(0.75)


def test_lambda_of_the_address_moves_the_penalty(viewer):
    assert viewer.get("/board.json?lambda=0").json["ratings"][0]["penalty"] == 0
    page = viewer.get("/board?lambda=0.25&w.size=1")
    assert "Re-rated with size 1, λ 0.25" in words(page)


def test_limits_leave_out_who_is_over_them_and_who_is_unknown(viewer, tmp_path):
    project = UserProject(tmp_path / "project")
    rows = ["agent,model,provider,eval,scores.tests,cost,seconds"]
    costs = {"dear": "2.5", "cheap": "0.5", "unknown": ""}
    rows += [f"{name},m,p,e{number},0.5,{cost},10" for name, cost in costs.items() for number in EVALS]
    assert project.orvl("import", "results", str(project.write("r.csv", "\n".join(rows) + "\n"))).status == 0
    with viewing(project) as running:
        assert len(running.get("/board.json").json["ratings"]) == 3
        assert [row["agent"] for row in running.get("/board.json?max_cost=1").json["ratings"]] == ["imported:cheap"]
        page = words(running.get("/board?max_cost=1"))
        assert "2 contestants left out by the limits, 1 of them without a known cost." in page
        assert running.get("/board.json?max_seconds=9").json["ratings"] == []
        assert "No stored run matches these words." in words(running.get("/board?max_seconds=9&axis=fit"))
        assert running.get("/board.svg?max_seconds=9").status == 200
        picture = running.get("/board.svg").text
        assert "cost of a run" in picture and "imported:cheap m p: $0.5000 a run, R 0.500" in picture
        assert len(running.get("/board.json?max_seconds=10").json["ratings"]) == 3


def test_everybody_against_one_is_decided_as_compare_decides(viewer):
    page = words(viewer.get("/board?against=short"))
    found = viewer.project.orvl("compare", "long", "short", "--json").json
    mean, (low, high) = found["difference"]["mean"], found["difference"]["interval"]
    assert found["verdict"] == "BETTER"
    assert f"{mean:+.3f} ({low:+.3f} to {high:+.3f})" in page
    assert "Against short fixed none" in page
    assert re.search(r"to [+-][\d.]+\) ?better ?10 evals", page)
    assert re.search(r"\) ?worse ?10 evals", words(viewer.get("/board?against=long+fixed+none")))


def test_an_axis_that_fits_says_so(viewer):
    whole, fit = viewer.get("/board").text, viewer.get("/board?axis=fit").text
    assert "differences look larger than they are" not in whole
    assert "differences look larger than they are" in fit
    places = [re.findall(r'<circle cx="([\d.]+)"', text)[:2] for text in (whole, fit)]
    spread = [abs(float(a) - float(b)) for a, b in places]
    assert spread[1] > spread[0]


def test_the_picture_of_a_board_stands_alone(viewer):
    reply = viewer.get("/board.svg")
    assert reply.headers["Content-Type"].startswith("image/svg+xml")
    policy = reply.headers["Content-Security-Policy"]
    assert "sandbox" in policy and "default-src 'none'" in policy and "unsafe" not in policy and "script" not in policy
    root = ElementTree.fromstring(reply.text)
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"long fixed none", "short fixed none", "0.750", "0.225"} <= set(texts)
    assert "prefers-color-scheme: dark" in reply.text
    assert 'href="/board.svg"' in viewer.get("/board").text


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/board?w.breif=1", "Did you mean &#x27;brief&#x27;?"),
        ("/board?w.brief=-1", "is below 0"),
        ("/board?w.brief=x", "is not a number"),
        ("/board?w.brief=0&w.size=0", "leave nothing of the eval"),
        ("/board?lambda=-1", "is below 0"),
        ("/board?against=nobody", "is no contestant with a rating here"),
        ("/board?axis=fitted", "Did you mean &#x27;fit&#x27;?"),
        ("/runs?w.brief=1", "has no word"),
    ],
)
def test_a_word_that_cannot_be_heeded_is_a_sentence(viewer, path, sentence):
    reply = viewer.get(path)
    assert reply.status == 404
    assert sentence in reply.text


def test_a_board_of_controls_alone_says_so(tmp_path):
    project = UserProject(tmp_path / "project")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nWrite.\n")
    assert project.orvl("empty", "--eval=e", "--sandbox=none").status == 0
    with viewing(project) as running:
        page = running.get("/board")
    assert "<h1>Only controls, work of known quality, have been run here. Run an agent: orvl AGENT." in page.text
