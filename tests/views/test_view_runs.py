"""`/runs` of the viewer: the rows of `orvl report --by run`, page by page, in any order, and never old."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.user_project import UserProject
from helpers.viewing import Viewer, viewing

MADE_ONCE = ("many",)

RUNS = 130
NOTHING = float("-inf")


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Iterator[Viewer]:
    """More runs than a page has place for, some without a cost or a time; and a few of orvl's own, some errored."""
    project = UserProject(tmp_path_factory.mktemp("many") / "project")
    chance = random.Random(4)
    rows = [
        {
            "agent": f"a{number % 3}",
            "model": "m",
            "provider": "p",
            "eval": f"e{number % 7}",
            "episode": number // 21 + 1,
            "scores.tests": round(chance.random(), 3),
            "scores.style": 0.5,
            **({"cost": round(chance.random(), 4)} if number % 5 else {}),
            **({"seconds": chance.randrange(1, 99)} if number % 4 else {}),
        }
        for number in range(RUNS)
    ]
    file = project.write("results.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    assert project.orvl("import", "results", str(file)).status == 0
    project.agent("fails", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "exit 3"]\n')
    project.agent("absent", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["no-such-program"]\n')
    project.agent(
        "talks",
        'models = {"none": ["fixed"]}\ndef command(prompt): return ["true"]\n'
        'def read(output): return {"steps": [{"source": "agent", "message": "I met a Dragon \u00e4."}]}\n',
    )
    project.eval("own", "---\nmetrics: {speed: 1}\n---\nDo it.\n")
    project.orvl("fails,absent,talks", "--eval=own", "--episodes=2")
    with viewing(project) as running:
        yield running


def every(viewer: Viewer, words: str = "") -> list[dict[str, Any]]:
    """All pages, one after the other."""
    rows, after = [], ""
    while True:
        page = viewer.get(f"/runs.json?{words}{after}").json
        rows += page["ratings"]
        assert len(page["ratings"]) <= 50
        if page["page"]["after"] is None:
            assert page["page"]["fitting"] == len(rows)
            return rows
        after = f"&after={page['page']['after']}"


def figure(row: dict[str, Any], name: str) -> float:
    value = row["R"] if name == "R" else (row["usage"] or {}).get(name)
    return NOTHING if value is None else value


def test_pages_hold_every_run_once_as_the_report_has_it(many):
    rows = every(many)
    assert rows == many.runs()
    errored = sum(row["outcome"] == "errored" for row in rows)
    assert errored and len(rows) == RUNS + 4 + errored
    assert f"{len(rows)} runs, 2 failed, {errored} errored." in many.get("/runs").text


@pytest.mark.parametrize(
    ("word", "name", "sign"), [("worst", "R", 1), ("best", "R", -1), ("cost", "cost_usd", -1), ("time", "seconds", -1)]
)
def test_the_order_is_that_of_the_figure_and_what_is_unknown_comes_last(many, word, name, sign):
    rows = every(many, f"sort={word}")
    figures = [figure(row, name) for row in rows]
    known = [one for one in figures if one != NOTHING]
    assert known == sorted(known, key=lambda one: sign * one)
    assert figures == known + [NOTHING] * (len(figures) - len(known))
    assert {row["run"] for row in rows} == {row["run"] for row in many.runs()}


@pytest.mark.parametrize(
    ("words", "fits"),
    [
        ("below=0.4", lambda row: row["R"] is not None and row["R"] < 0.4),
        ("above=0.4&below=0.6", lambda row: row["R"] is not None and 0.4 < row["R"] < 0.6),
        ("cost_over=0.5", lambda row: figure(row, "cost_usd") > 0.5),
        (
            "seconds_over=40&agent=imported:a1",
            lambda row: figure(row, "seconds") > 40 and row["agent"] == "imported:a1",
        ),
        ("outcome=failed", lambda row: row["outcome"] == "failed"),
        ("outcome=errored", lambda row: row["outcome"] == "errored"),
        ("reason=STATUS 3", lambda row: "status 3" in (row["reason"] or "")),
        ("cost_over=0.5&below=0.5&sort=cost", lambda row: figure(row, "cost_usd") > 0.5 and row["R"] < 0.5),
        ("alarm=1", lambda _: False),
    ],
)
def test_what_fits_is_what_fits_by_hand(many, words, fits):
    assert {row["run"] for row in every(many, words.replace(" ", "%20"))} == {
        row["run"] for row in many.runs() if fits(row)
    }


def test_conversations_are_searched_in_any_case(many):
    page = many.get("/runs?q=dragon%20%C3%84")
    (counts,) = re.findall(r"Searched ([\d,]+) of (\d+) runs", page.text)
    assert counts == (str(len(many.runs())),) * 2
    found = many.get("/runs.json?q=dragon%20%C3%84").json["ratings"]
    assert [row["agent"] for row in found] == ["talks", "talks"]


def test_pages_are_new_after_a_change_of_the_project_the_store_or_another_file(many, tmp_path):
    project = UserProject(tmp_path / "project")
    shutil.copytree(many.project.root, project.root, dirs_exist_ok=True)
    project.write("tools/work.py", "print(0)\n")
    project.agent("script", 'models = {"none": ["fixed"]}\ndef command(): return ["python3", "tools/work.py"]\n')
    with viewing(project) as running:

        def is_the_commands() -> list[Any]:
            """What pages show is what a command says at that moment."""
            assert running.get("/board.json").json == project.orvl("report", "--json").json
            assert running.get("/board.json").json == project.orvl("report", "--json").json
            runs = running.get("/runs.json?eval=own").json["ratings"]
            assert runs == running.runs("--eval=own")
            return runs

        is_the_commands()
        project.orvl("script", "--eval=own")
        one = is_the_commands()
        assert "script" in {row["agent"] for row in one}
        project.write("tools/work.py", "print(1)\n")
        assert "script" not in {row["agent"] for row in is_the_commands()}, "its script is another one"
        project.write("tools/work.py", "print(0)\n")
        project.eval("own", "---\nmetrics: {speed: 1}\npar: {speed: 0.001}\n---\nDo it.\n")
        is_the_commands()
        shutil.rmtree(project.root / ".orvl")
        assert running.get("/board.json").status == 404
        project.orvl("talks", "--eval=own")
        assert [row["agent"] for row in is_the_commands()] == ["talks"]
