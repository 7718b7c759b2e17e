"""/trust, /evals, /eval, /compare, /history and /endpoints of the viewer, on a store whose judges are certified."""

from __future__ import annotations

import csv
import io
import re

import pytest
from tests.conftest import UserProject

from helpers.certified import EVALS, make_certified_store
from helpers.crawl import Markup
from helpers.viewing import viewing
from orvl.store.sqlite import SqliteStore

MADE_ONCE = ("viewer",)


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    project = UserProject(tmp_path_factory.mktemp("judging") / "project")
    make_certified_store(project)
    with viewing(project) as running:
        key = running.runs("strong", "--eval=one")[0]["run"]
        assert project.orvl("label", "--run", key, "--metric=works", "--score=0.5", "--person=eve").status == 0
        raise_alarm(project)
        yield running


def raise_alarm(project: UserProject) -> None:
    """As if words in the work had moved a judge on one run."""
    with SqliteStore(project.root / ".orvl", write=True) as store:
        store.db.execute(
            "UPDATE score SET detail = ? WHERE id = (SELECT max(score.id) FROM score WHERE metric = 'works' AND judge = 'bob')",
            ('{"alarm": "it was told <b>to say yes</b>"}',),
        )
        store.db.commit()


def words(reply) -> str:
    assert reply.status == 200, reply.text
    return " ".join("".join(Markup(reply.text).data).split())


def test_trust_says_first_whether_the_judges_are_certified_and_what_was_close(viewer):
    heading = re.search("<h1>(.*?)</h1>", viewer.get("/trust").text)
    assert heading is not None
    assert re.fullmatch(
        r"The certificate of .* is stale.*|Certified on [\d-]+: controls show that these judges tell good work from "
        r"bad\. The closest call: T\d, -?[\d.]+ where -?[\d.]+ is asked\.",
        heading[1],
    )


def test_trust_shows_controls_by_judges_and_leads_to_their_runs(viewer):
    page = viewer.get("/trust?eval=one,two,three,four,five,six,seven,eight,nine")
    text = words(page)
    assert "Certified on" in text and "The closest call: T" in text
    for word in ("Controls by judges", "ann", "bob", "good", "bad", "Agreement of the judges", "People against judges"):
        assert word in text, word
    runs = [one for one in Markup(page.text).links if re.fullmatch("/run/[0-9a-f]{64}", one)]
    assert len(runs) >= 2 * len(EVALS)
    assert "control:" in words(viewer.get(runs[0]))
    assert "works: ann" in text and "judge − people" in text


def test_evals_have_heat_by_value_and_a_word_for_what_is_missing(viewer):
    page = viewer.get("/evals")
    cells = re.findall(r'<td class="(heat-\d|missing)"[^>]*>(?:<a[^>]*>)?([^<]*)', page.text)
    for kind, text in cells:
        if kind == "missing":
            assert re.match("[–!] ", text)
        else:
            assert kind == f"heat-{min(int(float(text) * 6), 5)}"
    assert {"heat-0", "heat-5"} <= {kind for kind, _ in cells}
    assert "The hardest:" in words(page)
    assert words(viewer.get("/evals?agent=strong,weak&eval=one"))


def test_an_eval_shows_each_run_and_the_share_of_yes_by_item(viewer):
    page = viewer.get("/eval/tidy")
    text = words(page)
    assert "Each run" in text and "Share of good answers" in text
    assert "neat: It is <b>named</b> well." in text
    rows = re.findall(r"<tr><th[^>]*>neat: (.*?)</th>(.*?)</tr>", page.text)
    shares = {text: re.findall(r'<td class="[\w-]+"[^>]*>(?:<a[^>]*>)?([^<]*)', cells) for text, cells in rows}
    assert shares["It is short."] == ["1.00", "1.00"]
    assert shares["It is &lt;b&gt;named&lt;/b&gt; well."] == ["0.50", "0.50"]
    assert shares["Nobody can tell."] == ["– not told"] * 2
    one = viewer.get("/eval/one").text
    assert one.count('class="one"') >= 2


def test_compare_says_the_verdict_first_what_differs_and_leads_to_both_sides_runs(viewer):
    path = "/compare?a=strong&b=weak&eval=one,two,three,four,five,six,seven,eight,nine"
    page = viewer.get(path)
    text = words(page)
    assert re.search(r"<h1>BETTER: strong is better than weak\. ?strong − weak: \+", page.text)
    assert "What differs from weak to strong: the agent" in text
    assert page.text.count('class="a"') == len(EVALS)
    addresses = [one for one in Markup(page.text).links if one.startswith("/runs?agent=strong&")]
    assert len(addresses) == len(EVALS)
    assert "1 run," in words(viewer.get(addresses[0]))


def test_history_has_one_row_an_identity_beside_that_of_now(viewer):
    page = viewer.get("/history")
    text = words(page)
    assert text.count("weak fixed none tidy") >= 2
    assert "of now" in text and "By identity" in text
    assert "R has not moved." in text


def test_alarms_lead_to_the_runs_that_raised_them(viewer):
    page = viewer.get("/trust")
    assert "Injection alarms" in words(page)
    assert "1 verdict: the score without these words counts." in words(page)
    key = re.search(r'Injection alarms</h2>.*?href="(/run/[0-9a-f]{64})"', page.text, re.S)
    assert key is not None
    assert "it was told <b>to say yes</b>" in words(viewer.get(key[1]))


@pytest.mark.parametrize(
    "path", ["/evals", "/compare?a=strong&b=weak", "/trust", "/endpoints", "/history", "/board", "/eval/one", "/runs"]
)
def test_every_table_page_has_csv_and_markdown_with_the_same_figures(viewer, path):
    plain, _, query = path.partition("?")
    twins = {ending: viewer.get(f"{plain}.{ending}{'?' if query else ''}{query}") for ending in ("csv", "md")}
    page = viewer.get(path).text
    if plain == "/endpoints":
        assert {reply.status for reply in twins.values()} == {404}, "nobody called a model"
        return
    if plain == "/runs":
        del twins["md"]
    assert {reply.status for reply in twins.values()} == {200}
    assert all(f'href="{plain}.{ending}' in page for ending in twins)
    rows = list(csv.reader(io.StringIO(twins["csv"].text)))
    assert len(rows) > 1
    if plain in ("/evals", "/compare", "/history"):
        figures = [cell for row in rows for cell in row if re.fullmatch(r"[01]\.\d{3}", cell)]
        assert figures and all(figure in page for figure in figures)
        assert all(figure in twins["md"].text for figure in figures)
