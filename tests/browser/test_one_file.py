"""The one-file report of a large store, in a real Chromium."""

from __future__ import annotations

import re
import struct

import pytest

from helpers.browsing import chromium
from helpers.evidence import make_evidence
from helpers.many_runs import RUNS, make_many_runs
from helpers.needs import need
from helpers.user_project import UserProject
from orvl.capture.browser import find

READY = 1.0
"""Seconds of a browser's own work until a file of 10 MB is there."""


@pytest.mark.nightly
def test_500_runs_fit_into_10_mb_and_open_at_once(tmp_path):
    project = UserProject(tmp_path / "project")
    make_many_runs(project)
    file = project.root / "report.html"
    assert project.orvl("report", "--html", str(file), timeout=300).status == 0
    text = file.read_text()
    assert len(text.encode()) <= 10_000_000
    shown = re.search(rf"{RUNS} of {RUNS} runs, (\d+) of them with all their parts", text)
    assert shown and 100 < int(shown[1]) < RUNS
    failed = [
        row["run"] for row in project.orvl("report", "--by=run", "--json").json["ratings"] if row["outcome"] == "failed"
    ]
    in_full = re.findall(
        r'<section id="run-([0-9a-f]+)" class="run">(?:(?!</section>).)*<h2>Diff</h2>', text, re.DOTALL
    )
    assert failed and set(failed) <= set(in_full)
    with chromium() as browser:
        assert min(seconds_until_ready(browser, file) for _ in range(3)) <= READY


def seconds_until_ready(browser, file) -> float:
    """Of its main thread, whatever else the machine does; then a run can be jumped to."""
    page = browser.new_page()
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(file.as_uri(), wait_until="load")
    figures = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    page.locator("#runs a", has_text="agent-4").first.click()
    assert page.locator(":target h2").first.is_visible()
    page.close()
    return figures["TaskDuration"]


def test_pictures_stand_in_the_file_and_are_drawn(tmp_path):
    project = UserProject(tmp_path / "project")
    evidence = make_evidence(project)
    file, without = project.root / "report.html", project.root / "without.html"
    assert project.orvl("report", "--html", str(file)).status == 0
    assert project.orvl("report", "--html", str(without), "--without=pictures").status == 0
    assert "<img" not in without.read_text()
    with chromium() as browser:
        page = browser.new_page()
        asked = []
        page.on("request", lambda request: asked.append(request.url.partition(":")[0]))
        said = []
        page.on("console", lambda message: said.append(message.text))
        page.goto(f"{file.as_uri()}#run-{evidence.asker}")
        page.locator(":target summary", has_text="Page").click()
        picture = page.locator(":target img").first
        picture.scroll_into_view_if_needed()
        assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth }") == 4
        assert set(asked) <= {"file", "data"}
        assert said == []


def test_the_board_is_drawn_as_png(tmp_path):
    need(find.trouble() is None, find.trouble() or "")
    project = UserProject(tmp_path / "project")
    project.agent("one", 'models = {"none": ["fixed"]}\ndef command(prompt): return ["true"]\n')
    project.eval("first", "---\nmetrics: {speed: 1}\n---\nSay hi.\n")
    assert project.orvl("one", "--eval=first", "--sandbox=none").status == 0
    done = project.orvl("report", "--png=board.png", "--svg=board.svg", process=True)
    assert done.status == 0, done.err
    png = (project.root / "board.png").read_bytes()
    width, height = re.search(r'width="(\d+)" height="(\d+)"', (project.root / "board.svg").read_text()).groups()
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (2 * int(width), 2 * int(height))
