"""People score runs: blind, at a terminal or by file; and what comes of it for ratings and judges."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
from contextlib import closing
from functools import partial
from math import isnan
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.labelling import LEVELS, NAMES, runs_of, stored, terminal
from orvl.capture.browser.result import Look, Shot
from orvl.cli.label import command
from orvl.errors import UserError
from orvl.project import open_project
from orvl.rate.board import MetricRow, Row
from orvl.rate.stats.people import people_mean
from orvl.report.trust_text import people_json, people_sentences
from orvl.store.sqlite import SqliteStore
from orvl.trust.labelling import blind
from orvl.trust.labels import Asked, Judged
from orvl.trust.people import _corrected, people
from orvl.types import Inspection

MADE_ONCE = ("judged_once",)


def asked(project, *words):
    """The queue that `--json` writes, without a process for it."""
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("orvl.cli.label.JsonOut", lambda: SimpleNamespace(write=told.append))
        label(project, "--json", *words)
    return told[0]["queue"]


def label(project, *words):
    assert command.main([*words, f"--project={project.root}"], standalone_mode=False) == 0


def refused(project, *words):
    """The sentence with which a call is refused; nothing is stored."""
    with pytest.raises(UserError) as error:
        command.main([*words, f"--project={project.root}"], standalone_mode=False)
    assert stored(project) == []
    assert "\n" not in str(error.value)
    return str(error.value)


def report(project, *words):
    """What `--report --json` writes, without a process for it."""
    found = said_by_people(project, *words)
    return json.loads(json.dumps(people_json(found), allow_nan=False)) if found else None


def reported(project):
    return "\n".join(people_sentences(said_by_people(project)))


def said_by_people(project, *judges):
    with closing(SqliteStore(project.root / ".orvl", write=False)) as store:
        return people(open_project(project.root), store, lambda _: True, judges)


# -- what is to be labelled


def test_the_queue_is_blind_and_says_what_is_asked(judged):
    done = judged.orvl("label", "--json", "--person=ann")
    assert not [name for name in (*NAMES, "none") if name in done.out]
    assert done.json["person"] == "ann"
    assert {one["eval"] for one in done.json["queue"]} == {f"e{level}" for level in LEVELS}
    tidy, worth = done.json["queue"][0]["asked"]
    assert tidy == {"metric": "tidy", "question": "Is it tidy?", "items": ["It is short.", "It is named well."]}
    assert worth == {"metric": "worth", "question": "What is it worth?", "items": []}


def test_the_most_divided_comes_first_and_every_second_is_drawn(judged):
    queue = asked(judged)
    # On tidy the judges are a quarter apart on every run, and on worth a tenth for each level.
    divided = [max(int(one["eval"][1]), 2) for one in queue if not one["drawn"]]
    assert divided == sorted(divided, reverse=True)
    assert queue[0]["eval"] == "e5"
    assert [one["drawn"] for one in queue[:3]] == [False, True, False]
    drawn = [one["run"] for one in queue if one["drawn"]]
    assert drawn == sorted(drawn)
    assert len({one["run"] for one in queue}) == 10
    at_random = asked(judged, "--random")
    assert [one["run"] for one in at_random] == sorted(one["run"] for one in queue)
    assert all(one["drawn"] for one in at_random)


def test_runs_of_all_contestants_are_among_the_first(judged):
    agents = {key: agent for key, agent, _ in runs_of(judged)}
    picked = [agents[one["run"]] for one in asked(judged) if not one["drawn"]]
    assert set(picked[:2]) == {"alpha-agent", "beta-agent"}


def test_words_choose_runs_and_metrics(judged):
    queue = asked(judged, "beta-agent", "all", "all", "e1,e2", "worth,files")
    assert {one["eval"] for one in queue} == {"e1", "e2"}
    assert len(queue) == 2
    assert [one["metric"] for one in queue[0]["asked"]] == ["files", "worth"]
    assert asked(judged, "--whole")[0]["asked"] == [{"metric": "", "question": "How good is the whole?", "items": []}]
    assert "Did you mean 'beta-agent'" in refused(judged, "beta-agnt", "--report")


def test_without_judges_the_whole_run_is_asked_for(judged):
    judged.write("orvl.toml", "")
    judged.eval("e1", "---\nmetrics: {files: 1}\n---\nDo level 1.\n")
    assert judged.orvl("score", "all", "--eval=e1").status == 0
    queue = asked(judged, "--eval=e1")
    assert [one["asked"][0]["metric"] for one in queue] == ["", ""]


# -- one label, and files of them


def test_one_label(judged):
    key = runs_of(judged)[0][0]
    done = judged.orvl("label", "--run", key[:9], "--metric=tidy", "--score=0.8", "--person=ann", "--note=well done")
    assert (done.status, done.out) == (0, f"Stored: 0.8 for tidy of the run {key[:12]}, by ann.\n")
    assert judged.orvl("label", "--run", key, "--score", "1", env={"LOGNAME": "bob"}).status == 0
    assert stored(judged) == [("tidy", "ann", 0.8, "well done"), ("", "bob", 1.0, None)]


def test_a_person_is_not_asked_again_and_a_run_without_labels_comes_before(judged):
    first = asked(judged, "--person=ann")[0]
    for metric in ("tidy", "worth"):
        label(judged, "--run", first["run"], f"--metric={metric}", "--score=1", "--person=ann")
    assert first["run"] not in [one["run"] for one in asked(judged, "--person=ann")]
    picked = [one["run"] for one in asked(judged, "--person=bob") if not one["drawn"]]
    assert first["run"] not in picked[:2]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--run", "KEY", "--metric=tdy", "--score=1"], "There is no metric 'tdy'. Did you mean 'tidy'?"),
        (["--run", "KEY", "--score=1.5"], "The score is '1.5'; it must be a number from 0 to 1."),
        (["--run", "KEY", "--score=nan"], "it must be a number from 0 to 1"),
        (["--run", "KEY", "--score=good"], "it must be a number from 0 to 1"),
        (["--run", "KEYx", "--score=1"], "Did you mean '"),
        (["--run", "", "--score=1"], "There is no run ''"),
        (["--run", "KEY"], "Give a score from 0 to 1"),
        (["--score=1"], "need a run: --run RUN"),
        (["alpha-agent", "--run", "KEY", "--score=1"], "leave out the agent"),
        (["--run", "KEY", "--score=1", "--report"], "exclude each other"),
        (["--run", "KEY", "--score=1", "--person= "], "Who labels?"),
        (["--import", "no-such-file"], "Cannot read no-such-file"),
    ],
)
def test_a_wrong_call_is_one_sentence(judged, words, sentence):
    key = runs_of(judged)[3][0][:10]
    assert sentence in refused(judged, *(word.replace("KEY", key) for word in words))


def test_a_wrong_call_ends_with_status_2(judged):
    done = judged.orvl("label", "--run", "x", "--score=1")
    assert (done.status, done.out) == (2, "")
    assert done.err == "orvl: There is no run 'x' in the store. See: orvl report --by run --json\n"


def test_files_of_labels(judged):
    keys = [key for key, _, _ in runs_of(judged)]
    rows = [f"{key[:12]},worth,0.{place},ann" for place, key in enumerate(keys)]
    judged.write("labels.csv", "run,metric,score,person\n" + "\n".join(rows) + "\n")
    done = judged.orvl("label", "--import", "labels.csv")
    assert (done.status, done.out) == (0, "10 labels stored. See what they say: orvl label --report\n")
    lines = [{"run": key, "score": 1, "person": "bob", "note": "ü", "drawn": True} for key in keys]
    judged.write("labels.jsonl", "\n".join(map(json.dumps, lines)))
    assert judged.orvl("label", "--import", "labels.jsonl", "--json").json == {"schema": 1, "stored": 10}
    assert stored(judged)[0] == ("worth", "ann", 0.0, None)
    assert stored(judged)[-1] == ("", "bob", 1.0, "ü")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("run,metric,score\nKEY,tidy,1\nKEY,tidy,2\n", "labels:3: The score is '2'; it must be a number from 0 to 1."),
        ("run,metric,score\nKEY,tidy,1\nKEY,tiny,1\n", "labels:3: There is no metric 'tiny'. Did you mean 'tidy'?"),
        ("run,metric,score\nKEY,tidy\n", "labels:2: The score is None"),
        ("run,metric,score,drawn\nKEY,tidy,1,maybe\n", "labels:2: 'drawn' is 'maybe'"),
        ("key,score\nKEY,1\n", "labels:1: there is no column 'run'"),
        ('{"run": "KEY", "score": true}', "labels:1: The score is True"),
        ('{"run": "KEY", "score": 1}\n{"run": 3, "score": 1}', "labels:2: 'run' is 3; it must be a text."),
        ('{"run": "KEY", "score": 1}\n[]', "labels:2: a line is an object"),
        ('{"run": "KEY"', "labels:1: this is not JSON"),
        ("", "there is no column 'run'"),
        ("run,score\n", "holds no label"),
        ("run,score,note\nKEY,1,short, but cryptic\n", "labels:2: there are more values than columns"),
        ('[{"run": "KEY", "score": 1}]', "labels:1: a line is an object"),
    ],
)
def test_a_file_is_stored_whole_or_not_at_all(judged, text, sentence):
    file = judged.write("labels", text.replace("KEY", runs_of(judged)[0][0]))
    assert sentence in refused(judged, "--import", str(file))


def test_a_file_that_is_no_text_is_one_sentence(judged):
    file = judged.root / "labels.csv"
    file.write_bytes(b"run,score\n\xff,1\n")
    assert refused(judged, "--import", str(file)) == f"Cannot read {file}: it is not UTF-8 text."
    assert "Errno" not in refused(judged, "--import", str(judged.root))


def test_blanks_make_no_other_person(judged):
    key = runs_of(judged)[0][0]
    judged.write("labels.csv", f"run,score,person\n{key},0.1,ann\n{key},0.2, ann \n{key},0.3,  \n")
    label(judged, "--import", str(judged.root / "labels.csv"), "--person=bob")
    assert [person for _, person, _, _ in stored(judged)] == ["ann", "ann", "bob"]


def test_a_line_says_itself_whether_it_was_drawn(judged):
    keys = [key for key, _, _ in runs_of(judged)]
    import_labels(judged, [{"run": keys[0], "score": 1}, {"run": keys[1], "score": 1, "drawn": False}], "--random")
    judged.write("labels.csv", f"run,score,drawn\n{keys[2]},1,\n{keys[3]},1,no\n")
    label(judged, "--import", str(judged.root / "labels.csv"), "--random")
    assert [drawn for _, _, _, drawn in stored(judged)] == ["drawn at random", None, "drawn at random", None]


# -- what comes of it


def import_labels(project, rows, *words):
    project.write("labels.jsonl", "\n".join(map(json.dumps, rows)))
    label(project, "--import", str(project.root / "labels.jsonl"), *words)


def test_without_labels_and_with_one(judged, capsys):
    assert report(judged) is None
    label(judged, "--report")
    assert capsys.readouterr().out == "No labels yet. Start with: orvl label\n"
    key = runs_of(judged)[0][0]
    label(judged, "--run", key, "--score=1", "--random")
    done = judged.orvl("label", "--report")
    assert done.status == 0
    assert re.search(r"R: rated 0\.\d+ over 10 runs; people say 1\.000 on 1 run that is rated 0\.", done.out)
    assert "There is 1 label on a judged run; at least 2 are needed." in done.out


def test_labels_correct_the_means_and_measure_the_judges(judged):
    runs = runs_of(judged)
    kind = {key: 0.9 - (1 if agent == "alpha-agent" else 2) / 10 for key, agent, _ in runs}
    harsh = {key: kind[key] - 0.1 * int(one[1]) for key, _, one in runs}
    panel = {key: (kind[key] + harsh[key]) / 2 for key in kind}
    people = {key: panel[key] - 0.1 + 0.02 * (place % 3) for place, (key, _, _) in enumerate(runs)}
    labelled = [key for key, _, _ in runs][:6]
    rows = [{"run": key, "metric": "worth", "score": people[key], "person": "ann"} for key in labelled]
    import_labels(judged, rows, "--random")
    evals = {key: one for key, _, one in runs}
    others = [key for key in panel if key not in labelled]
    expected = people_mean(
        [people[key] for key in labelled],
        [panel[key] for key in labelled],
        [panel[key] for key in others],
        evals_of_labelled=[evals[key] for key in labelled],
        evals_of_others=[evals[key] for key in others],
    )
    found = report(judged)
    pooled = found["corrected"][0]
    assert (pooled["metric"], pooled["contestant"], pooled["runs"], pooled["labelled"]) == ("worth", None, 10, 6)
    assert pooled["judged"] == pytest.approx(np.mean(list(panel.values())))
    assert pooled["mean"]["estimate"] == pytest.approx(expected.estimate)
    assert pooled["mean"]["low"] == pytest.approx(expected.low)
    assert pooled["mean"]["worth"] == pytest.approx(expected.worth)
    assert {tuple(one["contestant"]) for one in found["corrected"][1:]} <= {
        ("alpha-agent", "mega-model", "none"),
        ("beta-agent", "mega-model", "none"),
    }
    near = {one["judge"]: one for one in found["judges"]}
    away = [kind[key] - people[key] for key in labelled]
    assert near["kind"]["runs"] == 6
    assert near["kind"]["absolute_difference"] == pytest.approx(np.mean(np.abs(away)))
    assert near["kind"]["difference"] > near["harsh"]["difference"]
    told = reported(judged)
    assert re.search(
        r"worth: rated 0\.\d{3} over 10 runs; .* Corrected by 6 labels drawn at random: 0\.\d{3} \[0", told
    )
    assert "worth: the judge kind against people on 6 runs: 0." in told
    only = report(judged, "kind")
    assert {one["judge"] for one in only["judges"]} == {"kind"}
    assert only["corrected"][0]["judged"] == pytest.approx(np.mean(list(kind.values())))


def test_picked_labels_measure_judges_but_correct_nothing(judged):
    keys = [key for key, _, _ in runs_of(judged)]
    import_labels(judged, [{"run": key, "metric": "worth", "score": 0.5, "person": "ann"} for key in keys[:5]])
    found = report(judged)
    assert found["corrected"][0]["labelled"] == 5
    assert found["corrected"][0]["mean"]["estimate"] is None
    assert "picked, not drawn at random" in found["corrected"][0]["mean"]["why"]
    assert found["judges"][0]["runs"] == 5
    assert "orvl label --random" in reported(judged)


def test_a_rating_by_people_needs_all_that_judges_were_asked(judged):
    keys = [key for key, _, _ in runs_of(judged)]
    rows = [{"run": key, "metric": "tidy", "score": 0.4, "person": "ann"} for key in keys[:3]]
    import_labels(judged, rows, "--random")
    assert "R" not in [one["metric"] for one in report(judged)["corrected"]]
    rows = [{"run": key, "metric": "worth", "score": 0.6, "person": "ann"} for key in keys[:2]]
    rows += [{"run": keys[2], "metric": "", "score": 1.0, "person": "ann"}]
    import_labels(judged, rows, "--random")
    rating = next(one for one in report(judged)["corrected"] if one["metric"] == "R")
    assert rating["labelled"] == 3
    # tidy, worth and files weigh 1, 2 and 1; files is measured, and the third run has a label of the whole.
    assert rating["by_people"] == pytest.approx((2 * (0.4 + 2 * 0.6 + 0.5) / 4 + 1) / 3)


def test_two_persons_on_one_run_count_once_and_their_agreement_is_said(judged):
    keys = [key for key, _, _ in runs_of(judged)]
    rows = [{"run": key, "metric": "tidy", "score": 0.2, "person": "ann"} for key in keys[:3]]
    rows += [{"run": key, "metric": "tidy", "score": 0.6, "person": "bob"} for key in keys[:2]]
    rows += [{"run": keys[0], "metric": "tidy", "score": 0.4, "person": "ann"}]
    import_labels(judged, rows)
    found = report(judged)
    assert set(found["persons"]) == {"ann", "bob"}
    assert found["corrected"][0]["labelled"] == 3
    assert found["corrected"][0]["by_people"] == pytest.approx((0.5 + 0.4 + 0.2) / 3)
    (each,) = found["each_other"]
    assert (each["metric"], each["runs"]) == ("tidy", 2)
    assert each["absolute_difference"] == pytest.approx(0.3)
    assert "tidy: people against each other on 2 runs: 0.300 apart" in reported(judged)


def test_runs_that_were_picked_do_not_lean_the_corrected_mean():
    """Judges err most where they disagree; people label both kinds by turns, as the queue asks."""
    rng = np.random.default_rng(7)
    leans, covered, by_all = [], 0, []
    for _ in range(120):
        truth, spread = rng.uniform(0.2, 0.8, 120), rng.uniform(0, 0.4, 120)
        scores = np.clip(truth + 0.8 * spread - 0.1 + rng.normal(0, 0.05, 120), 0, 1)
        keys = [f"{key:08x}" for key in rng.permutation(120)]
        picked, edge = set(np.argsort(-spread)[:20]), sorted(keys)[24]
        runs = [
            Judged(i, keys[i], row_of(scores[i]), {"m": {"ann": truth[i]}} if i in picked or keys[i] <= edge else {})
            for i in range(120)
        ]
        found = _corrected("m", None, runs, {"m": edge})
        assert found.mean.labels == 25
        leans.append(found.mean.estimate - truth.mean())
        covered += found.mean.low <= truth.mean() <= found.mean.high
        by_all.append(found.by_people - found.by_judges_there + scores.mean() - truth.mean())
    assert abs(np.mean(leans)) < 0.01
    assert np.mean(by_all) < -0.04
    assert covered >= 0.9 * 120


def row_of(score):
    return Row("a", "m", "p", "e", metrics={"m": MetricRow(1.0, float(score), 0.0, {"j": float(score)}, 0, 0)})


def test_a_run_without_any_score_is_no_number():
    row = Row("a", "m", "p", "e", metrics={"m": MetricRow(1.0, None, None, {"j": None}, 1, 1)})
    run = Judged(1, "k", row, {"m": {"ann": 1.0}})
    assert isnan(run.by_people("R"))
    assert isnan(run.by_judges("m"))
    assert isnan(run.by_judge("j", "R"))


# -- at a terminal


def test_a_person_at_a_terminal_is_blind_and_every_answer_is_kept(judged):
    with terminal(judged, "--person=ann") as (process, say, drawn):
        seen = say(None, "It is short. [y/n/?]")
        assert "10 runs to label" in seen
        assert "a run of the eval e5" in seen
        assert "Do level 5." in seen
        assert "more lines: v shows all" in seen
        everything = say("v", "It is short. [y/n/?]")
        assert "hidden_name" in everything
        assert re.search(r"answer\.txt", everything)
        assert re.search(r"\b297\b", everything)
        assert "y is yes, n is no, ? cannot tell; b goes back" in say("m", "It is short. [y/n/?]")
        say("y", "It is named well. [y/n/?]")
        say("n", "What is it worth? [0 to 1]")
        assert stored(judged) == [("tidy", "ann", 0.75, "yes no")]
        assert "A number from 0" in say("7", "What is it worth? [0 to 1]")
        say("0.6", "It is short. [y/n/?]")
        say("?", "It is named well. [y/n/?]")
        assert "Every answer was ?" in say("?", "What is it worth? [0 to 1]")
        assert "3 of 10" in say("s", "It is short. [y/n/?]")
        assert "2 labels stored" in say("q", "--report")
        assert process.wait(timeout=60) == 0
    assert stored(judged) == [("tidy", "ann", 0.75, "yes no"), ("worth", "ann", 0.6, None)]
    text = "".join(drawn)
    assert not [name for name in NAMES if name.lower() in text.lower()]
    assert "\x1b" not in text
    assert "\\x1b[31mred" in text


def test_one_key_is_an_answer_and_b_takes_it_back(judged):
    with terminal(judged, "--person=ann", end="") as (process, say, drawn):
        say(None, "1. It is short. [y/n/?]")
        assert "There is no question before" in say("b", "1. It is short. [y/n/?]")
        say("y", "2. It is named well. [y/n/?]")
        say("b", "1. It is short. (was: yes) [y/n/?]")
        say("n", "2. It is named well. [y/n/?]")
        say("y", "What is it worth? [0 to 1]")
        assert stored(judged) == [("tidy", "ann", 0.25, "no yes")]
        assert "2 of 10" in say("0.55\b6\n", "1. It is short. [y/n/?]")
        seen = say("b", "What is it worth? [0 to 1]")
        assert "1 of 10" in seen, "the run before is shown again"
        say("b", "2. It is named well. (was: yes) [y/n/?]")
        say("n", "What is it worth? [0 to 1]")
        assert "2 of 10" in say("1\n", "1. It is short. [y/n/?]")
        assert "y is yes" in say("\x1b[B", "[y/n/?]"), "an arrow is no answer"
        assert "2 labels stored" in say("q", "--report")
        assert process.wait(timeout=60) == 0
    kept = [("tidy", 0.25), ("worth", 0.56), ("tidy", 0.0), ("worth", 1.0)]
    assert [(metric, value) for metric, _, value, _ in stored(judged)] == kept, "nothing is overwritten"
    queue = judged.orvl("label", "--person=ann", "--json").json["queue"]
    assert len(queue) == 9, "the newest label counts, and is asked for no more"
    assert "\x1b" not in "".join(drawn)


def test_a_terminal_is_given_back_as_it_was(judged):
    import termios

    with terminal(judged, "--person=ann", end="") as (process, say, _):
        before = termios.tcgetattr(say.fd)
        say(None, "[y/n/?]")
        assert termios.tcgetattr(say.fd)[3] & termios.ICANON == 0
        say("q", "--report")
        assert process.wait(timeout=60) == 0
        assert termios.tcgetattr(say.fd) == before


def test_answers_may_be_lines_where_there_is_no_terminal(judged):
    def label(lines):
        call = [*judged.command, "label", "--person=ann"]
        env = {**judged.env, "PAGER": "cat"}
        return subprocess.run(
            call, cwd=judged.root, env=env, input=lines, capture_output=True, text=True, timeout=60, check=False
        )

    done = label("")
    assert (done.returncode, done.stderr) == (0, "")
    assert "10 runs to label" in done.stdout and "0 labels stored" in done.stdout
    done = label("y\nb\nno\n\nyes\n0.5\nwhat\ns\ny\n")
    assert done.returncode == 0, done.stderr
    assert "(was: yes)" in done.stdout and "3 of 10" in done.stdout
    assert "2 labels stored" in done.stdout
    assert stored(judged) == [("tidy", "ann", 0.25, "no yes"), ("worth", "ann", 0.5, None)]


def test_what_a_person_sees_has_screenshots_and_no_names(judged, tmp_path):
    key, agent, one = runs_of(judged)[0]
    page = Look("done", shots=(Shot("desktop-light", "a.png", 1, 1, 4), Shot("other", "b.png", 1, 1, 4)))
    with closing(SqliteStore(judged.root / ".orvl", write=True)) as store:
        with store.blobs.batch() as batch:
            blob, picture = batch.put(json.dumps(page.as_json()).encode()), batch.put(b"\x89PNG")
        (number,) = store.rows("SELECT attempt.id FROM attempt JOIN run ON run.id = run WHERE key = ?", (key,))[0]
        found = Inspection("page", "k", blob, {"a.png": picture, "b.png": picture})
        store.transaction([lambda there: there.add_inspection(number, found)])
        asked = Asked(key, number, (agent, "mega-model", "none", one), ())
        run = blind(open_project(judged.root), store, asked, tmp_path / "scratch")
        assert [path.read_bytes() for path in run.screenshots] == [b"\x89PNG"]
        assert set(run.hidden_names) == {agent, "mega-model"}
        elsewhere = Asked(key, number, ("gone+terse", "m", "shop", one), ())
        names = blind(open_project(judged.root), store, elsewhere, tmp_path / "scratch").hidden_names
        assert {"gone", "terse", "gone+terse", "m", "shop"} == set(names)


def test_a_killed_session_loses_nothing_and_a_second_goes_on(judged):
    with terminal(judged, "--whole", "--random", "--person=ann") as (process, say, _):
        say(None, "[0 to 1]")
        say("0.3", "2 of 10")
        process.send_signal(signal.SIGKILL)
    assert stored(judged) == [("", "ann", 0.3, "drawn at random, in turn")]
    with terminal(judged, "--whole", "--random", "--person=ann") as (process, say, _):
        assert "9 runs to label" in say(None, "[0 to 1]")
        # Just before the line is waited for, Python takes note of a signal and waits all the same.
        interrupt = partial(os.kill, process.pid, signal.SIGINT)
        interrupt()
        assert "0 labels stored" in say(None, "--report", again=interrupt)
        assert process.wait(timeout=60) == 130
    done = judged.orvl("label", "--report")
    assert "There is 1 label" in done.out


def test_a_store_that_is_written_to_makes_nobody_lose_an_answer(judged):
    with (
        open(judged.root / ".orvl" / "lock", "r+") as lock,
        terminal(judged, "--whole", "--eval=e1", "--person=ann") as (process, say, _),
    ):
        say(None, "[0 to 1]")
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "is writing to" in say("0.3", "Enter tries again")
        fcntl.flock(lock, fcntl.LOCK_UN)
        say("", "[0 to 1]")
        assert stored(judged) == [("", "ann", 0.3, None)]
        say("1", "2 labels stored")
        assert process.wait(timeout=60) == 0
    with terminal(judged, "--whole", "--eval=e1", "--person=ann") as (_, say, _):
        assert "Nothing is left for ann to label" in say(None, "--report")
