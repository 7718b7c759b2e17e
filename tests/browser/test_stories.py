"""The five questions that people come with, answered in a real Chromium: by the viewer, and by the file from disk."""

from __future__ import annotations

import re

import pytest

from helpers.browsing import DESK, PHONE, Watched, chromium
from helpers.certified import make_certified_store
from helpers.user_project import UserProject
from helpers.viewing import viewing

MADE_ONCE = ("shown",)
LOOKS = [
    ("light", DESK),
    pytest.param(("dark", DESK), marks=pytest.mark.nightly),
    pytest.param(("light", PHONE), marks=pytest.mark.nightly),
]


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The viewer and the file of a store with a good agent and a bad one, whose judges are certified; and a browser."""
    project = UserProject(tmp_path_factory.mktemp("stories") / "project")
    make_certified_store(project, is_whole=True)
    file = project.root / "report.html"
    assert project.orvl("report", "--html", str(file)).status == 0
    with viewing(project) as viewer, chromium() as browser:
        yield viewer, file, browser


@pytest.fixture(params=LOOKS, ids=["light", "dark", "phone"])
def watched(request, shown):
    """A page of the viewer; at the end it has said nothing, and asked nobody else."""
    viewer, _, browser = shown
    with Watched(browser, *request.param) as one:
        one.page.goto(viewer.address)
        one.page.wait_for_url("**/board")
        yield one
        assert one.said == []
        assert {url.split("/")[2] for url in one.asked} == {f"127.0.0.1:{viewer.port}"}


def heading(watched) -> str:
    return watched.page.locator("h1").inner_text()


def go(watched, name: str) -> None:
    watched.page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
    watched.page.wait_for_load_state()


def test_which_agent_should_i_take(watched):
    assert heading(watched).startswith("Best: strong fixed none")
    best = watched.page.locator("tr.winner")
    assert best.count() == 1 and "strong fixed none" in best.inner_text()
    best.get_by_role("link", name="strong fixed none").click()
    watched.page.wait_for_url("**/runs?*")
    assert re.match(r"\d+ runs, 0 failed, 0 errored\.", heading(watched))


def test_why_did_this_run_score_low(watched, shown):
    viewer, *_ = shown
    worst = min(viewer.runs("weak"), key=lambda row: row["R"])
    go(watched, "Runs")
    watched.page.locator("input[name=sort]").fill("worst")
    watched.page.get_by_role("button", name="Filter").click()
    watched.page.wait_for_url("**/runs?*sort=worst*")
    watched.page.locator(f'a[href^="/run/{worst["run"]}"]').first.click()
    watched.page.wait_for_url("**/run/*")
    text = watched.page.locator("p.lead").inner_text()
    assert text.startswith(f"R {worst['R']:.3f}: {1 - worst['R']:.3f} was lost") and "works" in text
    ledger = watched.page.get_by_role("group", name="Where the points went").inner_text()
    assert "works" in ledger and f"{1 - worst['R']:.3f}" in ledger


def test_can_i_trust_the_judges(watched):
    go(watched, "Trust")
    assert heading(watched).startswith("Certified on ") and "The closest call: T" in heading(watched)
    tests = watched.page.get_by_role("group", name="Tests of the judges").inner_text()
    assert "an empty project earns nothing" in tests


def test_did_my_change_make_it_worse(watched, shown):
    viewer, *_ = shown
    go(watched, "Compare")
    for name, agent in (("a", "weak"), ("b", "strong")):
        watched.page.locator(f"input[name={name}]").fill(agent)
    watched.page.get_by_role("button", name="Compare").click()
    watched.page.wait_for_url("**/compare?*")
    found = viewer.get("/compare.json?a=weak&b=strong").json
    assert heading(watched).startswith(f"{found['verdict']}: weak is worse than strong.")
    assert found["verdict"] == "WORSE"


def test_what_is_going_on_now(watched):
    go(watched, "Now")
    assert heading(watched) == "Nothing is running."


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "phone"])
def test_the_file_answers_all_but_what_is_going_on(shown, look):
    viewer, file, browser = shown
    worst = min(viewer.runs("weak"), key=lambda row: row["R"])
    with Watched(browser, *look) as watched:
        watched.page.goto(file.as_uri())
        assert heading(watched).startswith("Best: strong fixed none")
        go(watched, "Trust")
        assert "CERTIFIED: these judges can tell good work from bad." in watched.page.locator("#trust").inner_text()
        assert "BETTER" in watched.page.locator("main").inner_text()
        section = watched.page.locator(f"#run-{worst['run']}")
        watched.page.locator(f'a[href="#run-{worst["run"]}"]').first.click()
        assert f"R {worst['R']:.3f}: {1 - worst['R']:.3f} was lost" in section.inner_text()
        assert section.is_visible()
        assert watched.said == []
        assert [url for url in watched.asked if not url.startswith("file:")] == []
