"""What a page costs its users is what it costs in `ui` and `ux`: measured in a real Chromium, scored by the command."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass

import pytest
from test_browser import see

from helpers.user_project import UserProject
from orvl.capture.browser.result import Look, StepResult
from orvl.errors import InvalidAppConfig
from orvl.project.app import check_expectations
from orvl.scores import ui, ux

HEAD = '<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>x</title></head>'
WORDS = "some words " * 60
BUTTONS = "<button>One</button> <button>Two</button> <button>Three</button> <button>Four</button>"


def body(text: str) -> str:
    return f"{HEAD}<body><main><h1>App</h1>{text}</main></body></html>"


PAGES = {
    "empty": f"{HEAD}<body></body></html>",
    "dot": f"{HEAD}<body><main>.</main></body></html>",
    "in-its-own-colour": f'{HEAD}<body style="background: #fff"><p style="color: #fff">{WORDS}</p></body></html>',
    "covered": f'{HEAD}<body>{BUTTONS}<div style="position: fixed; inset: 0; background: #123"></div></body></html>',
    "good": body(f"<p>{WORDS}</p>{BUTTONS} <label>Day <input type='datetime-local'></label> <a href='#x'>More</a>"),
    "low-contrast": body(f'<p>{WORDS}</p><p style="color: #ccc">{WORDS}</p>'),
    "slightly-low-contrast": body(f'<p>{WORDS}</p><p style="color: #787878">{WORDS}</p>'),
    "gradient": body(f'<p style="color: #fff; background-image: linear-gradient(#fff, #fefefe)">{WORDS}</p>'),
    "for-the-mouse": body(
        '<div onclick="1">One</div><div id="two">Two</div><div style="cursor: pointer">Three</div>'
        '<button tabindex="-1">Four</button><button>Five</button><div tabindex="0" role="button" onclick="1">Six</div>'
        '<ul onclick="1"><li><button>Seven</button></li></ul><label><input type="radio" name="a">Eight</label>'
        '<label><input type="radio" name="a">Nine</label>'
        "<script>two.addEventListener('click', () => 0)</script>"
    ),
    "trap": body(f"{BUTTONS}<script>onkeydown = (event) => event.preventDefault()</script>"),
    "many-links": body("".join(f'<p><a href="#{number}">Link {number}</a></p>' for number in range(300))),
}
AGENT = """
models = {"none": ["m"]}
def command():
    code = "import json, sys\\nfor name, text in json.loads(sys.argv[1]).items(): open(name + '.html', 'w').write(text)"
    return ["python3", "-c", code, PAGES]
"""


def page_project(root, pages, front="") -> UserProject:
    """An agent that leaves pages, and an eval for each."""
    made = UserProject(root)
    made.agent("mine", AGENT.replace("PAGES", repr(json.dumps(pages))))
    for name in pages:
        made.eval(name, f"---\nmetrics: {{ui: 1, ux: 1}}\napp: {{files: {name}.html}}\n{front}---\nMake a page.\n")
    return made


def scores_of(project, name, attempt=-1) -> dict[str, float | None]:
    shown = project.orvl("show", f"mine/{name}/1", "--json").json["attempts"][attempt]
    return {score["metric"]: score["value"] for score in shown["scores"]}


@dataclass
class SeenRun:
    """A run of which a browser saw a page."""

    page: Look

    def look(self):
        return self.page


def scored(folder, name):
    """What `ui` and `ux` say of a page without a judge, and what was seen."""
    page = see(folder, {"index.html": PAGES[name] + "\n"}).look
    values = [asyncio.run(metric.score(SeenRun(page), [], **par)) for metric, par in ((ui, {}), (ux, {"par": ux.par}))]
    return *values, page


@pytest.mark.parametrize(
    "name", ["empty", pytest.param("dot", marks=pytest.mark.nightly), "in-its-own-colour", "covered"]
)
def test_a_page_on_which_nothing_can_be_seen_is_at_the_bottom(tmp_path, name):
    *values, page = scored(tmp_path, name)
    assert values == [0.0, 0.0]
    assert {defect.view for defect in page.defects if defect.kind == "blank"} == {view.name for view in page.views}


@pytest.mark.parametrize("name", ["good", "many-links"])
def test_a_page_without_a_defect_is_at_the_top(tmp_path, name):
    *values, page = scored(tmp_path, name)
    assert values == [1.0, 1.0], page


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("low-contrast", 0.55, 0.6),
        pytest.param("slightly-low-contrast", 0.85, 0.9, marks=pytest.mark.nightly),
        ("gradient", 0, 0.1),
    ],
)
def test_text_without_contrast_costs_by_its_share_and_by_how_little_can_be_read(tmp_path, name, least, most):
    ui_score, ux_score, _ = scored(tmp_path, name)
    assert least <= ui_score <= most
    assert ux_score == pytest.approx(ui_score)


def test_what_the_keyboard_does_not_reach_costs_its_share_of_the_controls(tmp_path):
    """Of nine, One to Four; a container that passes clicks on and the second of two radio buttons are no fault."""
    ui_score, ux_score, page = scored(tmp_path, "for-the-mouse")
    assert (ui_score, ux_score) == (1.0, pytest.approx(5 / 9))
    missed = [defect.detail.split("'")[1] for defect in page.defects if defect.kind == "keyboard"]
    assert missed == ["One", "Two", "Three", "Four"]


def test_a_page_that_catches_the_keyboard_is_reached_nowhere(tmp_path):
    assert scored(tmp_path, "trap")[:2] == (1.0, 0.0)


# -- steps


def share(*steps: tuple[str, bool | None]) -> float | None:
    return Look("done", steps=tuple(StepResult(at, step, passed) for at, (step, passed) in enumerate(steps))).step_share


def test_an_action_never_counts_as_passed():
    actions = [("open /", True), ("press Enter", True), ("screenshot a", True), ("view dark", True), ("click A", True)]
    assert share(*actions, ("expect text x", False)) == 0
    assert share(*actions, ("expect text x", True), ("expect no error", False)) == 0.5
    assert share() is None


def test_an_action_that_fails_counts_against_what_follows_until_the_page_is_opened_anew():
    failed = [("expect text a", True), ("click Add", False), ("expect no error", True), ("press Enter", True)]
    assert share(*failed, ("expect no text b", True)) == 1 / 4
    assert share(*failed, ("open /", True), ("expect text b", True)) == 2 / 4
    assert share(*failed, ("open /", None), ("expect text b", None)) == 1 / 5


def test_steps_that_expect_nothing_are_an_error_of_the_eval(project):
    with pytest.raises(InvalidAppConfig, match="expect nothing"):
        check_expectations(["open /", "press Enter", "screenshot a"])
    check_expectations([])
    project.eval("e", "---\napp: {files: a.html}\nsteps: [open /, press Enter, screenshot a]\n---\nGo.\n")
    project.agent("mine", AGENT)
    result = project.orvl("mine", "--dry-run")
    assert result.status == 2
    assert "e.md:3: 'steps' expect nothing: only a step such as 'expect text Saved' can pass." in result.err
    check = "checks: [{name: a, steps: [press Enter]}]"
    project.eval("e", f"---\napp: {{files: a.html}}\n{check}\n---\nGo.\n")
    assert "check 'a': 'steps' expect nothing" in project.orvl("mine", "--dry-run").err


@pytest.mark.nightly
def test_actions_that_were_done_are_not_called_passed(tmp_path):
    steps = "steps: [press Enter, screenshot a, expect text Nothing]\n"
    project = page_project(tmp_path / "project", {"good": PAGES["good"]}, steps)
    assert project.orvl("mine", timeout=200).status == 0
    text = project.orvl("show", "mine/good/1").out
    assert "step 1, press Enter: done" in text and "step 2, screenshot a: done" in text
    assert scores_of(project, "good")["ux"] == pytest.approx(1 / 3)  # only accessibility, which has one part of three
