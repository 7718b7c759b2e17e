"""`orvl gc`: deletes what no run refers to."""

from __future__ import annotations

from contextlib import closing

from orvl.plan.layout import metric_key
from orvl.project import open_project
from orvl.store.records import reply_place
from orvl.store.rows import JudgeReply
from orvl.store.sqlite import SqliteStore

JUDGE = """[judges.wise]
model = "wise-1"
provider = "openai"
"""


def test_gc_deletes_only_what_nobody_refers_to(small):
    assert small.orvl("writer", "--eval=one").status == 0
    stray = small.root / ".orvl/blobs/ab"
    stray.mkdir(exist_ok=True)
    (stray / "cdef.1234.part").write_text("half")
    (stray / f"{'0' * 62}.zst").write_text("unused")
    assert small.orvl("gc", "--dry-run").out.startswith("2 files")
    assert (stray / "cdef.1234.part").exists()
    assert small.orvl("gc").out.startswith("2 files")
    assert not list(stray.glob("cdef*"))
    assert small.orvl("doctor").status == 0
    assert small.orvl("show", "writer/one/1", "--file", "answer.txt").out == "Say hello."


def test_gc_deletes_answers_of_judges_that_nobody_will_ask_for_again(small):
    """They were kept for a command that was killed; what it asked is another question now."""
    assert small.orvl("writer", "--eval=one").status == 0
    small.toml(JUDGE)
    small.write("scores/neat.py", '"""Neat?"""\nitems = ["It is neat."]\n')
    project = open_project(small.root)
    key, (judge,) = metric_key(project.metric("neat"), project.eval("one")), project.panel()
    places = [
        reply_place(1, key, judge.key, 1),
        reply_place(1, "0" * 16, judge.key, 1),
        reply_place(1, key, "0" * 16, 2),
        ("round-trip:new", judge.key),
        ("round-trip:new", "0" * 16),
    ]
    with closing(SqliteStore(small.root / ".orvl", write=True)) as store:
        for about, scope in places:
            for step in (0, 1):
                reply = JudgeReply(scope, "q", step, {"answer": "yes"})
                store.transaction([lambda there, about=about, reply=reply: there.add_reply(about, reply)])
    said = "6 answers of judges to questions that are not asked any more"
    assert f"{said} would be deleted." in small.orvl("gc", "--dry-run").out
    assert small.rows("SELECT count(*) FROM judge_reply") == [(10,)]
    assert f"{said} deleted." in small.orvl("gc").out
    assert set(small.rows("SELECT about, scope FROM judge_reply")) == {places[0], places[3]}
    assert "answers" not in small.orvl("gc").out
