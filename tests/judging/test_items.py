"""Items: an eval's own, answers of which no is the good one, how much must be told, and what a judge missed."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from helpers.judging import answer_of, ask, checklist, items_of, pointer_in, says
from orvl.gateway.breaker import JudgeBreaker
from orvl.gateway.failures import CallFailure
from orvl.score.judges import read_item, split, verdict
from orvl.testing import Answer, Fault, ModelServer
from orvl.types import ChecklistItem

CODE = {"a.py": "def add(a, b):\n    return a + b\n"}
WRITE = ["python3", "-c", "open('a.py', 'w').write('def add(a, b):\\n    return a + b\\n')"]


def prepared(project, server, front="metrics: {m: 1}", more=""):
    project.agent("worker", f'models = {{"none": ["x"]}}\n\ndef command(prompt):\n    return {WRITE!r}\n')
    project.score("m", 'items = ["It adds.", {"item": "It is slow.", "good": "no"}]\n')
    project.eval("e", f"---\n{front}\n---\nAdd two numbers.\n")
    project.toml(
        f'{more}\n[providers.h]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\n'
        '[judges.j]\nmodel = "scripted"\nprovider = "h"\n'
    )


def orvl(project, *words, status=0):
    done = project.orvl(*words)
    assert done.status == status and "Traceback" not in done.err, done.err[-2000:] + done.out[-2000:]
    return done


# -- what items are


def test_an_item_may_have_a_weight_and_want_a_no():
    items = split(
        ["One.", ("Two.", 2), {"item": "Three.", "good": "no"}, {"item": "Four.", "weight": 3, "good": False}]
    )
    assert [(*item, item.good) for item in items] == [
        ("One.", 1, "yes"),
        ("Two.", 2, "yes"),
        ("Three.", 1, "no"),
        ("Four.", 3, "no"),
    ]
    for wrong in ("", 3, ("a", 0), {"item": "x", "good": "maybe"}, {"text": "x"}, ("a", True), {"item": ""}):
        assert read_item(wrong) is None, wrong


def test_the_score_is_the_share_of_good_answers_and_half_must_be_told():
    given = verdict(["yes", "no", "yes", "cannot-tell"], [1, 1, 2, 1], ["yes", "no", "no", "yes"])
    assert (given.score, given.told) == (0.5, 0.8)
    assert verdict(["yes", "cannot-tell", "cannot-tell"]).score is None
    assert "only 1 of 3 items" in verdict(["yes", "cannot-tell", "cannot-tell"]).reason
    assert verdict(["yes", "cannot-tell", "cannot-tell"], least=0.3).score == 1
    assert verdict(["yes", "cannot-tell"]).score == 1


def test_built_in_checklists_are_atomic_and_some_want_a_no(project):
    from orvl.project import open_project

    opened = open_project(project.root)
    for name in ("functionality", "bugs", "code-quality", "missing-cases", "readability", "ui", "ux"):
        items = opened.metric(name).items
        wanted = [item.good for item in items if isinstance(item, ChecklistItem)]
        assert len(wanted) == len(items) and 0 < wanted.count("no") < len(wanted) / 2, name
        assert not any(";" in text or ":" in text for text, _ in items), name


@pytest.mark.parametrize(
    ("verdicts", "pointers", "kept"),
    [
        (["no", "yes"], ["a.py:1", "a.py:2"], ("no", "yes")),
        (["no", "yes"], ["", "a.py:9"], ("cannot-tell", "cannot-tell")),
        (["no", "no"], ["nowhere:validate", "a.py"], ("no", "no")),
        (["no", "no"], ["nowhere:return a", "nowhere:slow"], ("cannot-tell", "cannot-tell")),
        (["yes", "no"], ["nowhere:bug", "a.py:1"], ("cannot-tell", "no")),
        (["no", "yes"], ["nowhere", "check:missing"], ("cannot-tell", "cannot-tell")),
    ],
)
def test_a_no_needs_a_pointer_too_that_a_program_can_check(verdicts, pointers, kept):
    items = ["It adds.", {"item": "It is slow.", "good": "no"}]
    metric = checklist(items=[(text, weight) for text, weight in split(items)])
    metric = type(metric)(**{**vars(metric), "items": tuple(split(items))})
    score, server = ask(CODE, lambda _: Answer(answer_of(verdicts, pointers)), metrics=[metric])
    answers = score.detail["answers"]
    assert tuple(answers) == kept, score.detail
    assert "Before the items comes `analysis`" in server.requests[0].prompt_text


def test_the_analysis_comes_first_and_is_kept():
    score, server = ask(CODE, lambda r: Answer(answer_of(["yes"] * 3, pointer_in(r), analysis="It adds two numbers.")))
    assert score.detail["analysis"] == "It adds two numbers."
    form = json.dumps(server.requests[0].body)
    assert form.index('"analysis": {"type"') < form.index('"items": {"type"')


# -- an eval's own


def test_an_eval_brings_items_beside_the_metrics_own_or_instead_of_them(project):
    with ModelServer(says("no")) as server:
        front = "metrics: {m: 1}\nitems:\n  m:\n    - It adds floats.\n    - {item: It prints., good: no, weight: 2}"
        prepared(project, server, front)
        row = orvl(project, "worker", "--eval=e", "--json").json["ratings"][0]
        assert items_of(server.requests[-1]) == ["It adds.", "It is slow.", "It adds floats.", "It prints."]
        assert row["metrics"]["m"]["mean"] == pytest.approx(3 / 5)
        asked = len(server.requests)
        orvl(project, "worker", "--eval=e")
        assert len(server.requests) == asked, "nothing has changed"
        project.eval(
            "e",
            f"---\n{front.replace('  m:', '  m: {replace: [It only adds.]}').partition('    -')[0]}\n---\nAdd two numbers.\n",
        )
        orvl(project, "worker", "--eval=e")
        assert items_of(server.requests[-1]) == ["It only adds."]
        assert project.rows("SELECT count(*) FROM attempt") == [(1,)], "no agent runs again"


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ("{mm: [It adds.]}", "there is no metric 'mm'. Did you mean 'm'?"),
        ("{speed: [It is fast.]}", "the metric 'speed' has no checklist"),
        ("{m: It adds.}", "'items.m' must be a list"),
        ("{m: {only: [It adds.]}}", "'items.m' must be a list"),
        ("{m: [{item: It adds., good: perhaps}]}", "'items.m' must be a list"),
    ],
)
def test_items_that_cannot_be_are_told_with_their_line(project, items, words):
    with ModelServer(says("no")) as server:
        prepared(project, server, f"metrics: {{m: 1}}\nitems: {items}")
        done = orvl(project, "worker", "--eval=e", status=2)
    assert words in " ".join(done.err.split()) and "e.md:3" in done.err


def test_how_much_must_be_told_is_a_setting_and_reports_say_what_was_told(project):
    with ModelServer(lambda r: Answer(answer_of(["yes", "cannot-tell", "cannot-tell"], pointer_in(r)))) as server:
        prepared(project, server, "metrics: {m: 1, speed: 1}\nitems: {m: [It is short.]}")
        assert (
            orvl(project, "worker", "--eval=e", "--json", status=1).json["ratings"][0]["metrics"]["m"]["mean"] is None
        )
        prepared(project, server, "metrics: {m: 1, speed: 1}\nitems: {m: [It is short.]}", more="told = 0.3")
        done = orvl(project, "worker", "--eval=e", "--json")
        assert done.json["ratings"][0]["metrics"]["m"]["mean"] == 1
        assert any("told: m 33% (j 33%)" in one for one in done.json["warnings"]), done.json["warnings"]
        told = {"m": {"j": pytest.approx(1 / 3, abs=1e-4)}}
        assert done.json["told"] == told == orvl(project, "report", "--json").json["told"]
        lines = orvl(project, "export", "scores", "-", "--format=jsonl").out.splitlines()
        # The verdict that said too little to count is kept, too.
        shares = [row["told"] for row in map(json.loads, lines) if row["metric"] == "m"]
        assert shares == [pytest.approx(1 / 3, abs=1e-4)] * 2
        assert all(json.loads(line)["told"] is None for line in lines if '"metric": "speed"' in line)
        assert "j told 33% of the items" in orvl(project, "show", "worker/e/1").out


# -- what a judge was sent


def test_show_prints_what_a_judge_was_sent_and_what_it_said(project):
    script = [Answer("Hm."), *[says("yes")] * 9]
    with ModelServer(script) as server:
        prepared(project, server)
        orvl(project, "worker", "--eval=e")
        sent = server.requests[0].prompt_text
    out = orvl(project, "show", "worker/e/1", "--judge", "j").out
    for line in sent.split("\n"):
        assert line.strip() in out, line
    assert "----- it said\nHm." in out and "That answer cannot be used" in out and '"verdict": "yes"' in out
    found = orvl(project, "show", "worker/e/1", "--judge", "j", "--metric", "m", "--json").json
    assert found["asked"][0]["questions"][0]["exchange"][0]["said"] == "Hm."
    assert "Did you mean 'j'?" in orvl(project, "show", "worker/e/1", "--judge", "jj", status=2).err
    assert "was not asked about" in orvl(project, "show", "worker/e/1", "--judge", "j", "--metric", "n", status=2).err
    project.orvl("gc")
    assert "----- it said\nHm." in orvl(project, "show", "worker/e/1", "--judge", "j").out, "gc keeps it"


# -- what a judge missed


def test_what_a_judge_missed_is_asked_again_by_the_same_command(project):
    broken = [True]
    with ModelServer(lambda r: Fault(401, "No key.") if broken[0] else says("yes", "no")(r)) as server:
        prepared(project, server, "metrics: {m: 1, speed: 1}")
        done = orvl(project, "worker", "--eval=e", "--json", status=1)
        assert any("The judge j missed 1 score: 401 No key" in one for one in done.json["warnings"])
        assert any("The same command, given again" in one for one in done.json["warnings"])
        broken[0] = False
        again = orvl(project, "worker", "--eval=e", "--json")
        assert again.json["ratings"][0]["metrics"]["m"]["mean"] == 1
        asked = len(server.requests)
        orvl(project, "worker", "--eval=e")
        assert len(server.requests) == asked
        assert project.rows("SELECT count(*) FROM attempt") == [(1,)]


def test_a_judge_that_hangs_is_cut_off_for_all_runs(project):
    with ModelServer(lambda _: Fault.hang()) as server:
        prepared(project, server, "metrics: {m: 1, speed: 1}", more="[limits]\njudge = 2")
        began = time.monotonic()
        done = orvl(project, "worker", "--eval=e", "--episodes=12", "--concurrency=1", "--json", status=1)
        took = time.monotonic() - began
        assert len(server.requests) <= 6, "two at most are waited for, each with its tries"
    assert took < 20, "twelve runs would take 24 s and more"
    assert any("missed 12 scores" in one for one in done.json["warnings"]), done.json["warnings"]


def test_a_moments_trouble_costs_one_run_and_not_the_command(project):
    """All questions about the first run fail; the judge answers those about the others."""
    failing = [8]

    def script(request):
        failing[0] -= 1
        return Fault(401, "No key.") if failing[0] >= 7 else says("yes", "no")(request)

    with ModelServer(script) as server:
        prepared(project, server, "metrics: {m: 1, speed: 1}")
        done = orvl(project, "worker", "--eval=e", "--episodes=4", "--concurrency=1", "--json", status=1)
        assert len(server.requests) >= 4
    assert any("missed 1 score" in one for one in done.json["warnings"]), done.json["warnings"]


def test_a_failed_endpoint_is_tried_half_open_after_ever_longer_pauses():
    asyncio.run(half_open())


async def half_open():
    now = [0.0]
    breaker = JudgeBreaker(lambda: now[0])
    broken = CallFailure("500 Oops.", retry_call=True, status=500)

    async def may(run):
        return await breaker.admit("h", "m", run, 0.01) is None

    assert await may("one")
    assert breaker.ended("h", "m", "one", broken) is None
    assert await may("two"), "somebody else tries at once"
    assert not await may("three"), "one at a time"
    assert breaker.ended("h", "m", "two", broken) == "Giving up on m at h for 5 s: 500 Oops."
    assert not await may("three")
    now[0] = 6.0
    assert await may("three")
    assert "for 10 s" in breaker.ended("h", "m", "three", broken)
    now[0] = 17.0
    assert await may("four") and breaker.ended("h", "m", "four", None) is None
    assert await may("five") and await may("six"), "it works again, for all"
