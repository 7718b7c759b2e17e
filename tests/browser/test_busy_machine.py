"""A busy machine is never a bad score: a page is looked at again, and one that keeps the machine busy is not excused."""

from __future__ import annotations

import asyncio
import math
import shutil

import pytest
from test_page_scores import PAGES, page_project, scores_of

from orvl.capture.browser import find
from orvl.capture.browser.patient import PATIENCE, QUICK, READY, Turns, seen_fairly
from orvl.capture.browser.result import AppStart, Look, Note, PageDefect, PageView, StepResult

VIEW = PageView("desktop-light", True)
GOOD = Look("done", views=(VIEW,), ready=0.5)
DOUBTS = {
    "late": Look("partial", "the page never finished loading"),
    "a failed step": Look("done", views=(VIEW,), steps=(StepResult(1, "expect text a", False),)),
    "blank": Look("done", views=(VIEW,), defects=(PageDefect("blank", "desktop-light", "html", ""),)),
    "an app that did not listen": Look("no app", app=AppStart(False, 36.0)),
}
QUIET, SLOW = QUICK / 2, QUICK * PATIENCE + 1


def fairly(looks, references, **how):
    """What comes of looks and references that take so long, and what was asked for."""
    asked, looks, references = [], iter(looks), iter(references)

    async def see(patience):
        asked.append(("look", patience))
        return next(looks), {}

    async def refer(patience):
        asked.append(("reference", patience))
        return next(references)

    async def main():
        return await seen_fairly(see, refer, Turns(), **how)

    page, _ = asyncio.run(main())
    return page, asked


def test_a_page_that_is_fine_is_looked_at_once_without_a_reference():
    assert fairly([GOOD], []) == (GOOD, [("look", 1.0)])
    gone = Look("no app", "the run left no 'index.html'", app=AppStart(False, 0.01))
    assert fairly([gone], []) == (gone, [("look", 1.0)])


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_page_that_is_bad_on_a_quiet_machine_is_bad(doubt):
    assert fairly([DOUBTS[doubt]], [QUIET]) == (DOUBTS[doubt], [("look", 1.0), ("reference", 1.0)])


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_page_that_was_slow_on_a_busy_machine_is_looked_at_again_with_more_time(doubt):
    page, asked = fairly([DOUBTS[doubt], GOOD], [SLOW])
    assert page is GOOD
    assert asked == [("look", 1.0), ("reference", 1.0), ("look", PATIENCE)]


@pytest.mark.parametrize("took", [SLOW, math.inf])
@pytest.mark.parametrize("doubt", DOUBTS)
def test_what_a_busy_machine_does_not_let_be_seen_is_missing(doubt, took):
    page, _ = fairly([DOUBTS[doubt]] * 2, [took, took])
    assert page.status == "unavailable"
    assert page.reason.startswith("the machine was too busy for a browser: a trivial page ")


def test_a_page_that_is_still_bad_when_the_machine_is_quiet_again_is_bad():
    assert fairly([DOUBTS["late"]] * 2, [SLOW, QUIET])[0] is DOUBTS["late"]


@pytest.mark.parametrize(
    "first",
    [
        Look("unavailable", "Chromium was not ready within 60 s."),
        Look("partial", "x", ready=READY + 1),
        Look("partial", "x", notes=(Note("desktop-light", "crash", "the page crashed"),)),
    ],
    ids=["no browser", "a slow start", "a crash"],
)
def test_a_browser_that_failed_or_was_slow_before_it_saw_the_page_looks_again(first):
    assert fairly([first, GOOD], [])[0] is GOOD


def test_an_app_that_lets_no_browser_start_beside_it_is_to_blame():
    none = Look("unavailable", "Chromium was not ready within 60 s.")
    page, _ = fairly([none, none], [QUIET], runs_code=True)
    assert page.status == "partial" and not page.seen
    assert fairly([none, none], [SLOW], runs_code=True)[0].status == "unavailable"
    assert fairly([none, none], [])[0] is none, "a page runs no code before there is a browser"


def test_who_looks_again_is_alone():
    async def main():
        turns, order = Turns(), []

        async def beside(name, seconds):
            async with turns.beside():
                order.append(f"{name} begins")
                await asyncio.sleep(seconds)
                order.append(f"{name} ends")

        async def alone():
            async with turns.alone():
                order.append("alone begins")
                await asyncio.sleep(0.05)
                order.append("alone ends")

        first = [asyncio.create_task(beside(name, 0.1)) for name in "ab"]
        await asyncio.sleep(0.02)
        then = [asyncio.create_task(alone())]
        await asyncio.sleep(0.02)
        then.append(asyncio.create_task(beside("c", 0)))
        await asyncio.gather(*first, *then)
        return order

    order = asyncio.run(main())
    assert order == ["a begins", "b begins", "a ends", "b ends", "alone begins", "alone ends", "c begins", "c ends"]


# -- with a real browser


def slowed(tmp_path, seconds: float) -> dict[str, str]:
    """A Chromium that takes so long to start, as it does on a machine with too much to do."""
    program = tmp_path / "chromium"
    program.write_text(f'#!/bin/sh\nsleep {seconds}\nexec {shutil.which(find.chromium())} "$@"\n')
    program.chmod(0o755)
    return {"ORVL_CHROMIUM": str(program)}


HOG = PAGES["good"].replace(
    "</body>",
    "<script>for (let at = 0; at < 8; at++) new Worker(URL.createObjectURL(new Blob(['for (;;);'])));"
    "for (;;);</script></body>",
)


@pytest.mark.nightly
def test_a_page_that_keeps_the_processor_busy_gets_its_bad_score(tmp_path):
    project = page_project(tmp_path / "project", {"hog": HOG})
    project.toml("[limits]\nlook = 12\n")
    assert project.orvl("mine", timeout=300).status == 0
    assert scores_of(project, "hog") == {"ui": 0.0, "ux": 0.0}


def test_a_page_that_a_busy_machine_hid_is_rated_by_what_is_seen_with_more_time(tmp_path):
    project = page_project(tmp_path / "project", {"good": PAGES["good"]})
    project.toml("[limits]\nlook = 10\n")
    result = project.orvl("mine", env=slowed(tmp_path, 8.5), timeout=300)
    assert result.status == 0, result.err
    assert scores_of(project, "good") == {"ui": 1.0, "ux": 1.0}


@pytest.mark.nightly
def test_what_could_not_be_seen_is_missing_and_the_same_command_asks_again(tmp_path):
    project = page_project(tmp_path / "project", {"good": PAGES["good"]})
    project.toml("[limits]\nlook = 8\n")
    result = project.orvl("mine", "--json", env=slowed(tmp_path, 21), timeout=400)
    assert result.status == 1
    assert scores_of(project, "good") == {"ui": None, "ux": None}
    said = "The browser missed 2 scores: the machine was too busy for a browser: a trivial page "
    assert any(warning.startswith(said) for warning in result.json["warnings"]), result.json["warnings"]
    project.toml("[limits]\nlook = 60\n")
    assert project.orvl("mine", timeout=300).status == 0
    assert scores_of(project, "good") == {"ui": 1.0, "ux": 1.0}


@pytest.mark.nightly
def test_fresh_looks_again_and_keeps_what_was_seen(tmp_path):
    project = page_project(tmp_path / "project", {"good": PAGES["good"]})
    assert project.orvl("mine", timeout=200).status == 0

    def looks():
        return project.rows("SELECT id, results FROM found WHERE kind = 'page' ORDER BY id")

    (first,) = looks()
    assert project.orvl("score", "mine", timeout=200).status == 0
    assert looks() == [first]
    for number in (2, 3):
        assert project.orvl("score", "mine", "--fresh", timeout=200).status == 0
        assert looks()[0] == first and len(looks()) == number
