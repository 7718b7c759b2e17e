"""A run's page in a real Chromium: a pointer opens its line, everybody can read it, and it fits a phone."""

from __future__ import annotations

import pytest

from helpers.browsing import DESK, PHONE, SCHEMES, Watched, chromium
from helpers.evidence import make_evidence
from helpers.thinned import thinned
from helpers.user_project import UserProject
from helpers.viewing import viewing

MADE_ONCE = ("shown",)
PLACES = (
    "",
    "/verdicts",
    "/checks#check-2",
    "/steps?q=needle",
    "/files",
    "/files?file=4#L41",
    "/page#step-2",
    "/calls",
    "/diff",
)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    project = UserProject(tmp_path_factory.mktemp("evidence") / "project")
    evidence = make_evidence(project)
    with viewing(project) as viewer, chromium() as browser:
        yield viewer, evidence, browser


def addresses(evidence) -> list[str]:
    run = [f"/run/{evidence.asker}{place}" for place in PLACES]
    return [*run, f"/compare/runs?l={evidence.asker}&r={evidence.twin}", f"/compare/runs?l={evidence.plain}"]


@pytest.mark.parametrize("scheme", thinned(SCHEMES))
def test_every_part_is_silent_stays_here_and_can_be_read_by_everybody(shown, scheme):
    viewer, evidence, browser = shown
    found = {}
    for path in addresses(evidence):
        with Watched(browser, scheme, DESK) as watched:
            watched.page.goto(viewer.address)
            watched.page.wait_for_url("**/board")
            watched.page.goto(viewer.origin + path)
            watched.open_all()
            assert watched.said == [], path
            assert {url.split("/")[2] for url in watched.asked} == {f"127.0.0.1:{viewer.port}"}
            found[path] = watched.violations()
    assert not any(found.values()), found


def test_nothing_is_wider_than_a_phone(shown):
    viewer, evidence, browser = shown
    with Watched(browser, "light", PHONE) as watched:
        watched.page.goto(viewer.address)
        watched.page.wait_for_url("**/board")
        for path in addresses(evidence):
            watched.page.goto(viewer.origin + path)
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path


def test_a_pointer_opens_its_line_and_marks_it(shown):
    viewer, evidence, browser = shown
    with Watched(browser, "light", DESK) as watched:
        page = watched.page
        page.goto(viewer.address)
        page.wait_for_url("**/board")
        page.goto(f"{viewer.origin}/run/{evidence.asker}")
        page.get_by_role("link", name="src/app.js:41", exact=True).click()
        line = page.locator(".lines > :target")
        assert line.inner_text() == "let a41 = 41"
        assert page.evaluate(
            "(() => { const box = document.querySelector(':target').getBoundingClientRect();"
            " return box.top >= 0 && box.bottom <= innerHeight })()"
        )
        marked, other = (
            page.locator(where).evaluate("element => getComputedStyle(element).backgroundColor")
            for where in ("#L41", "#L40")
        )
        assert marked != other
        page.go_back()
        page.get_by_role("link", name="check:second", exact=True).click()
        assert page.locator(":target").inner_text() == "second"
