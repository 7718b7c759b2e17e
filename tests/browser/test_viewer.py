"""The viewer and the one-file report in a real Chromium: nothing acts, nothing leaves, and everybody can read it."""

from __future__ import annotations

import pytest

from helpers.needs import need
from helpers.user_project import UserProject
from helpers.viewing import make_store, viewing
from orvl.capture.browser import find

MADE_ONCE = ("shown",)

SCHEMES = ("light", "dark")
PHONE, DESK = {"width": 390, "height": 800}, {"width": 1280, "height": 900}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The viewer and the file of one store, and a browser."""
    need(find.trouble() is None, find.trouble() or "")
    from playwright.sync_api import sync_playwright

    project = UserProject(tmp_path_factory.mktemp("viewer") / "project")
    make_store(project)
    file = project.root / "report.html"
    assert project.orvl("report", "--html", str(file)).status == 0
    with viewing(project) as viewer, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find.chromium(), args=["--no-sandbox"])
        yield viewer, file, browser
        browser.close()


class Watched:
    """A page of a browser, with everything that it said and asked for."""

    def __init__(self, browser, scheme, viewport):
        self.context = browser.new_context(color_scheme=scheme, viewport=viewport)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def violations(self):
        from axe_playwright_python.sync_playwright import Axe

        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in Axe().run(self.page).response["violations"]]

    def open_all(self):
        """Unfolds every part, without a script of the page."""
        for place in self.page.locator("details:not([open]) > summary").all():
            if place.is_visible():
                place.click()


def paths(viewer):
    (hostile,) = viewer.runs("hostile", "--eval=two")
    (plain,) = viewer.runs("plain", "--eval=one")
    return {"board": "/board", "hostile": f"/run/{hostile['run']}", "plain": f"/run/{plain['run']}"}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["board", "plain", "hostile"])
def test_pages_are_silent_stay_here_and_can_be_read_by_everybody(shown, scheme, name):
    viewer, _, browser = shown
    with Watched(browser, scheme, DESK) as watched:
        watched.page.goto(viewer.address)
        watched.page.wait_for_url("**/board")
        assert viewer.token not in watched.page.url
        watched.page.goto(viewer.origin + paths(viewer)[name])
        if name == "plain":
            watched.open_all()
        assert watched.page.locator("h1").count() == 1
        assert {url.split("/")[2] for url in watched.asked} == {f"127.0.0.1:{viewer.port}"}
        assert watched.said == []
        # Last: axe puts a script into the page, which the policy of the page forbids to anybody else.
        assert watched.violations() == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_other_page_can_be_read_by_everybody(shown, scheme):
    viewer, _, browser = shown
    found = {}
    with Watched(browser, scheme, DESK) as watched:
        watched.page.goto(viewer.address)
        watched.page.wait_for_url("**/board")
        for path in (
            "/evals",
            "/eval/one",
            "/runs",
            "/compare?a=plain&b=empty",
            "/trust",
            "/history",
            "/endpoints",
            "/now",
        ):
            watched.page.goto(viewer.origin + path)
            assert watched.said == [], path
            found[path] = watched.violations()
            watched.said.clear()
    assert not any(found.values()), found


def test_colours_follow_the_scheme(shown):
    viewer, _, browser = shown
    colours = {}
    for scheme in SCHEMES:
        with Watched(browser, scheme, DESK) as watched:
            watched.page.goto(viewer.address)
            watched.page.wait_for_url("**/board")
            colours[scheme] = watched.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert colours == {"light": "rgb(251, 250, 247)", "dark": "rgb(21, 23, 27)"}


def test_nothing_is_wider_than_a_phone(shown):
    viewer, _, browser = shown
    with Watched(browser, "light", PHONE) as watched:
        watched.page.goto(viewer.address)
        watched.page.wait_for_url("**/board")
        for path in (*paths(viewer).values(), "/runs", "/evals", "/eval/one", "/compare?a=plain&b=empty"):
            watched.page.goto(viewer.origin + path)
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path


def test_a_way_through_by_clicks_alone(shown):
    """Board, a contestant's runs, a run, one of its files; and a filter that ends in the address."""
    viewer, _, browser = shown
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(viewer.address)
    page.wait_for_url("**/board")
    page.get_by_role("link", name="plain fixed none").first.click()
    page.get_by_role("link", name="plain fixed none").first.click()
    assert "/run/" in page.url
    page.get_by_text("Files", exact=True).click()
    page.get_by_role("link", name="answer.txt").click()
    assert page.locator("pre").first.inner_text().strip() == "hi"
    page.get_by_role("link", name="Runs").click()
    page.get_by_label("outcome").fill("failed")
    page.get_by_role("button", name="Filter").click()
    assert "outcome=failed" in page.url
    assert page.locator("h1").inner_text() == "1 run, 1 failed, 0 errored."
    context.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_file_opens_from_disk_without_a_request_or_a_script(shown, scheme):
    _, file, browser = shown
    with Watched(browser, scheme, DESK) as watched:
        watched.page.goto(file.as_uri())
        assert watched.asked == [file.as_uri()]
        watched.page.locator("#runs a", has_text="plain fixed none").first.click()
        assert "#run-" in watched.page.url
        assert watched.page.locator(":target h2").first.is_visible()
        background = watched.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        assert background == {"light": "rgb(251, 250, 247)", "dark": "rgb(21, 23, 27)"}[scheme]
        assert watched.said == []
        assert watched.violations() == []
