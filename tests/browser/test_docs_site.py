"""The docs as a site, in a real Chromium: from disk, with a search that finds, and nothing asked of the network."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from helpers.needs import need
from orvl.capture.browser import find

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-docs" / "bin" / "python"
MADE_ONCE = ("site", "browser")


def built(config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    command = [PYTHON, "-m", "mkdocs", "build", "--strict", "--config-file", config, "--site-dir", out]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    need(PYTHON.exists(), "the docs' generator is not installed: make docs")
    out = tmp_path_factory.mktemp("docs") / "site"
    done = built(ROOT / "mkdocs.yml", out)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return out


@pytest.fixture(scope="module")
def browser():
    need(find.trouble() is None, find.trouble() or "")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=find.chromium(), args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(site, browser):
    """The site's first page, from disk; afterwards, nothing was said in the console or asked of another host."""
    said, asked = [], []
    context = browser.new_context()
    shown = context.new_page()
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(f"file://{site}/index.html")
    yield shown
    context.close()
    assert said == []
    assert asked
    assert not [url for url in asked if not url.startswith(("file://", "data:", "blob:"))]


@pytest.mark.parametrize(
    ("word", "found"),
    [("krippendorff", "statistics.html"), ("fail-under", "ci.html"), ("bubblewrap", "sandbox.html")],
)
def test_a_search_finds_the_page(page, word, found):
    page.keyboard.press("/")
    page.get_by_role("textbox", name="Search").press_sequentially(word)
    page.wait_for_selector(".md-search-result__item")
    links = [link.get_attribute("href") or "" for link in page.locator(".md-search-result__link").all()]
    assert any(found in link for link in links), links
    target = next(link for link in links if found in link)
    page.locator(f'.md-search-result__link[href="{target}"]').first.click()
    page.wait_for_url(f"**/{found}*")
    assert word in page.inner_text("article").lower()


def test_every_page_is_in_the_navigation_and_can_be_read(page, site):
    linked = {link.get_attribute("href") for link in page.locator("nav.md-nav--primary a.md-nav__link").all()}
    pages = {f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md")} - {"index.html"}
    assert pages <= linked, pages - linked
    for name in sorted(pages):
        page.goto(f"file://{site}/{name}")
        text = page.inner_text("article")
        assert len(text) > 300, name
        assert "```" not in text, f"{name}: a block of code was not read as one"
        assert not re.search(r"^\|.*\|$", text, re.MULTILINE), f"{name}: a table was not read as one"
        assert not page.locator("img:not([src^='data:'])").evaluate_all(
            "images => images.filter(image => !image.complete || !image.naturalWidth).map(image => image.src)"
        )


def test_an_example_of_a_file_has_its_name(page, site):
    page.goto(f"file://{site}/agents.html")
    assert "agents/opencode.py" in page.locator(".filename").all_inner_texts()


def test_a_broken_link_fails(site, tmp_path):
    assert site.exists()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# A\n\n[gone](no-such-page.md)\n")
    config = tmp_path / "mkdocs.yml"
    text = re.sub(r"nav:.*", "", (ROOT / "mkdocs.yml").read_text(), flags=re.DOTALL)
    config.write_text(text.replace("mkdocs_hooks.py", str(ROOT / "mkdocs_hooks.py")))
    done = built(config, tmp_path / "site")
    assert done.returncode != 0
    assert "no-such-page.md" in done.stderr
