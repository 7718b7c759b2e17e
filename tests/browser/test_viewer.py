"""The viewer and the one-file report in a real Chromium: nothing acts, nothing leaves, and everybody can read it."""

from __future__ import annotations

import subprocess

import pytest

from helpers.browsing import DESK, PHONE, SCHEMES, Watched, chromium
from helpers.certified import make_certified_store
from helpers.thinned import thinned
from helpers.user_project import UserProject
from helpers.viewing import PAGES, make_store, viewing

MADE_ONCE = ("shown", "certified")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The viewer and the file of one store, and a browser."""
    project = UserProject(tmp_path_factory.mktemp("viewer") / "project")
    make_store(project)
    file = project.root / "report.html"
    assert project.orvl("report", "--html", str(file)).status == 0
    with viewing(project) as viewer, chromium() as browser:
        yield viewer, file, browser


def paths(viewer):
    (hostile,) = viewer.runs("hostile", "--eval=two")
    (plain,) = viewer.runs("plain", "--eval=one")
    return {"board": "/board", "hostile": f"/run/{hostile['run']}", "plain": f"/run/{plain['run']}"}


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        *(("board", scheme) for scheme in SCHEMES),
        *((name, "light") for name in ("plain", "hostile")),
        *(pytest.param(name, "dark", marks=pytest.mark.nightly) for name in ("plain", "hostile")),
    ],
)
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


@pytest.mark.parametrize("scheme", thinned(SCHEMES))
def test_every_other_page_can_be_read_by_everybody(shown, scheme):
    viewer, _, browser = shown
    found = {}
    with Watched(browser, scheme, DESK) as watched:
        watched.page.goto(viewer.address)
        watched.page.wait_for_url("**/board")
        for path in PAGES:
            watched.page.goto(viewer.origin + path)
            assert watched.said == [], path
            found[path] = watched.violations()
            watched.said.clear()
    assert not any(found.values()), found


CERTIFIED = ("/board?against=weak&axis=fit&w.works=2", "/evals", "/eval/tidy", "/trust?eval=one,two,three,four,five,six,"
             "seven,eight,nine", "/compare?a=strong&b=weak", "/history", "/label?person=ann")  # fmt: skip


@pytest.fixture(scope="module")
def certified(shown, tmp_path_factory):
    project = UserProject(tmp_path_factory.mktemp("certified") / "project")
    make_certified_store(project)
    with viewing(project) as viewer:
        yield viewer, shown[2]


@pytest.mark.parametrize(
    ("scheme", "viewport"), thinned([("dark", PHONE), ("light", DESK), ("dark", DESK), ("light", PHONE)], every=4)
)
def test_heat_plots_and_certificates_can_be_read_by_everybody(certified, scheme, viewport):
    viewer, browser = certified
    found = {}
    with Watched(browser, scheme, viewport) as watched:
        watched.page.goto(viewer.address)
        watched.page.wait_for_url("**/board")
        for path in CERTIFIED:
            watched.page.goto(viewer.origin + path)
            watched.open_all()
            assert watched.said == [], path
            assert watched.page.evaluate("document.documentElement.scrollWidth") <= viewport["width"], path
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


@pytest.mark.parametrize("has_script", [True, False])
def test_a_person_labels_a_run_by_clicks_and_keys(shown, has_script):
    """A browser says by itself where an answer comes from, and it is stored."""
    viewer, _, browser = shown
    person = f"ann-{has_script}"
    context = browser.new_context(java_script_enabled=has_script)
    page = context.new_page()
    page.goto(viewer.address)
    page.wait_for_url("**/board")
    page.get_by_role("link", name="Label").click()
    page.get_by_label("person").fill(person)
    page.get_by_label("metric").fill("readability")
    page.get_by_role("button", name="Start").click()
    first = page.locator("p.lead").inner_text()
    page.get_by_role("button", name="Yes").click()
    assert page.locator("p.lead").inner_text() != first
    page.get_by_role("link", name="Back").click()
    assert page.locator("p.lead").inner_text() == first
    while "1 of 6." in page.locator("h1").inner_text():
        page.get_by_role("button", name="No", exact=True).focus()
        page.keyboard.press("Enter")
        page.wait_for_load_state()
    assert "2 of 6." in page.locator("h1").inner_text()
    context.close()
    (label,) = viewer.project.rows(f"SELECT metric, value FROM label WHERE person = '{person}'")
    assert label == ("readability", 0.0)


def test_the_numbers_of_now_move_without_loading_the_page_again(shown, project):
    """While a real run goes on; a page that was open before it has the same in the end."""
    _, _, browser = shown
    project.agent(
        "slow", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["sh", "-c", "sleep $1", "", prompt]\n'
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\n0\n")
    project.eval("two", "---\nmetrics: {speed: 1}\n---\n3\n---\n300\n")
    assert project.orvl("slow", "--eval=one").status == 0
    with viewing(project) as viewer, Watched(browser, "light", DESK) as watched:
        page = watched.page
        page.goto(viewer.address)
        page.wait_for_url("**/board")
        page.goto(f"{viewer.origin}/now")
        loaded = len([url for url in watched.asked if url.endswith("/now")])
        headline, runs = page.locator("h1"), page.locator("section[data-now=runs]")
        assert headline.inner_text() == "Nothing is running."
        assert not runs.is_visible()
        command = subprocess.Popen([*project.command, "slow", "--eval=two"], cwd=project.root, env=project.env)
        try:
            page.get_by_text("turn 1 of 2").wait_for(timeout=60_000)
            page.get_by_text("0 of 1 run done").wait_for(timeout=60_000)
            assert "slow fixed none two" in runs.inner_text()
            page.get_by_text("turn 2 of 2").wait_for(timeout=60_000)
            silent = runs.locator("tbody td").nth(3)
            before = silent.inner_text()
            page.wait_for_function(
                "before => document.querySelectorAll('[data-now=runs] td')[3].textContent !== before", arg=before
            )
        finally:
            command.terminate()
            command.wait(60)
        page.get_by_text("Nothing is running.").wait_for(timeout=60_000)
        assert not runs.is_visible()
        assert len([url for url in watched.asked if url.endswith("/now")]) == loaded
        assert watched.said == []
        assert watched.violations() == []


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
