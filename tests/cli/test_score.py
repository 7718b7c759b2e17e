"""Scores: a number or an error with its place, judges' answers in S, and the rating; never a number made up."""

from __future__ import annotations

import numpy as np
import pytest

from orvl import rate

AGENT = """
models = {"none": ["m"]}
def command():
    return ["sh", "-c", "echo changed > start.txt; mkdir -p d .git; echo 'print(1)' > d/a.py; echo g > .git/g; printf 'caf\\\\351' > latin; rm -f gone.txt"]
"""


@pytest.fixture
def scored(project):
    """An agent that leaves a few files, and a call that scores them with the metrics that are given."""
    project.agent("mine", AGENT)

    def score(metrics, *words, toml="", timeout=60, command=("mine",), checks="", status=None):
        for name, text in metrics.items():
            project.score(name, text)
        if toml:
            project.toml(toml)
        weights = ", ".join(f"{name}: 1" for name in metrics)
        project.write("evals/e/eval.md", f"---\nmetrics: {{{weights}}}\n{checks}---\nGo.\n")
        project.write("evals/e/workspace/start.txt", "start\n")
        project.write("evals/e/workspace/gone.txt", "gone\n")
        result = project.orvl(*command, "--eval=e", "--json", *words, timeout=timeout)
        assert "Traceback" not in result.err, result.err[-3000:]
        if status is not None:
            assert result.status == status, result.err
        return result

    return score


def mean(result, name="m"):
    return result.json["ratings"][0]["metrics"][name]["mean"]


# -- what a function may return


GOOD = {
    "0": 0.0,
    "1": 1.0,
    "0.25": 0.25,
    "True": 1.0,
    "False": 0.0,
    "-0.0": 0.0,
    "__import__('numpy').float64(0.5)": 0.5,
    "__import__('numpy').float32(0.5)": 0.5,
    "__import__('numpy').int64(1)": 1.0,
    "__import__('numpy').bool_(True)": 1.0,
    "__import__('fractions').Fraction(1, 4)": 0.25,
}


@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_a_number_from_0_to_1_is_the_score(scored, keyword):
    metrics = {f"m{i}": f"{keyword} score(run): return {returned}\n" for i, returned in enumerate(GOOD)}
    result = scored(metrics)
    means = [result.json["ratings"][0]["metrics"][name]["mean"] for name in metrics]
    assert dict(zip(GOOD, means, strict=True)) == GOOD
    assert result.json["warnings"] == []
    assert result.json["ratings"][0]["R"] == pytest.approx(sum(GOOD.values()) / len(GOOD))
    assert result.status == 0


BAD = {
    "nan": ("return float('nan')", "the score is nan"),
    "inf": ("return float('inf')", "the score is inf"),
    "above": ("return 1.0000001", "the score is 1.0000001; it must be a number from 0 to 1"),
    "below": ("return -0.01", "the score is -0.01"),
    "text": ("return '0.5'", "the score is '0.5'"),
    "list": ("return [0.5]", "the score is [0.5]"),
    "complex": ("return 1j", "the score is 1j"),
    "dict": ("return {}", "the score is {}"),
    "huge": ("return 10 ** 400", "m.py:2"),
    "too long to print": ("return 10 ** 9999", "m.py:2"),
    "unprintable": ("return type('T', (), {'__repr__': lambda self: 1 / 0})()", "m.py:2"),
    "array": ("import numpy; return numpy.array([0.1, 0.2])", "m.py:2"),
    "numpy nan": ("import numpy; return numpy.float64('nan')", "m.py:2"),
    "exception": ("x = 1\n    return x / 0", "m.py:4: ZeroDivisionError: division by zero."),
    "assertion": ("assert run.files == []", "m.py:3: AssertionError"),
    "no such file": ("return len(run.read('nope'))", "the run left no file 'nope'"),
    "next of nothing": ("return next(iter([]))", "StopIteration"),
    "its own timeout": ("raise TimeoutError('the socket was slow')", "the socket was slow"),
    "exit": ("import sys; sys.exit(0)", "SystemExit"),
    "interrupt": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "cancelled": ("import asyncio; raise asyncio.CancelledError", "CancelledError"),
    "not unicode": ("raise ValueError('bad \\udcff name')", "m.py:3: ValueError: bad"),
    "exception without text": ("raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()", "m.py"),
    "recursion": ("return score(run)", "m.py"),
}


RAISES = [
    kind
    for kind, (body, _) in BAD.items()
    if "raise" in body or kind in ("exit", "exception", "next of nothing", "recursion")
]


@pytest.mark.parametrize(
    ("kind", "keyword"), [*((kind, "def") for kind in BAD), *((kind, "async def") for kind in RAISES)]
)
def test_anything_else_is_an_error_with_its_place_and_never_a_number(scored, kind, keyword):
    body, words = BAD[kind]
    if kind == "recursion" and keyword == "async def":
        body = "return await score(run)"
    result = scored(
        {"m": f"import os\n{keyword} score(run):\n    {body}\n", "good": "def score(run): return 0.5\n"},
        toml="limits.score = 5",
        timeout=30,
    )
    row = result.json["ratings"][0]
    assert result.status == 1
    assert row["metrics"]["m"]["mean"] is None
    assert row["missing"] == ["m"]
    assert (row["R"], row["R_pen"]) == (0.5, 0.5)
    assert len(result.json["warnings"]) == 1
    expected = words.replace("m.py:2", "m.py:")
    assert expected in result.json["warnings"][0]
    assert "m: not rated on 1 run" in result.json["warnings"][0]
    assert "limits.score" not in result.json["warnings"][0]
    assert len(result.json["warnings"][0]) < 1000


def test_a_long_value_is_not_printed_in_full(scored):
    result = scored({"m": "def score(run): return 'x' * 5_000_000\n"}, status=1)
    assert len(result.json["warnings"][0]) < 2000


def test_none_is_not_rated_and_no_error(scored):
    result = scored({"m": "def score(run): return None\n", "good": "def score(run): return 1\n"}, status=0)
    assert result.json["ratings"][0]["missing"] == ["m"]
    assert result.json["ratings"][0]["R"] == 1.0
    assert "m: not rated on 1 run: there is nothing to score (the function returned None)." in result.json["warnings"]


def test_a_run_that_nothing_could_rate_has_no_rating(scored):
    result = scored({"m": "def score(run): return None\n"}, status=1)
    row = result.json["ratings"][0]
    assert (row["R"], row["R_pen"], row["runs"]["rated"]) == (None, None, 0)
    again = scored({"m": "def score(run): return None\n"}, command=("score", "mine"), status=1)
    assert [row["missing"] for row in again.json["ratings"]] == [["m"]]


@pytest.mark.parametrize("body", ["time.sleep(6)", "\n    while True: pass"], ids=["sleeps", "spins"])
@pytest.mark.parametrize("keyword", ["def", "async def"])
def test_a_score_that_hangs_is_ended_by_its_limit(scored, project, body, keyword):
    text = f"import time\n{keyword} score(run): {body}\n"
    if keyword == "async def" and "while" in body:
        text = "import asyncio\nasync def score(run): await asyncio.sleep(30)\n"
    result = scored({"m": text, "good": "def score(run): return 1\n"}, toml="limits.score = 1", timeout=20, status=1)
    assert "it took longer than 1 s (limits.score)" in result.json["warnings"][0]
    assert result.json["ratings"][0]["R"] == 1.0


def test_what_a_score_prints_stays_out_of_the_json(scored):
    text = "import os, sys, subprocess\ndef score(run):\n    print('noise 1', flush=True); os.write(1, b'noise 2'); subprocess.run(['echo', 'noise 3']); sys.stdout.write('noise 4'); return 1\n"
    result = scored({"m": text}, status=0)
    assert mean(result) == 1.0
    assert "noise" not in result.out
    assert all(f"noise {number}" in result.err for number in (1, 2, 3))


def test_a_score_that_leaves_a_thread_does_not_keep_orvl(scored):
    text = "import threading, time\ndef score(run):\n    threading.Thread(target=time.sleep, args=(40,), daemon=True).start(); return 1\n"
    assert mean(scored({"m": text}, status=0, timeout=20)) == 1.0


def test_a_function_may_ask_for_what_it_names(scored):
    text = "par = 4\nasync def score(run, eval, par, *, more=1): return par / 8 if eval.name == 'e' and more else 0\n"
    assert mean(scored({"m": text}, status=0)) == 0.5


# -- what a function sees


def test_a_score_sees_the_run(scored):
    text = """
def score(run):
    assert run.files == ["d/a.py", "latin", "start.txt"], run.files
    assert run.read("d/a.py") == "print(1)\\n"
    assert run.read("latin") == "caf\\ufffd"
    assert run.read_bytes("latin") == b"caf\\xe9"
    assert run.prompts == ("Go.",)
    assert run.outcome == "finished"
    assert run.seconds > 0
    assert run.usage.cost_usd == 0
    assert run.trajectory == [] and run.screenshots == ()
    assert [(c.name, c.passed, c.weight) for c in run.checks] == [("a", True, 1.0), ("b", False, 3.0)]
    assert "out of b" in run.checks[1].output and run.checks[1].status == 7
    assert "--- a/gone.txt\\n+++ /dev/null" in run.diff
    assert "-start\\n+changed\\n" in run.diff
    assert "+++ b/d/a.py" in run.diff
    return 1
"""
    checks = "checks: [{name: a, run: test -f d/a.py}, {name: b, run: 'echo out of b; exit 7', weight: 3}]\n"
    result = scored({"m": text}, checks=checks)
    assert result.json["warnings"] == []
    assert mean(result) == 1.0


def test_the_copy_on_disk_is_whole_and_cannot_be_changed(scored):
    text = """
import os, stat
def score(run):
    assert (run.path / "start.txt").read_text() == "changed\\n"
    assert (run.path / ".git/g").exists()
    assert run.path == run.path
    paths = [run.path, *run.path.rglob("*")]
    assert not [p for p in paths if os.lstat(p).st_mode & 0o222 and not p.is_symlink()], "something can be written"
    return 1
"""
    result = scored({"m": text})
    assert result.json["warnings"] == []
    assert mean(result) == 1.0


def test_the_copy_on_disk_can_be_read_whatever_the_modes_were(scored, project):
    project.agent(
        "mine", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "mkdir d; echo x > d/f; chmod 0 d/f d"]\n'
    )
    text = """
import os
def score(run):
    modes = [os.lstat(run.path / p).st_mode & 0o777 for p in ("d", "d/f")]
    return float(modes[0] & 0o500 == 0o500 and modes[1] & 0o400 == 0o400)
"""
    project.score("m", text)
    project.eval("f", "---\nmetrics: {m: 1}\n---\nGo.\n")
    assert mean(project.orvl("mine", "--eval=f", "--json")) == 1.0


def test_one_metric_cannot_change_what_another_sees(scored):
    spoil = "def score(run):\n    run.files.clear() if hasattr(run.files, 'clear') else None\n    return 1\n"
    look = "import time\ndef score(run):\n    time.sleep(0.5); return float(len(run.files) == 3)\n"
    assert mean(scored({"a": spoil, "b": look}, status=0), "b") == 1.0


def test_nothing_of_scoring_is_left_on_the_disk(scored, project):
    scored({"m": "def score(run): return float(run.path.exists())\n"}, status=0)
    assert [path for base in project.tmp.glob("orvl-*") for path in base.iterdir()] == []


# -- judges

CHECKLIST = 'items = ["One.", "Two.", "Three.", "Four."]\n'


def panel(**answers):
    return "\n".join(
        f"[judges.{name}]\nweight = {weight}\nanswers = {given}" for name, (weight, given) in answers.items()
    )


def test_a_checklist_is_the_share_of_yes(scored):
    toml = panel(a=(1, '["yes", "yes", "no", "no"]'), b=(3, '"yes"'))
    result = scored({"m": CHECKLIST}, toml=toml, status=0)
    metric = result.json["ratings"][0]["metrics"]["m"]
    assert metric["judges"] == {"a": 0.5, "b": 1.0}
    assert metric["mean"] == pytest.approx(0.25 * 0.5 + 0.75)
    assert metric["variance"] == pytest.approx(0.25 * (0.5 - 0.875) ** 2 + 0.75 * 0.125**2)


def test_what_a_judge_cannot_tell_does_not_count_against_the_work(scored, project):
    toml = panel(a=(1, '["yes", "cannot-tell", "cannot-tell", "no"]'))
    assert mean(scored({"m": CHECKLIST}, toml=toml, status=0)) == 0.5
    shown = [line.split() for line in project.orvl("show", "mine/e/1").out.splitlines()]
    assert [line[-1] for line in shown if line[1:2] == ["item"]] == ["yes", "?", "?", "no"]


def test_a_judge_who_can_tell_nothing_abstains(scored):
    toml = panel(a=(1, '"cannot-tell"'), b=(1, '"yes"'))
    result = scored({"m": CHECKLIST}, toml=toml, status=0)
    metric = result.json["ratings"][0]["metrics"]["m"]
    assert (metric["judges"], metric["abstained"], metric["mean"]) == ({"a": None, "b": 1.0}, 1, 1.0)
    assert "m: the judge a abstained on 1 run: it could not tell any item." in result.json["warnings"]


@pytest.mark.parametrize(("quorum", "rated"), [(0.5, True), (0.51, False), (0, True), (1, False)])
def test_too_few_answers_leave_a_metric_unrated(scored, quorum, rated):
    toml = f"quorum = {quorum}\n" + panel(a=(1, '"abstain"'), b=(1, '"yes"'))
    result = scored({"m": CHECKLIST, "plain": "def score(run): return 0.25\n"}, toml=toml, status=0 if rated else 1)
    row = result.json["ratings"][0]
    assert row["metrics"]["m"]["mean"] == (1.0 if rated else None)
    assert row["missing"] == ([] if rated else ["m"])
    assert row["R"] == (0.625 if rated else 0.25)


def test_a_panel_that_all_abstains_is_no_zero(scored):
    result = scored(
        {"m": CHECKLIST, "plain": "def score(run): return 0.25\n"},
        toml=panel(a=(1, '"abstain"'), b=(1, '"abstain"')),
        status=1,
    )
    row = result.json["ratings"][0]
    assert (row["R"], row["missing"], row["metrics"]["m"]["abstained"]) == (0.25, ["m"], 2)


def test_a_checklist_without_a_judge_is_named_as_missing(scored):
    result = scored({"m": CHECKLIST, "plain": "def score(run): return 0.25\n"}, status=0)
    assert result.json["ratings"][0]["missing"] == ["m"]
    assert "m: not rated on 1 run: no judge is configured." in result.json["warnings"]
    assert result.json["ratings"][0]["R"] == 0.25


def test_ratings_are_those_of_rate(scored):
    toml = "penalty = 0.3\n" + panel(
        a=(1, '{ m = ["yes", "no", "no", "no"], n = 0.9 }'),
        b=(2, '{ m = "yes", n = "abstain" }'),
        c=(5, "{ m = 0.3, n = 0.1 }"),
    )
    metrics = {"m": CHECKLIST, "n": CHECKLIST, "plain": "def score(run): return 0.6\n"}
    result = scored(metrics, toml=toml, status=0)
    row = result.json["ratings"][0]
    S = [[0.25, 0.9, 0.6], [1.0, np.nan, 0.6], [0.3, 0.1, 0.6]]
    expected = rate(S, [1, 2, 5], [1, 1, 1], penalty=0.3)
    assert row["R"] == pytest.approx(float(expected.R))
    assert row["R_pen"] == pytest.approx(float(expected.R_pen))
    assert [row["metrics"][name]["mean"] for name in metrics] == pytest.approx(expected.means.tolist())
    assert [row["metrics"][name]["variance"] for name in metrics] == pytest.approx(expected.variances.tolist())
    assert row["metrics"]["plain"]["variance"] == 0
    assert row["metrics"]["plain"]["judges"] == {}
    assert row["penalty"] == 0.3


def test_the_seeds_formula_on_several_runs_is_the_mean_of_their_ratings(scored):
    text = "def score(run): return 1 if int(run.read('d/a.py')[6]) else 0\n"
    toml = panel(a=(1, "0.2"), b=(1, "0.8"))
    row = scored({"m": CHECKLIST, "plain": text}, "--episodes=3", toml=toml, status=0).json["ratings"][0]
    one = rate([[0.2, 1.0], [0.8, 1.0]], [1, 1], [1, 1])
    assert row["R"] == pytest.approx(float(one.R))
    assert row["R_pen"] == pytest.approx(float(one.R_pen))
    assert row["runs"]["rated"] == 3


def test_a_function_that_names_judge_is_called_once_per_judge(scored):
    text = """
async def score(run, judge):
    verdict = await judge.checklist(["One.", "Two."], evidence=run.screenshots)
    return verdict if judge.name == "a" else float(verdict) / 2
"""
    toml = panel(a=(1, '"yes"'), b=(1, '"yes"'), c=(1, '"abstain"'))
    result = scored({"m": text}, toml=toml, status=0)
    metric = result.json["ratings"][0]["metrics"]["m"]
    assert metric["judges"] == {"a": 1.0, "b": 0.5, "c": None}
    assert metric["abstained"] == 1


def test_a_function_that_forgets_to_await_is_told_so_or_awaited(scored):
    result = scored({"m": "def score(run, judge): return judge.checklist(['One.'])\n"}, toml=panel(a=(1, '"yes"')))
    assert "never awaited" not in result.err
    if result.status == 0:
        assert mean(result) == 1.0
    else:
        assert "await" in result.json["warnings"][0]
        assert " at 0x" not in result.json["warnings"][0]


@pytest.mark.parametrize("answers", ['["yes"]', '"perhaps"', "1.5", "nan"])
def test_answers_that_cannot_be_are_an_error_that_names_orvl_toml(scored, answers):
    result = scored({"m": CHECKLIST, "plain": "def score(run): return 1\n"}, toml=panel(a=(1, answers)))
    assert result.status in (1, 2)
    assert "orvl.toml" in result.err + " ".join(result.json["warnings"] if result.out else [])
    assert "judges.a" in result.err + " ".join(result.json["warnings"] if result.out else [])


# -- scoring again

FLAKY = """
from pathlib import Path
FLAG = Path(__file__).with_name("flag")
def score(run):
    if not FLAG.exists():
        raise RuntimeError("not yet")
    return 0.75
"""


def test_an_error_is_asked_again_and_then_forgotten(scored, project):
    metrics = {"m": FLAKY, "never": "def score(run): return None\n"}
    assert scored(metrics, status=1).json["ratings"][0]["missing"] == ["m", "never"]
    assert "not yet" in project.orvl("mine", "--eval=e", "--json").out
    (project.root / "scores/flag").touch()
    result = scored(metrics, command=("score", "mine"), status=0)
    assert mean(result) == 0.75
    assert result.json["ratings"][0]["missing"] == ["never"]
    assert "not yet" not in result.out
    assert project.rows("SELECT kind FROM score WHERE metric = 'm' ORDER BY id") == [("error",), ("scored",)]
    assert project.orvl("mine", "--eval=e").status == 0


def test_a_run_whose_error_repeats_is_still_one_run(scored):
    metrics = {"m": FLAKY, "good": "def score(run): return 1\n"}
    scored(metrics, status=1)
    result = scored(metrics, command=("score", "mine"), status=1)
    assert next(line for line in result.json["warnings"] if "not yet" in line).startswith("m: not rated on 1 run:")


def test_errors_of_other_episodes_and_judges_are_not_told(scored, project):
    metrics = {"m": FLAKY, "never": "def score(run): return None\n"}
    scored(metrics, status=1)
    (project.root / "scores/flag").touch()
    fresh = scored(metrics, "--fresh", status=0)
    assert "not yet" not in " ".join(fresh.json["warnings"])


def test_a_judge_who_is_not_on_the_panel_is_not_told(scored):
    toml = panel(a=(1, '"yes"'), b=(1, '"abstain"'))
    metrics = {"m": CHECKLIST, "never": "def score(run): return None\n"}
    scored(metrics, toml=toml, status=0)
    result = scored(metrics, "--judge=a", toml=toml, status=0)
    assert "judge b" not in " ".join(result.json["warnings"])


def test_a_changed_metric_is_scored_again_and_weights_only_rate_again(scored, project):
    scored({"m": "def score(run): return 0.25\n", "n": "def score(run): return 1\n"}, status=0)
    result = scored({"m": "def score(run): return 0.5\n", "n": "def score(run): return 1\n"}, status=0)
    assert mean(result) == 0.5
    assert project.rows("SELECT count(*) FROM attempt") == [(1,)]
    assert project.rows("SELECT value FROM score WHERE metric = 'm' ORDER BY id") == [(0.25,), (0.5,)]
    before = project.rows("SELECT count(*) FROM score")
    project.write("evals/e/eval.md", "---\nmetrics: {m: 3, n: 1}\n---\nGo.\n")
    assert project.orvl("mine", "--eval=e", "--json").json["ratings"][0]["R"] == pytest.approx(0.625)
    assert project.rows("SELECT count(*) FROM score") == before


def test_changed_checks_are_run_on_the_capture(scored, project):
    metrics = {"plain": "def score(run): return run.checks[0].passed\n"}
    first = scored(metrics, checks="checks: [{name: a, run: 'test -f d/a.py'}]\n", status=0)
    second = scored(metrics, checks="checks: [{name: a, run: 'test -f d/b.py'}]\n", status=0)
    assert (mean(first, "plain"), mean(second, "plain")) == (1.0, 0.0)
    assert project.rows("SELECT count(*) FROM attempt") == [(1,)]
    assert (
        scored(metrics, checks="checks: [{name: a, run: 'test -f d/a.py'}]\n", status=0).json["ratings"][0]["R"] == 1.0
    )


def test_failed_runs_are_rated_and_errored_ones_are_not(project):
    project.agent("fails", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "echo x > f; exit 3"]\n')
    project.agent("breaks", 'models = {"none": ["m"]}\ndef command(): raise ValueError("no")\n')
    project.score("m", "def score(run): return 0.25 if run.outcome == 'failed' and run.files == ['f'] else 1\n")
    project.eval("e", "---\nmetrics: {m: 1}\n---\nGo.\n")
    result = project.orvl("fails,breaks", "--eval=e", "--json")
    rows = {row["agent"]: row for row in result.json["ratings"]}
    assert result.status == 1
    assert (rows["fails"]["R"], rows["breaks"]["R"]) == (0.25, None)
    again = project.orvl("score", "fails,breaks", "--eval=e", "--json")
    assert {row["agent"]: row["R"] for row in again.json["ratings"]}["fails"] == 0.25
    assert project.orvl("report", "--json").json["ratings"]


def test_score_takes_new_samples_and_keeps_the_old(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    project.score(
        "steps", 'from pathlib import Path\ndef score(run): return float((Path(__file__).parent / "n").read_text())\n'
    )
    project.write("scores/n", "0.2")
    project.eval("e", "---\nmetrics: {steps: 1}\n---\nx")
    assert project.orvl("mine", "--eval=e", "--json").json["ratings"][0]["R"] == pytest.approx(0.2)
    project.write("scores/n", "0.6")
    assert project.orvl("score", "mine", "--eval=e", "--json").json["ratings"][0]["R"] == pytest.approx(0.2)
    assert project.orvl("score", "mine", "--eval=e", "--fresh", "--json").json["ratings"][0]["R"] == pytest.approx(0.4)
    assert project.rows("SELECT sample, value FROM score ORDER BY sample") == [(1, 0.2), (2, 0.6)]
    assert project.rows("SELECT count(*) FROM attempt") == [(1,)]


def test_score_asks_again_where_nobody_answered(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    project.score(
        "flaky", 'from pathlib import Path\ndef score(run): return float((Path(__file__).parent / "n").read_text())\n'
    )
    project.eval("e", "---\nmetrics: {flaky: 1, speed: 1}\n---\nx")
    broken = project.orvl("mine", "--eval=e", "--json")
    assert broken.status == 1
    assert broken.json["ratings"][0]["missing"] == ["flaky"]
    assert "scores/flaky.py:2: FileNotFoundError" in broken.json["warnings"][0]
    project.write("scores/n", "0.5")
    mended = project.orvl("score", "mine", "--eval=e", "--json")
    assert mended.status == 0
    assert mended.json["ratings"][0]["missing"] == []


def test_a_damaged_capture_does_not_keep_other_runs_from_being_checked_again(project):
    project.agent(
        "mine", 'models = {"none": ["m"]}\ndef command(prompt): return ["sh", "-c", \'echo "$0" > f\', prompt]\n'
    )
    for name in ("a", "b", "c"):
        project.eval(name, f"---\nmetrics: {{checks: 1}}\nchecks: [{{name: one, run: test -f f}}]\n---\n{name}")
    assert project.orvl("mine", "--eval=a,b,c").status == 0
    key = project.rows(
        "SELECT tree FROM attempt JOIN run ON run.id = run JOIN cell ON cell.id = cell WHERE eval = 'b'"
    )[0][0]
    (project.root / ".orvl/blobs" / key[:2] / f"{key[2:]}.zst").unlink()
    for name in ("a", "b", "c"):
        project.eval(name, f"---\nmetrics: {{checks: 1}}\nchecks: [{{name: two, run: test -s f}}]\n---\n{name}")
    again = project.orvl("mine", "--eval=a,b,c", "--json")
    assert again.status == 1
    assert {row["eval"]: row["R"] for row in again.json["ratings"]} == {"a": 1.0, "b": None, "c": 1.0}
    assert "mine m none b #1 cannot be checked again" in again.err
