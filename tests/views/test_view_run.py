"""A run's page: judges side by side with links to what they point to, the conversation, model calls."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from helpers.crawl import acts_nowhere, crawled
from helpers.evidence import NOWHERE, ODD_NAME, POINTERS, make_evidence
from helpers.rows import Rows
from helpers.user_project import UserProject
from helpers.viewing import viewing
from orvl.web.run import PARTS

MADE_ONCE = ("shown",)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    project = UserProject(tmp_path_factory.mktemp("evidence") / "project")
    evidence = make_evidence(project)
    with viewing(project) as running:
        yield running, evidence


def read(shown, path: str) -> Rows:
    viewer, evidence = shown
    reply = viewer.get(f"/run/{evidence.asker}{path}")
    assert reply.status == 200, reply.text
    return Rows(reply.text)


def test_every_link_of_it_works_and_nothing_that_a_judge_said_is_more_than_text(shown):
    viewer, evidence = shown
    pages = crawled(viewer, f"/run/{evidence.asker}", most=100)
    assert {f"/run/{evidence.asker}/{part}" for part in PARTS if part != "output"} <= set(pages)
    for path, text in pages.items():
        acts_nowhere(path, text)


# -- judges


def test_judges_stand_side_by_side_with_their_reasons(shown):
    page = read(shown, "/verdicts")
    assert page.rows[0] == ["clear", "ann", "bob"]
    first = page.rows[1]
    assert first[0] == "1. Item 1."
    assert first[1] == "no src/app.js:41Reason 1."
    assert first[2].startswith("? src/app.js:41xReason 1.Does not count: there is no file")
    assert page.rows[-1] == ["score", "0.000", "abstained"]
    assert "All in all <b>good</b>." in page.text
    assert page.rows[1] in read(shown, "").rows


def test_every_pointer_opens_the_place_that_it_names(shown):
    viewer, evidence = shown
    links = read(shown, "/verdicts").links
    wanted = {
        "src/app.js:41": ("L41", "let a41 = 41"),
        "`./src/app.js#L3-L9`": ("L3", "let a3 = 3"),
        "check:there": ("check-1", "there"),
        "check:second": ("check-2", "second"),
        "step:2": ("step-2", "2. expect text &lt;script&gt;alert(1)&lt;/script&gt;"),
        "screenshot:desktop-light": ("shot-1", ""),
        ODD_NAME.replace("\n", "\\n") + ":1": ("L1", "odd"),
        "long.txt:50000": ("L50000", "line 50000"),
    }
    for pointer, (anchor, text) in wanted.items():
        address = urlsplit(links[pointer])
        assert address.fragment == anchor
        page = viewer.get(f"{address.path}?{address.query}")
        assert page.status == 200
        place = re.findall(rf'<(\w+) [^>]*id="{anchor}"[^>]*>([^<]*)', page.text)
        assert len(place) == 1, pointer
        assert place[0][1] == text
    assert links["page"] == f"/run/{evidence.asker}/page"
    assert len(wanted) + 1 == sum(len(re.split("[,;] ", one)) for one in POINTERS)


def test_a_pointer_to_nothing_is_text(shown):
    page = read(shown, "/verdicts")
    assert not set(NOWHERE) & set(page.links)
    for pointer in NOWHERE:
        assert pointer in page.text
    assert not [one for one in page.links.values() if not one.startswith("/")]


def test_a_files_lines_have_numbers_and_a_long_one_is_paged(shown):
    viewer, _ = shown
    files = read(shown, "/files").links
    page = viewer.get(files["long.txt"])
    assert len(page.body) < 1_000_000
    assert '<span id="L1" data-n="1">line 1</span>' in page.text
    seen, address = [], files["long.txt"]
    while address:
        page = viewer.get(address.partition("#")[0])
        seen += map(int, re.findall(r'id="L(\d+)"', page.text))
        address = Rows(page.text).links.get("Go on")
        assert len(page.body) < 1_000_000
    assert sorted(set(seen)) == list(range(1, 60_001))
    assert len(seen) < 60_200
    assert Rows(viewer.get(f"{files['long.txt']}&at=99999999").text).text.count("line 60000") == 1
    assert viewer.get(files["long.txt"].replace("file=", "file=9")).status == 404


def test_steps_of_the_browser_stand_with_their_pictures(shown):
    viewer, evidence = shown
    page = read(shown, "/page")
    assert page.rows[1][:2] == ["1. open /", "done"]
    assert page.rows[2] == ["2. expect text <script>alert(1)</script>", "failed", "it is not there", "step-2"]
    assert page.links["step-2"] == "#shot-2"
    text = viewer.get(f"/run/{evidence.asker}/page").text
    sources = re.findall(r'id="shot-\d"><img src="([^"]+)"', text)
    assert len(sources) == 3
    for source in sources:
        assert viewer.get(source).headers.get("Content-Type") == "image/png", source


# -- the conversation


def numbers(page: Rows) -> list[int]:
    return [int(one) for one in re.findall(r"^(\d+) (?:user|agent|system)", "\n".join(page.texts), re.MULTILINE)]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("?kind=user", [1, 2]),
        ("?kind=agent", [3, 4, 5]),
        ("?kind=tools", [3, 4]),
        ("?kind=reasoning", [3]),
        ("?kind=subagents", [4]),
        ("?tool=bash", [3]),
        ("?q=NEEDLE", [3]),
        ("?q=look", [3, 4]),
        ("?kind=tools&q=found", [4]),
        ("?q=nowhere+at+all", []),
        ("?at=4", [4, 5]),
    ],
)
def test_steps_are_filtered_by_the_address(shown, words, left):
    assert numbers(read(shown, f"/steps{words}")) == left


def test_hits_are_counted_and_the_steps_that_have_them_are_open(shown):
    viewer, evidence = shown
    page = read(shown, "/steps?q=needle")
    assert "1 of 5 steps, 3 hits of “needle”." in page.text
    text = viewer.get(f"/run/{evidence.asker}/steps?q=needle").text
    assert '<details open id="said-3">' in text
    assert "Subagent: scout" in read(shown, "/steps").text
    assert {"user 2", "agent 3", "tools 2", "subagents 1", "bash 1", "task 1"} <= set(read(shown, "/steps").links)


def test_a_kind_that_does_not_exist_is_a_sentence(shown):
    viewer, evidence = shown
    reply = viewer.get(f"/run/{evidence.asker}/steps?kind=tool")
    assert reply.status == 404
    assert "Did you mean" in reply.text


def test_a_search_stays_with_its_attempt(shown):
    viewer, evidence = shown
    text = viewer.get(f"/run/{evidence.asker}/steps?attempt=1").text
    assert '<input type="hidden" name="attempt" value="1">' in text


# -- model calls


def test_calls_are_a_table_with_every_figure(shown):
    viewer, evidence = shown
    page = read(shown, "/calls")
    (attempt,) = viewer.get(f"/run/{evidence.asker}.json").json["attempts"]
    names = page.rows[0]
    rows = [dict(zip(names, row, strict=True)) for row in page.rows[1:]]
    assert (
        [row["call"] for row in rows] == [f"#{call['number']}" for call in attempt["calls"]] == ["#1", "#2", "#3", "#4"]
    )
    assert [rows[0][name] for name in ("turn", "model", "status", "in", "cached", "out")] == [
        "1",
        "m",
        "200",
        "60",
        "20",
        "40",
    ]
    assert [rows[1][name] for name in ("status", "in", "out", "cost")] == ["status 400", "?", "?", "?"]
    assert viewer.get(page.links["#2"]).status == 200
    assert [
        row["call"] for row in (dict(zip(names, row, strict=True)) for row in read(shown, "/calls?at=3").rows[1:])
    ] == [
        "#3",
        "#4",
    ]


def test_the_picture_of_calls_says_the_same_in_words(shown):
    viewer, evidence = shown
    text = viewer.get(f"/run/{evidence.asker}/calls").text
    (told,) = re.findall(r'role="img" aria-label="([^"]+)"', text)
    assert re.fullmatch(
        r"4 model calls in [\d.]+ s, 1 failed\. The largest had 1,100 tokens\. Of 1 the tokens are unknown\.", told
    )
    assert text.count('class="tick"') == 3
    assert text.count('class="failed"') == 1
