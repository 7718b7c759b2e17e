"""The pictures of the viewer in README.md and docs/view.md are of real pages, and what they show is still there.

To take them again, after the pages have changed: ORVL_DRAW=1 .venv/bin/python -m pytest -n 1 tests/browser/test_pictures.py
"""

from __future__ import annotations

import os
import re
import struct
from contextlib import ExitStack
from pathlib import Path

import pytest

from helpers.judging import answer_of, evidence_in, items_of, pointer_in
from helpers.ladders import BUGS, GOOD, ITEMS, LINES, laddered
from helpers.needs import need
from helpers.thinned import thinned
from helpers.user_project import UserProject
from helpers.viewing import viewing
from orvl.capture.browser import find
from orvl.testing import Answer, ModelServer

MADE_ONCE = ("stored", "pages")
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
SIZE = {"width": 1200, "height": 760}
MOST_BYTES = 150_000
PAGES = ("board", "run", "compare", "trust")
SCHEMES = {"": "light", "-dark": "dark"}
PICTURES = [f"{page}{ending}" for page in PAGES for ending in SCHEMES]
EVALS = (
    *("todo-list", "parse-dates", "fix-slugs", "sales-report", "word-count", "unit-converter"),
    *("log-reader", "backup", "csv-to-json", "calendar", "spell-check", "invoices"),
)
AGENTS = {
    "careful": (0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0),
    "quick": (2, 3, 4, 3, 2, 4, 3, 4, 3, 2, 4, 3),
    "thorough": (0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0),
}
"""How many bugs of four each leaves, eval by eval."""
AGENT = """
models = {{"none": ["{model}"]}}
WORKS = {works!r}

def command(prompt):
    name = prompt.strip().rpartition(" ")[2].rstrip(".")
    return ["sh", "-c", 'printf %s "$1" > tools.py', "sh", WORKS[name]]

def read():
    return {{"usage": {{"cost_usd": {cost}, "input_tokens": 9100, "output_tokens": 1200, "tool_calls": 7}}}}
"""
TEXTS = """isAll => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const found = []
  while (walker.nextNode()) {
    const range = document.createRange()
    range.selectNodeContents(walker.currentNode)
    const place = range.getBoundingClientRect()
    if (isAll || (place.width && place.bottom > 0 && place.bottom < innerHeight && place.right < innerWidth))
      found.push(walker.currentNode.textContent)
  }
  return found.join("\\n")
}"""


def with_bugs(number: int) -> str:
    text = GOOD
    for _, old, new in [*BUGS.values()][:number]:
        text = text.replace(old, new)
    return text + ("# TODO: tidy this up\n" if number > 2 else "")


def judge(*, is_strict: bool):
    """One that reads the work, and one that also minds what is left to be done."""

    def say(request):
        work, items = evidence_in(request), items_of(request)
        code = [line for line in work.splitlines() if "grep" not in line]
        has = [any(line.endswith(LINES[ITEMS.index(item)].strip()) for line in code) for item in items]
        verdicts = ["yes" if one else "no" for one in has]
        if is_strict and "TODO" in work:
            verdicts[0] = "no"
        return Answer(answer_of(verdicts, pointer_in(request)), again=True)

    return say


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Three agents on eight evals, judged by two judges, which controls have tested."""
    project = UserProject(tmp_path_factory.mktemp("pictures") / "project")
    laddered(project, EVALS, "{works: 2, checks: 1}")
    for place, (name, bugs) in enumerate(AGENTS.items()):
        works = {eval_: with_bugs(number) for eval_, number in zip(EVALS, bugs, strict=True)}
        text = AGENT.format(model=("model-a", "model-b", "model-a")[place], works=works, cost=(0.04, 0.01, 0.09)[place])
        project.agent(name, text)
    with ExitStack() as stack:
        text = ""
        for name, is_strict in (("anna", False), ("bert", True)):
            server = stack.enter_context(ModelServer(judge(is_strict=is_strict)))
            text += (
                f'[providers.{name}-host]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nfree = true\n'
            )
            text += f'[judges.{name}]\nmodel = "judge-{name}"\nprovider = "{name}-host"\n'
        project.toml(text)
        for words in (
            [",".join(AGENTS), "--sandbox=none", "--episodes=2"],
            ["certify", "--gate", "--episodes=1", "--eval", ",".join(EVALS), "-q"],
        ):
            done = project.orvl(*words, "--yes", timeout=300)
            assert done.status == 0, done.err + done.out
    return project


@pytest.fixture(scope="module")
def pages(stored):
    """By name: opens a page in a light or a dark window."""
    need(find.trouble() is None, find.trouble() or "")
    from playwright.sync_api import sync_playwright

    key = next(
        row["run"]
        for row in stored.orvl("report", "quick", "--by=run", "--json").json["ratings"]
        if row["eval"] == "parse-dates"
    )
    paths = {
        "board": f"/board?agent={','.join(AGENTS)}",
        "run": f"/run/{key}",
        "compare": "/compare?a=careful&b=quick",
        "trust": "/trust",
    }
    with viewing(stored) as viewer, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find.chromium(), args=["--no-sandbox"])

        def opened(name: str, scheme: str):
            context = browser.new_context(color_scheme=scheme, viewport=SIZE)
            page = context.new_page()
            page.goto(viewer.address)
            page.wait_for_url("**/board")
            page.goto(f"{viewer.origin}{paths[name]}")
            return page

        yield opened
        browser.close()


@pytest.fixture(params=thinned(PICTURES, every=4))
def picture(request, pages):
    """A page, its picture, and the words on that; with ORVL_DRAW both are made now."""
    name, _, _ = request.param.partition("-")
    page = pages(name, SCHEMES[request.param.removeprefix(name)])
    file = FOLDER / f"{request.param}.png"
    if os.environ.get("ORVL_DRAW"):
        FOLDER.mkdir(exist_ok=True)
        page.screenshot(path=file)
        (FOLDER / f"{name}.txt").write_text("\n".join(words_of(page.evaluate(TEXTS, False))) + "\n")
    yield page, file, FOLDER / f"{name}.txt"
    page.context.close()


def words_of(text: str) -> list[str]:
    """Words without numbers, keys and times, which differ from run to run, each once, in their order."""
    return [*dict.fromkeys(word for word in re.findall(r"[^\s:;,.()/]+", text) if re.fullmatch("[A-Za-z_-]{3,}", word))]


def test_a_picture_shows_what_its_page_still_says(picture):
    page, file, words = picture
    told = words.read_text().split()
    assert len(told) > 30, "that is no page"
    there = set(words_of(page.evaluate(TEXTS, True)))
    gone = [word for word in told if word not in there]
    assert not gone, f"{file.name} shows words that the page does not have any more: {gone}"


def test_a_picture_has_its_size(picture):
    _, file, _ = picture
    data = file.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (SIZE["width"], SIZE["height"])
    assert len(data) <= MOST_BYTES


def test_light_and_dark_are_two_pictures():
    for name in PAGES:
        light, dark = (FOLDER / f"{name}{ending}.png" for ending in SCHEMES)
        assert light.read_bytes() != dark.read_bytes()


@pytest.mark.parametrize("file", ["README.md", "docs/view.md"])
def test_every_picture_is_shown(file):
    text = (ROOT / file).read_text()
    shown = re.findall(r'(?:src|srcset)="(\S*pictures/\S+\.png)"', text)
    assert shown and all(((ROOT / file).parent / path).exists() for path in shown)
    if file == "docs/view.md":
        assert {Path(path).stem for path in shown} == {*PICTURES}
