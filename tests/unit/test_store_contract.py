"""What every Store and every Blobs must do, whatever keeps them: a new implementation is one more entry in a list."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest

import orvl.store
from orvl.errors import StoreError, UserError
from orvl.store import ANY_EPISODE, Blobs, Store, open_store, store_exists, store_url
from orvl.store.folder import FolderBlobs
from orvl.store.records import reply_place
from orvl.store.rows import AttemptFilter, CallFilter, JudgeReply, Mismatch, OtherModelCalls
from orvl.store.score_matrix import pack, score_tables
from orvl.types import (
    Agent,
    Attempt,
    CallIssue,
    Cell,
    CheckResult,
    Eval,
    Inspection,
    Layout,
    ModelCall,
    PlannedRun,
    Score,
    Turn,
    Usage,
)

LONE = "half a pair: \ud83d"
"""What an agent may say, and UTF-8 cannot."""


@dataclass(frozen=True)
class Place:
    """Where an implementation keeps a store: opened as often as one likes."""

    open: Callable[..., Store]
    url: str


def sqlite(folder: Path) -> Place:
    url = f"sqlite://{folder / 'store'}"
    return Place(lambda write=True: open_store(url, write=write), url)


@dataclass(frozen=True)
class BlobPlace:
    """Where an implementation keeps blobs, and how to hurt one."""

    open: Callable[[], Blobs]
    damage: Callable[[str], None]
    lose: Callable[[str], None]


def folder(path: Path) -> BlobPlace:
    here = FolderBlobs(path / "blobs")
    return BlobPlace(
        lambda: FolderBlobs(path / "blobs"),
        lambda key: here.path(key).write_bytes(here.path(key).read_bytes()[:-3] + b"xyz"),
        lambda key: here.path(key).unlink(),
    )


STORES = [sqlite]
BLOBS = [folder]


@pytest.fixture(params=STORES, ids=lambda kind: kind.__name__)
def place(request, tmp_path) -> Place:
    return request.param(tmp_path)


@pytest.fixture
def store(place):
    with place.open() as opened:
        yield opened


@pytest.fixture(params=BLOBS, ids=lambda kind: kind.__name__)
def kept(request, tmp_path) -> BlobPlace:
    return request.param(tmp_path)


# -- what is stored


def cell(eval_="greet", agent="writer", key=None, version="1.0", prompts=("Say hello.", "Now in French.")):
    names = (agent, "m1", "none", eval_)
    return SimpleNamespace(
        key=key or f"cell {agent} {eval_}", names=names, version=version, eval=SimpleNamespace(prompts=prompts)
    )


def run(cell_, episode=1):
    return PlannedRun(hashlib.sha256(f"{cell_.key} {episode}".encode()).hexdigest(), cell_, episode)


def attempt(outcome="finished", reason=None, **more):
    usage = more.pop("usage", Usage(1.5, 100, 20, 30, 4, 0.25, "agent"))
    return Attempt(outcome, reason, 1.8e9, usage, **{"sandbox": "bubblewrap", **more})


def do(store, *works):
    return store.transaction(works)


def add_run(store, cell_, episode=1, call=None, **more):
    """Stores an attempt, and gives its number."""

    def work(there):
        made = there.add_call({"words": "all"}, 1) if call is None else call
        return there.add_attempt(run(cell_, episode), there.add_cell(cell_), made, attempt(**more), "checks")

    return do(store, work)[0]


LAYOUT = Layout("layout", (("anna", "a1"), ("bert", "b1")), (("clarity", "c1"), ("speed", "s1")), (True, False))


def score(metric="clarity", judge="anna", sample=1, value=0.5, kind="scored", **more):
    metric_key, judge_key = {"clarity": "c1", "speed": "s1"}[metric], {"anna": "a1", "bert": "b1", "": ""}[judge]
    return Score(metric, metric_key, judge, judge_key, sample, kind, value if kind == "scored" else None, **more)


def add_scores(store, number, cell_, scores, table=True, layout=LAYOUT):
    def work(there):
        packed = pack(layout, scores) if table else None
        there.add_scores(number, there.add_cell(cell_), 1, scores, there.add_layout(layout), packed)

    do(store, work)


FULL = (score(), score(judge="bert", value=1.0), score("speed", "", value=0.25))


# -- opening, writing, reading


def test_a_store_exists_once_somebody_has_written(place):
    assert not store_exists(place.url)
    with pytest.raises(StoreError, match="no store"):
        place.open(write=False)
    assert not store_exists(place.url)
    place.open().close()
    assert store_exists(place.url)
    with place.open(write=False) as store:
        assert store.cells() == [] and store.runs() == [] and store.counts(1, ANY_EPISODE) == {}
        assert store.integrity() == [] and store.referenced() == set()


def test_a_url_names_a_folder_from_where_it_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    project = tmp_path / "project"
    assert store_url(None, None, project) == f"sqlite://{project}/.orvl"
    assert store_url("mine", "theirs", project) == f"sqlite://{tmp_path}/mine"
    assert store_url(None, "theirs", project) == f"sqlite://{project}/theirs"
    assert store_url("sqlite:///a/b", None, project) == "sqlite:///a/b"


class Elsewhere:
    """A store of another kind, as far as opening goes."""

    def __init__(self, place, *, write):
        self.opened = place, write

    @staticmethod
    def exists(place):
        return place == "host/name"


def test_another_kind_of_store_is_one_line(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="Give its path"):
        store_url("elsewhere://host/name", None, tmp_path)
    monkeypatch.setitem(orvl.store.STORES, "elsewhere", f"{__name__}:Elsewhere")
    url = store_url("elsewhere://host/name", None, tmp_path)
    assert url == "elsewhere://host/name"
    assert open_store(url, write=True).opened == ("host/name", True)
    assert store_exists(url) and not store_exists("elsewhere://host/other")


def test_one_process_writes_and_others_read(place):
    with place.open() as writer:
        with pytest.raises(StoreError, match="writing"):
            place.open()
        add_run(writer, cell())
        with place.open(write=False) as reader:
            assert len(reader.runs()) == 1
            add_run(writer, cell(), 2)
            assert len(reader.runs()) == 2, "a reader sees what was stored meanwhile"
    place.open().close()


def test_readers_know_whether_somebody_writes(place):
    with closing(place.open()) as writer:
        assert writer.has_writer
        with closing(place.open(write=False)) as reader:
            assert reader.has_writer
    with closing(place.open(write=False)) as reader:
        assert not reader.has_writer
        # Asking must not look like writing to whoever comes next.
        with closing(place.open()):
            assert reader.has_writer
        assert not reader.has_writer


def test_what_was_stored_is_there_when_it_is_opened_again(place):
    with place.open() as store:
        number = add_run(store, cell(), outcome="failed", reason="It gave up.")
        before = store.attempt(number), store.cells(), store.runs()
    with place.open(write=False) as store:
        assert (store.attempt(number), store.cells(), store.runs()) == before
        assert store.attempt(number)[0].reason == "It gave up."


def test_a_transaction_is_done_as_a_whole_or_not_at_all(place):
    with place.open() as store:
        add_run(store, cell())

        def fails(there):
            there.add_cell(cell("other"))
            raise RuntimeError("in the middle")

        with pytest.raises(RuntimeError, match="in the middle"):
            do(store, lambda there: there.add_cell(cell("third")), fails)
        assert [known.eval for known in store.cells()] == ["greet"]
        assert do(store, lambda there: there.add_cell(cell("other")), lambda there: 7)[1] == 7
    with place.open(write=False) as store:
        assert [known.eval for known in store.cells()] == ["greet", "other"]


def test_many_readers_at_once_see_whole_transactions(place):
    with place.open() as writer:
        wrong: list[str] = []

        def read():
            with place.open(write=False) as reader:
                for _ in range(20):
                    if len(reader.runs()) % 2:
                        wrong.append("half a transaction")

        threads = [Thread(target=read) for _ in range(3)]
        add_run(writer, cell(), 1)
        add_run(writer, cell(), 2)
        for thread in threads:
            thread.start()
        for episode in range(3, 23, 2):
            works = [
                lambda there, n=n: there.add_attempt(run(cell(), n), there.add_cell(cell()), 1, attempt(), "")
                for n in (episode, episode + 1)
            ]
            writer.transaction(works)
        for thread in threads:
            thread.join()
        assert not wrong and len(writer.runs()) == 22


# -- cells, runs, attempts


def test_adding_a_cell_again_gives_the_same_one(store):
    first, again, other = do(
        store,
        lambda there: there.add_cell(cell()),
        lambda there: there.add_cell(cell(version="2.0", prompts=("Another.",))),
        lambda there: there.add_cell(cell(key="another identity")),
    )
    assert first == again < other
    known = store.cells()
    assert [one.id for one in known] == [first, other], "the newest identity is last"
    assert known[0].names == ("writer", "m1", "none", "greet") and known[0].contestant == ("writer", "m1", "none")
    assert known[0].version == "1.0" and store.prompts(first) == ("Say hello.", "Now in French.")
    assert (known[0].runs, known[0].last_episode) == (0, 0)


def test_runs_are_counted_by_cell(store):
    for episode in (1, 2, 5):
        add_run(store, cell(), episode)
    add_run(store, cell("other"))
    assert [(known.runs, known.last_episode) for known in store.cells()] == [(3, 5), (1, 1)]


def test_a_run_is_carried_out_once(store):
    add_run(store, cell(), outcome="errored")
    add_run(store, cell(), outcome="errored", reason="again")
    done = add_run(store, cell(), outcome="failed")
    with pytest.raises(Exception):  # noqa: B017 - whatever the database says
        add_run(store, cell(), outcome="finished")
    (only,) = store.runs()
    assert (only.attempt, only.outcome, only.key) == (done, "failed", run(cell()).key)
    assert store.attempts(only.key) == [done - 2, done - 1, done]
    assert [one.attempt for one in store.carried_out([cell().key])] == [done]


def test_of_a_run_that_only_errored_the_last_attempt_counts(store):
    add_run(store, cell(), outcome="errored", reason="first")
    last = add_run(store, cell(), outcome="errored", reason="last")
    (only,) = store.runs()
    assert (only.attempt, only.outcome) == (last, "errored")
    assert list(store.carried_out([cell().key])) == []
    (result,) = store.run_results([only.cell])
    assert (result.reason, result.outcome, result.sandbox) == ("last", "errored", "bubblewrap")
    assert result.usage == Usage(1.5, 100, 20, 30, 4, 0.25, "agent")


def test_runs_come_in_order_and_of_the_cells_that_are_named(store):
    numbers = [add_run(store, cell(eval_), episode) for episode in (1, 2) for eval_ in ("a", "b")]
    a, b = (known.id for known in store.cells())
    assert [one.attempt for one in store.runs()] == numbers
    assert [one.attempt for one in store.runs([b])] == numbers[1::2]
    assert [one.attempt for one in store.run_results([a])] == numbers[::2]
    assert store.runs([]) == [] and store.run_results([]) == []
    assert [one.episode for one in store.runs([a])] == [1, 2]
    carried_out = list(store.carried_out(["cell writer b", "nobody", "cell writer a"]))
    assert [one.attempt for one in carried_out] == [*numbers[1::2], *numbers[::2]]
    assert sorted(store.attempts_between(2, 2)) == numbers[2:] == sorted(store.attempts_between(2, ANY_EPISODE))


def test_a_run_is_found_by_the_beginning_of_its_key(store):
    for episode in range(1, 6):
        add_run(store, cell(), episode)
    keys = [one.key for one in store.runs()]
    assert [one.key for one in store.runs_starting_with(keys[2], 9)] == [keys[2]]
    assert [one.key for one in store.runs_starting_with("", 2)] == keys[:2]
    assert {one.key for one in store.runs_starting_with(keys[0][:1], 9)} == {k for k in keys if k[0] == keys[0][0]}
    assert store.runs_starting_with("no such", 3) == []
    assert store.runs_starting_with("%", 3) == [] and store.runs_starting_with("_", 3) == []


def test_runs_that_only_errored_and_attempts_by_their_numbers(store):
    tried = add_run(store, cell(), 1, outcome="errored", reason="first")
    done = add_run(store, cell(), 1, outcome="failed", reason="Status 3")
    add_run(store, cell(), 2, outcome="errored", reason="once")
    last = add_run(store, cell(), 2, outcome="errored", reason="again")
    other = add_run(store, cell("other"), outcome="errored")
    a, b = (known.id for known in store.cells())
    assert [(run.attempt, run.reason) for run in store.errored_runs([a])] == [(last, "again")]
    assert [run.attempt for run in store.errored_runs([a, b])] == [last, other]
    assert store.errored_runs([]) == []
    assert [run.attempt for run in store.results_of([other, tried, done])] == [other, tried, done]
    assert store.results_of([done]) == store.run_results([a])[:1] and store.results_of([]) == []


def test_attempts_are_found_by_how_they_ended_and_what_they_used(store):
    used = [(0.5, 3.0), (None, 9.0), (2.0, 1.0), (0.5, 3.0)]
    usages = [Usage(seconds, 1, 0, 1, 0, cost, "agent") for cost, seconds in used]
    reasons = [None, "Äpfel are out", None, None]
    outcomes = ["finished", "failed", "finished", "errored"]
    cases = enumerate(zip(outcomes, reasons, usages, strict=True), 1)
    a, b, c, d = (
        add_run(store, cell(), episode, outcome=outcome, reason=reason, usage=usage)
        for episode, (outcome, reason, usage) in cases
    )

    def found(**wanted):
        return store.find_attempts(AttemptFilter(**wanted))

    assert found() == [a, b, c, d]
    assert (found(outcome="failed"), found(outcome="errored"), found(reason="äPFEL")) == ([b], [d], [b])
    assert (found(cost_over=0.4), found(cost_over=0.5), found(seconds_over=2.0)) == ([a, c, d], [c], [a, b, d])
    assert (found(most_first="cost_usd"), found(most_first="seconds")) == ([c, a, d, b], [b, a, d, c])


def test_a_reader_sees_that_somebody_has_written(place):
    with place.open() as writer, place.open(write=False) as reader:
        before = reader.changes()
        assert reader.changes() == before
        add_run(writer, cell())
        after = reader.changes()
        assert after != before and reader.changes() == after


def test_counts_sum_what_was_used_and_an_unknown_part_makes_a_sum_unknown(store):
    add_run(store, cell(), 1)
    add_run(store, cell(), 2, outcome="failed", sandbox="none")
    add_run(store, cell(), 3, outcome="errored")
    (counts,) = store.counts(1, ANY_EPISODE).values()
    assert (counts.runs, counts.carried_out, counts.failed, counts.bare) == (3, 2, 1, 1)
    assert sorted((counts.sandbox or "").split(",")) == ["bubblewrap", "none"]
    assert counts.usage == {
        "input_tokens": 200,
        "cached_tokens": 40,
        "output_tokens": 60,
        "tool_calls": 8,
        "seconds": 3.0,
        "cost_usd": 0.5,
        "cost_source": "agent",
        "is_bound": False,
        **dict.fromkeys(("model_seconds", "tools_seconds", "own_seconds", "waiting_seconds")),
    }
    (first,) = store.counts(1, 1).values()
    assert (first.runs, first.usage["seconds"]) == (1, 1.5)
    (third,) = store.counts(3, 3).values()
    assert (third.runs, third.carried_out, third.usage) == (1, 0, {})
    unknown = replace(attempt(), usage=Usage(2.0))
    do(store, lambda there: there.add_attempt(run(cell(), 4), 1, 1, unknown, ""))
    (counts,) = store.counts(1, ANY_EPISODE).values()
    assert (counts.runs, counts.carried_out) == (4, 3), "what was added since is counted"
    assert counts.usage["cost_usd"] is None and counts.usage["seconds"] == 5.0


def test_counts_are_the_same_after_opening_again_and_after_more(place):
    with place.open() as store:
        for episode in range(1, 30):
            number = add_run(store, cell(), episode, outcome="failed" if episode % 3 else "finished")
            add_scores(store, number, cell(), FULL)
        before = store.counts(1, ANY_EPISODE), store.counts(1, 29)
    assert before[0] == before[1]
    with place.open() as store:
        assert store.counts(1, ANY_EPISODE) == before[0]
        add_run(store, cell(), 30, outcome="errored")
        assert [counts.runs for counts in store.counts(1, ANY_EPISODE).values()] == [30]
    with place.open(write=False) as store:
        (counts,) = store.counts(1, ANY_EPISODE).values()
        assert (counts.runs, counts.carried_out, counts.failed) == (30, 29, 20)


def test_an_attempt_comes_back_as_it_was(store):
    turn = Turn(1.0, 0.5, 0, None, "session", "blob out", "blob err", 10)
    checks = (CheckResult("there", True, 0, 0.1, "ok", 2.0), CheckResult("says", False, 1, 0.2, "no"))
    made = attempt(turns=(turn, turn), steps="s", start_tree="t0", tree="t1", cut=("too large",), record="r")
    made = replace(made, checks=checks, told=Usage(9.0))
    do(store, lambda there: there.add_call("all", 1))
    (number,) = do(store, lambda there: there.add_attempt(run(cell()), there.add_cell(cell()), 1, made, "k1"))
    back, results = store.attempt(number)
    assert replace(back, checks=checks) == made and results == checks
    assert store.attempt(number, "k1")[1] == checks
    assert store.attempt(number, "another key")[1] is None


def test_results_of_checks_are_kept_under_their_key_and_the_newest_is_last(store):
    number = add_run(store, cell())
    old, new = (CheckResult("a", False, 1, 0.1, ""),), (CheckResult("a", True, 0, 0.1, ""),)
    do(store, lambda there: there.add_checks(number, "k1", old), lambda there: there.add_checks(number, "k2", new))
    assert store.attempt(number)[1] == new and store.attempt(number, "k1")[1] == old
    do(store, lambda there: there.add_checks(number, "k1", new))
    assert store.attempt(number, "k1")[1] == old, "what is stored stays as it is"


def test_inspections_come_in_order_and_stay_as_they_are(store):
    number = add_run(store, cell())
    first, second = Inspection("lint", "k1", "blob", {}), Inspection("page", "k2", "blob 2", {"a.png": "p"})
    do(store, *(lambda there, one=one: there.add_inspection(number, one) for one in (first, second)))
    do(store, lambda there: there.add_inspection(number, Inspection("lint", "k1", "another", {})))
    assert store.inspections(number) == [first, second]
    assert {"blob", "blob 2", "p"} <= store.referenced()


@pytest.mark.parametrize("text", ["naïve 🦉 «ok»", LONE, "nul \0 inside", "' OR 1=1; --"])
def test_text_of_any_kind_is_kept_or_escaped(store, text):
    number = add_run(store, cell(prompts=(text,)), outcome="failed", reason=text)
    escaped = text.encode("utf-8", "backslashreplace").decode()
    assert store.attempt(number)[0].reason == escaped
    assert store.prompts(store.cells()[0].id) == (text,)
    add_scores(store, number, cell(), [score(kind="error", reason=text, detail={"said": text})])
    (back,) = store.scores(number)
    assert back.reason == escaped and back.detail == {"said": text}
    do(store, lambda there: there.add_label(number, "", text, 1.0, text))
    assert store.labels()[0].person == escaped


def test_costs_are_the_newest_known_ones(store):
    for episode in range(1, 5):
        add_run(store, cell(), episode)
    do(store, lambda there: there.add_attempt(run(cell(), 5), 1, 1, replace(attempt(), usage=Usage(1.0)), ""))
    dear = replace(attempt(), usage=Usage(1.0, cost_usd=2.0))
    do(store, lambda there: there.add_attempt(run(cell(), 6), 1, 1, dear, ""))
    assert store.run_costs(("writer", "m1", "none"), 3) == [2.0, 0.25, 0.25]
    assert store.run_costs(("nobody", "m1", "none"), 3) == []


# -- scores


def test_scores_come_back_in_order_and_a_sample_is_stored_once(store):
    number = add_run(store, cell())
    add_scores(store, number, cell(), FULL)
    add_scores(store, number, cell(), [score(sample=2, value=0.75, detail={"cost_usd": 0.1, "calls": 1})])
    assert store.scores(number) == [*FULL, score(sample=2, value=0.75, detail={"cost_usd": 0.1, "calls": 1})]
    with pytest.raises(Exception):  # noqa: B017 - whatever the database says
        add_scores(store, number, cell(), [score(sample=2, value=0.1)])
    assert len(store.scores(number)) == 4
    values = store.score_values(store.cells()[0].id)
    assert sorted((value.metric_key, value.judge_key, value.value) for value in values) == [
        *[("c1", "a1", 0.5), ("c1", "a1", 0.75), ("c1", "b1", 1.0), ("s1", "", 0.25)]
    ]


def test_replies_of_judges_are_kept_until_what_they_lead_to_is_stored(store):
    number = add_run(store, cell())
    judged = score(sample=1, value=0.5)
    about, scope = reply_place(number, judged.metric_key, judged.judge_key, 1)
    said = [JudgeReply(scope, "q", step, {"answer": str(step)}) for step in (0, 1)]
    other = JudgeReply("another score", "q", 0, {})
    do(store, *[lambda there, reply=reply: there.add_reply(about, reply) for reply in (*said, other)])
    do(store, lambda there: there.add_reply(about, JudgeReply(scope, "q", 0, {"answer": "another"})))
    assert sorted(store.replies(about)) == sorted([*said, other])
    assert store.replies("attempt:0") == []
    add_scores(store, number, cell(), [judged])
    assert store.replies(about) == [other]
    do(store, lambda there: there.add_reply(about, said[0]))
    assert sorted(store.reply_places()) == sorted([(about, scope, 1), (about, other.scope, 1)])
    do(store, lambda there: there.drop_replies(about, scope))
    assert store.replies(about) == [other]
    do(store, lambda there: there.drop_replies(about))
    assert store.replies(about) == []


def test_a_call_that_came_to_its_end_has_nothing_left_to_continue(store):
    number = add_run(store, cell())
    words = {"words": "all", "samples": "all"}
    (call,) = do(store, lambda there: there.add_call(words, 1))
    identity = do(store, lambda there: there.add_cell(cell()))[0]
    layout = do(store, lambda there: there.add_layout(LAYOUT))[0]
    do(store, lambda there: there.add_scores(number, identity, call, [score(sample=9)], layout, None))
    assert store.scored_before_end("all", "all") == {number: {(score().metric_key, score().judge_key)}}
    assert store.scored_before_end("some", "all") == store.scored_before_end("all", "unanswered") == {}
    do(store, lambda there: there.add_end(call))
    assert store.scored_before_end("all", "all") == {}


def test_a_layout_is_stored_once(store):
    first, again = do(store, *[lambda there: there.add_layout(LAYOUT)] * 2)
    (other,) = do(store, lambda there: there.add_layout(replace(LAYOUT, key="other")))
    assert first == again != other


def test_tables_of_scores_are_read_by_layout_and_cell(store):
    a = [add_run(store, cell("a"), episode) for episode in (1, 2)]
    (b,) = [add_run(store, cell("b"))]
    for number, eval_ in ((a[0], "a"), (a[1], "a"), (b, "b")):
        add_scores(store, number, cell(eval_), FULL)
    of_a, of_b = (known.id for known in store.cells())
    tables = store.score_tables(LAYOUT, [of_a])
    assert sorted(tables.attempts.tolist()) == a and set(tables.cells.tolist()) == {of_a}
    assert tables.S.shape == (2, 2, 2)
    assert tables.S[0].tolist() == [[0.5, 0.25], [1.0, 0.25]]
    assert sorted(store.score_tables(LAYOUT, [of_a, of_b]).attempts.tolist()) == [*a, b]
    nothing = store.score_tables(replace(LAYOUT, key="unknown"), [of_a])
    assert nothing.S.shape == (0, 2, 2) and not len(nothing.attempts)
    assert not len(store.score_tables(LAYOUT, []).attempts)


def test_a_table_is_replaced_when_a_run_is_scored_again(place):
    with place.open() as store:
        number = add_run(store, cell())
        add_scores(store, number, cell(), FULL)
    with place.open() as store:
        (known,) = store.cells()
        assert store.score_tables(LAYOUT, [known.id]).S[0, 0, 0] == 0.5
        add_scores(store, number, cell(), [score(sample=2, value=1.0)])
        tables = store.score_tables(LAYOUT, [known.id])
        assert len(tables.attempts) == 1
        assert tables.S[0, 0, 0] == 1.0 and isnan(tables.S[0, 1, 0])
    with place.open(write=False) as store:
        assert store.score_tables(LAYOUT, [known.id]).S[0, 0, 0] == 1.0


def constant_table(value):
    return np.full(LAYOUT.shape, value).astype("<f8").tobytes()


def test_many_tables_are_the_same_after_opening_again_and_after_more(place):
    def add_many(there):
        there.add_call("all", 1)
        layout, numbers = there.add_layout(LAYOUT), {}
        for episode in range(1, 2101):
            cell_ = cell(f"e{episode % 3}")
            id_ = there.add_cell(cell_)
            number = there.add_attempt(run(cell_, episode), id_, 1, attempt(), "")
            there.add_scores(number, id_, 1, (), layout, constant_table(number / 3000))
            numbers[number] = id_
        return numbers

    def read(store, cells):
        tables = store.score_tables(LAYOUT, cells)
        rows = zip(tables.attempts.tolist(), tables.cells.tolist(), tables.S.tolist(), strict=True)
        return {attempt: (cell_, S) for attempt, cell_, S in rows}

    with place.open() as store:
        (numbers,) = do(store, add_many)
        expected = {number: (id_, [[number / 3000] * 2] * 2) for number, id_ in numbers.items()}
        cells = [known.id for known in store.cells()]
        assert read(store, cells) == expected
    changed = next(iter(numbers))
    with place.open() as store:
        assert read(store, cells) == expected
        assert read(store, cells[:1]) == {n: row for n, row in expected.items() if row[0] == cells[0]}
        table = constant_table(1.0)
        do(store, lambda there: there.add_scores(changed, numbers[changed], 1, FULL, there.add_layout(LAYOUT), table))
        expected[changed] = numbers[changed], [[1.0, 1.0], [1.0, 1.0]]
        assert read(store, cells) == expected
    with place.open(write=False) as store:
        assert read(store, cells) == expected
        assert store.integrity() == []


def test_runs_scored_bit_by_bit_are_put_together(store):
    whole, parts, lacking = (add_run(store, cell(), episode) for episode in (1, 2, 3))
    add_scores(store, whole, cell(), FULL)
    add_scores(store, parts, cell(), FULL[:2], table=False)
    add_scores(store, parts, cell(), FULL[2:], table=False)
    add_scores(store, lacking, cell(), FULL[:1], table=False)
    (known,) = store.cells()
    tables = score_tables(store, LAYOUT, {known.id: 3})
    assert sorted(tables.attempts.tolist()) == [whole, parts, lacking]
    assert tables.incomplete == {lacking}
    by_attempt = dict(zip(tables.attempts.tolist(), tables.S, strict=True))
    assert by_attempt[parts].tolist() == by_attempt[whole].tolist()
    assert np.isnan(by_attempt[lacking]).tolist() == [[False, True], [True, True]]
    assert score_tables(store, LAYOUT, {known.id: 1}, {whole}).attempts.tolist() == [whole]
    assert score_tables(store, LAYOUT, {known.id: 1}, {parts}).attempts.tolist() == [parts]


def test_the_newest_sample_says_whether_there_is_a_score(store):
    number = add_run(store, cell())
    add_scores(store, number, cell(), [score(kind="abstained", reason="Asleep."), score(judge="bert", kind="error")])
    add_scores(store, number, cell(), [score(sample=2), score(judge="bert", sample=2, kind="error", reason="Down.")])
    (unscored,) = store.unscored()
    assert (unscored.attempt, unscored.judge, unscored.kind, unscored.reason) == (number, "bert", "error", "Down.")
    assert (unscored.metric, unscored.metric_key, unscored.judge_key) == ("clarity", "c1", "b1")
    answers = {answer.judge: answer for answer in store.answers([number])}
    assert answers["anna"].is_scored and not answers["bert"].is_scored
    assert answers["bert"].reason in ("error", "Down.")
    assert store.answers([]) == []


def test_an_alarm_counts_until_a_newer_sample_raises_none(store):
    number = add_run(store, cell())
    add_scores(store, number, cell(), [score(detail={"alarm": "moved"}), score(judge="bert", detail={"alarm": "x"})])
    assert {alarm.judge for alarm in store.alarmed()} == {"anna", "bert"}
    add_scores(store, number, cell(), [score(sample=2, detail={"fine": True})])
    assert [alarm.judge for alarm in store.alarmed()] == ["bert"]


def test_what_verdicts_cost(store):
    nothing = store.verdict_costs()
    assert (nothing.total, nothing.verdicts, nothing.asked_models) == (0.0, 0, False)
    number = add_run(store, cell())
    paid = {"cost_usd": 0.5, "calls": 1}
    add_scores(store, number, cell(), [score(detail=paid), score(judge="bert"), score("speed", "", detail=paid)])
    costs = store.verdict_costs()
    assert (costs.total, costs.priced, costs.verdicts, costs.looks, costs.asked_models) == (0.5, 1, 2, 2, True)
    assert store.judge_costs("a1", 5) == [0.5] and store.judge_costs("b1", 5) == []


# -- calls of models


def call(number=1, **more):
    made = {"status": 200, "served_model": "m1", "host": "h", "output_tokens": 10, "cost_usd": 0.1, "seconds": 2.0}
    return ModelCall(number, 1, "openai", "m1", 1.8e9 + number, **{**made, **more})


def test_calls_come_back_as_they_were(store):
    calls = (call(1, stream=True, first_token=0.5), call(2, findings=(CallIssue("empty", LONE),), reasoning_back=False))
    number = add_run(store, cell(), calls=calls)
    back = store.calls(number)
    assert back[0] == calls[0]
    assert back[1].findings[0].kind == "empty" and back[1].reasoning_back is False
    assert store.calls(number + 1) == []


def test_calls_of_an_endpoint_are_counted(store):
    other = CallIssue("agent asked for another model", "m2")
    calls = (
        call(1, stream=True, first_token=0.5, tool_calls=2, tries=3, cost_source="prices"),
        call(2, status=500, trouble="down", output_tokens=None, cost_usd=None),
        call(3, served_model="m9", findings=(CallIssue("another model", "m9"),)),
        replace(call(4, findings=(other,)), asked_model="m2"),
        call(5, left=True),
    )
    add_run(store, cell(), calls=calls)
    (known,) = store.cells()
    assert store.other_model_calls() == [OtherModelCalls(known.id, "m2", 1)]
    assert store.mismatches(1, ANY_EPISODE) == [Mismatch(known.id, True, False)]
    assert store.mismatches(2, 5) == []
    own = CallFilter("m1", [known.id])
    totals = store.call_totals(own)
    assert totals.cells == (known.id,) and totals.cost_sources == ("prices",)
    sums = totals.sums
    assert (sums["calls"], sums["answered"], sums["left"], sums["failing"]) == (4, 2, 1, 2)
    assert (sums["runs"], sums["retries"], sums["tool_calls"]) == (1, 2, 2)
    assert totals.failures == ((500, False, 1),)
    assert set(totals.answers) == {("m1", "h", 1), ("m9", "h", 1)}
    assert totals.findings == (("another model", "m9", 1),)
    assert totals.speeds == ((0.5, 10 / 1.5),)
    failing = list(store.failing_calls(own))
    assert [(one.number, one.status, one.trouble, one.attempt, one.is_last) for one in failing] == [
        *[(2, 500, "down", 1, True), (3, 200, None, 1, True)]
    ]
    assert failing[1].findings == (("another model", "m9"),)
    asked = store.call_totals(CallFilter("m2", [], [known.id]))
    assert asked.sums["calls"] == 1
    assert store.call_totals(CallFilter("m1", [])).sums["calls"] == 0


def test_a_failing_call_tells_which_attempt_it_was_of(store):
    add_run(store, cell(), outcome="errored", calls=(call(1, status=None, trouble="no route"),))
    add_run(store, cell(), calls=(call(1),))
    (failing,) = store.failing_calls(CallFilter("m1", [store.cells()[0].id]))
    assert (failing.attempt, failing.is_last, failing.run) == (1, False, run(cell()).key)


# -- trust


def test_certificates_and_calibrations_come_newest_first(store):
    first = do(store, lambda there: there.add_trust("certificate", {"state": "refused"}))[0]
    do(store, lambda there: there.add_trust("calibration", {"maps": []}))
    last = do(store, lambda there: there.add_trust("certificate", {"state": "certified", "said": LONE}))[0]
    records = store.trust("certificate")
    assert [record.id for record in records] == [last, first]
    assert records[0].content == {"state": "certified", "said": LONE} and records[0].made >= records[1].made > 1e9
    assert store.trust("nothing") == []


def test_labels_are_all_kept_in_order(store):
    number = add_run(store, cell())
    do(store, lambda there: there.add_label(number, "clarity", "zoë", 0.4, "a note", "drawn"))
    do(store, lambda there: there.add_label(number, "clarity", "zoë", 0.6))
    assert [tuple(label) for label in store.labels()] == [
        (number, run(cell()).key, "clarity", "zoë", 0.4, "drawn"),
        (number, run(cell()).key, "clarity", "zoë", 0.6, None),
    ]


# -- the whole store


def test_all_runs_and_scores_can_be_exported(store):
    number = add_run(store, cell(), outcome="failed", reason="gave up")
    add_scores(store, number, cell(), FULL)
    names, chunks = store.export("runs")
    (row,) = [dict(zip(names, row, strict=True)) for chunk in chunks for row in chunk]
    assert (row["run"], row["agent"], row["episode"], row["outcome"]) == (run(cell()).key, "writer", 1, "failed")
    assert (row["reason"], row["seconds"], row["cost_usd"]) == ("gave up", 1.5, 0.25)
    names, chunks = store.export("scores")
    rows = [dict(zip(names, row, strict=True)) for chunk in chunks for row in chunk]
    assert [(row["metric"], row["judge"], row["value"]) for row in rows] == [
        *[("clarity", "anna", 0.5), ("clarity", "bert", 1.0), ("speed", "", 0.25)]
    ]


def whole_cell(key, version="1.0"):
    """A cell with all that its identity is made of."""
    agent = Agent("writer", Path("a.py"), "project", "digest", "", {}, command=print)
    eval_ = Eval("greet", Path("e.md"), "project", "d", "s", "c", "", ("Say hello.",), workspace_digest="w")
    return Cell(key, agent, version, "none", "m1", "m1-id", eval_, {"run.py": "hash"})


def test_cells_that_a_command_asks_for_come_before_others(store):
    first, second = whole_cell("first"), whole_cell("second")
    for one in (first, second, first):
        do(store, lambda there, one=one: there.add_planned([one]))
        newest = max(store.cells(), key=lambda cell: cell.planned)
        assert newest.key == one.key
    made_of = json.loads(newest.made_of)
    assert (made_of["files"], made_of["agent"], made_of["workspace"]) == ({"run.py": "hash"}, "digest", "w")


def test_exports_and_times_can_be_of_some_cells(store):
    add_run(store, cell())
    add_run(store, cell("shop"))
    ids = {one.eval: one.id for one in store.cells()}
    names, chunks = store.export("runs", [ids["shop"]])
    assert [dict(zip(names, row, strict=True))["eval"] for chunk in chunks for row in chunk] == ["shop"]
    assert store.started([ids["greet"]]) == {ids["greet"]: (1.8e9, 1.8e9)}


def test_dropped_runs_are_gone_with_all_that_is_known_of_them(store):
    kept, dropped = add_run(store, cell()), add_run(store, cell(), 2)
    alone = add_run(store, cell("shop"))
    for number, one in ((kept, cell()), (dropped, cell()), (alone, cell("shop"))):
        add_scores(store, number, one, FULL)
        do(store, lambda there, number=number: there.add_label(number, "", "me", 0.5))
        do(store, lambda there, number=number: there.add_reply(f"attempt:{number}", JudgeReply("s", "q", 0, {})))
    do(store, lambda there: there.drop_runs([run(cell(), 2).key, run(cell("shop")).key]))
    assert [one.key for one in store.runs()] == [run(cell()).key]
    assert [one.names[3] for one in store.cells()] == ["greet"]
    assert [label.attempt for label in store.labels()] == [kept]
    assert {about for about, *_ in store.reply_places()} <= {f"attempt:{kept}"}
    assert store.score_tables(LAYOUT, [one.id for one in store.cells()]).attempts.tolist() == [kept]
    assert store.counts(1, ANY_EPISODE)[store.cells()[0].id].runs == 1
    assert store.integrity() == []
    assert add_run(store, cell(), 2) not in (kept, None)


def test_integrity_names_a_blob_that_is_missing(store):
    with store.blobs.batch() as batch:
        steps = batch.put(b"[]")
    add_run(store, cell(), steps=steps)
    assert store.integrity() == [] and store.referenced() == {steps}
    add_run(store, cell(), 2, steps="0" * 64)
    (wrong,) = store.integrity()
    assert "000000000000" in wrong


# -- blobs


def put(blobs, *contents):
    with blobs.batch() as batch:
        return [batch.put(content) for content in contents]


def test_a_blob_has_the_hash_of_its_content_as_its_key(kept):
    (key,) = put(kept.open(), b"hello")
    assert key == hashlib.sha256(b"hello").hexdigest()
    assert kept.open().get(key) == b"hello"


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100, os.urandom(1000), b"line\n" * 1_500_000],
    ids=["nothing", "zeros", "noise", "lines"],
)
def test_every_kind_of_content_comes_back(kept, content, tmp_path):
    (key,) = put(kept.open(), content)
    blobs = kept.open()
    assert blobs.get(key) == content == b"".join(blobs.stream(key))
    with open(tmp_path / "out", "wb") as out:
        blobs.write_to(key, out.fileno())
    assert (tmp_path / "out").read_bytes() == content
    assert blobs.has(key) and blobs.verify(key)


def test_files_are_put_as_their_content(kept, tmp_path):
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"small")
    large.write_bytes(os.urandom(5 << 20))
    blobs = kept.open()
    with blobs.batch() as batch:
        keys = [batch.put_file(small), batch.put_file(large)]
        with open(large, "rb") as file:
            assert batch.put_fd(file.fileno(), large.stat().st_size) == keys[1]
    assert [blobs.get(key) for key in keys] == [small.read_bytes(), large.read_bytes()]
    (tmp_path / "link").symlink_to(small)
    with closing_batch(blobs) as batch, pytest.raises(OSError):
        batch.put_file(tmp_path / "link")
    with closing_batch(blobs) as batch, pytest.raises(OSError):
        batch.put_file(tmp_path)


def closing_batch(blobs):
    batch = blobs.batch()
    return closing(SimpleNamespace(close=batch.drop, put_file=batch.put_file))


def test_the_same_content_is_kept_once(kept):
    blobs = kept.open()
    assert len(set(put(blobs, b"a", b"a", b"b"))) == 2
    size = sum(size for _, size in blobs.unreferenced(()))
    put(kept.open(), b"a")
    assert sum(size for _, size in blobs.unreferenced(())) == size


def test_what_is_not_synced_is_not_there(kept):
    blobs = kept.open()
    batch = blobs.batch()
    key = batch.put(b"dropped")
    batch.drop()
    assert not blobs.has(key) and not kept.open().verify(key)
    with pytest.raises(RuntimeError), blobs.batch() as batch:
        batch.put(b"dropped")
        raise RuntimeError
    assert not kept.open().has(key) and not list(blobs.unreferenced(()))


@pytest.mark.parametrize("hurt", ["damage", "lose"])
def test_a_missing_or_damaged_blob_is_an_error_and_can_be_put_again(kept, hurt, tmp_path):
    key, other = put(kept.open(), b"precious" * 100, b"other")
    getattr(kept, hurt)(key)
    blobs = kept.open()
    assert not blobs.has(key) and not blobs.verify(key) and blobs.verify(other)
    for read in (lambda: blobs.get(key), lambda: list(blobs.stream(key)), lambda: blobs.write_to(key, 1 << 20)):
        with pytest.raises((StoreError, OSError)):
            read()
    with pytest.raises(StoreError, match=key[:12]):
        blobs.get(key)
    put(blobs, b"precious" * 100)
    assert kept.open().get(key) == b"precious" * 100


def test_an_unknown_key_is_an_error(kept):
    with pytest.raises(StoreError, match="0123"):
        kept.open().get("0123" * 16)
    assert not kept.open().has("0123" * 16)


def test_what_nothing_refers_to_can_be_deleted(kept):
    blobs = kept.open()
    wanted, unwanted = put(blobs, b"wanted", b"unwanted")
    ((name, size),) = blobs.unreferenced({wanted})
    assert size > 0
    blobs.delete(name)
    assert not list(blobs.unreferenced({wanted}))
    assert kept.open().has(wanted) and not kept.open().has(unwanted) and not blobs.has(unwanted)
    put(blobs, b"unwanted")
    assert kept.open().get(unwanted) == b"unwanted"


def test_many_threads_put_the_same_blobs(kept):
    contents = [bytes([i]) * 1000 for i in range(40)]
    threads = [Thread(target=put, args=(kept.open(), *contents)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    blobs = kept.open()
    assert all(blobs.get(hashlib.sha256(content).hexdigest()) == content for content in contents)
    assert len(list(blobs.unreferenced(()))) == len(contents)
