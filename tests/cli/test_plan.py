"""Planning: identity by content, a fair order, what is reused, scored again or run, and the guard against accidents."""

from __future__ import annotations

import json
import os
import shutil
from itertools import groupby

import pytest

from orvl.errors import UserError
from orvl.plan.cost import is_paid
from orvl.plan.planning import make_plan, ordered
from orvl.plan.selection import Selection
from orvl.project import open_project

SANDBOX = "none"


HEAD = "---\nmetrics: {speed: 1}\n---\n"
COUNTS = ("reused", "scored_again", "to_run")


def key_of(root, **words: str) -> str:
    """The key of the one run that these words stand for."""
    given = {"agent": "mine", "model": "m", "provider": "none", "eval": "e", **words}
    (run,) = make_plan(open_project(root), Selection(**given), episodes=[1]).runs
    return run.key


def sorted_plan(project, *flags: str, words: tuple[str, ...] = ("mine", "--eval=e")) -> tuple[int, int, int]:
    """How a dry run sorts the runs: reused, only scored again, to run."""
    result = project.orvl(*words, "--dry-run", "--json", *flags)
    assert result.status == 0, result.err
    plan = result.json["plan"]
    names = {"reused": "reused", "scored again": "scored_again", "runs": "to_run"}
    told = [names[run["what"]] for run in plan["runs"]]
    assert {name: told.count(name) for name in COUNTS} == {name: plan[name] for name in COUNTS}
    return tuple(plan[name] for name in COUNTS)


@pytest.fixture
def mine(project):
    """An agent that leaves a mark outside whenever it really runs, and an eval in folder form with a hidden check."""
    project.agent(
        "mine",
        """
        from pathlib import Path
        MARKS = Path(__file__).parent.parent / "marks"
        models = {"none": ["m"]}

        def command(prompt):
            return ["sh", "-c", f"echo x >> {MARKS}; echo done > answer"]
        """,
    )
    project.score("own", "def score(run): return 0.5\n")
    project.score("listed", "items = ['It is good.']\n")
    project.write(
        "evals/e/eval.md",
        """
        ---
        description: An eval.
        metrics: {own: 1, checks: 1}
        checks: [{name: c, run: sh checks/c.sh}]
        ---
        Do it.
        """,
    )
    project.write("evals/e/checks/c.sh", "test -f answer\n")
    project.write("evals/e/workspace/given", "given\n")
    project.write("evals/e/reference/answer", "done\n")
    project.write("evals/e/controls/good/answer", "done\n")
    return project


def change(project, path: str, old: str, new: str) -> None:
    file = project.root / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def times_run(project) -> int:
    return len((project.root / "marks").read_text().splitlines())


# -- identity


NEW_IDENTITY = {
    "the agent's file": lambda p: change(p, "agents/mine.py", "x >>", "xx >>"),
    "a comment in the agent's file": lambda p: change(p, "agents/mine.py", "models", "# more\nmodels"),
    "a prompt": lambda p: change(p, "evals/e/eval.md", "Do it.", "Do it now."),
    "one more turn": lambda p: change(p, "evals/e/eval.md", "Do it.", "Do it.\n---\nMore."),
    "a limit": lambda p: change(p, "evals/e/eval.md", "description", "limits: {turn: 5}\ndescription"),
    "a file of the workspace": lambda p: p.write("evals/e/workspace/given", "other\n"),
    "one more file": lambda p: p.write("evals/e/workspace/more", ""),
    "a file's name": lambda p: (p.root / "evals/e/workspace/given").rename(p.root / "evals/e/workspace/taken"),
    "a file that can be run": lambda p: (p.root / "evals/e/workspace/given").chmod(0o755),
}


@pytest.mark.parametrize("what", NEW_IDENTITY)
def test_what_an_agent_meets_changes_the_key(mine, what):
    before = key_of(mine.root)
    NEW_IDENTITY[what](mine)
    assert key_of(mine.root) != before


SAME_IDENTITY = {
    "nothing": lambda p: None,
    "weights": lambda p: change(p, "evals/e/eval.md", "own: 1", "own: 7"),
    "metrics": lambda p: change(p, "evals/e/eval.md", "own: 1, ", ""),
    "no metrics": lambda p: change(p, "evals/e/eval.md", "metrics: {own: 1, checks: 1}\n", ""),
    "the description": lambda p: change(p, "evals/e/eval.md", "An eval", "The eval"),
    "a check": lambda p: change(p, "evals/e/eval.md", "name: c", "name: d"),
    "the hidden checks": lambda p: p.write("evals/e/checks/c.sh", "true\n"),
    "the reference": lambda p: p.write("evals/e/reference/answer", "x"),
    "what a control writes": lambda p: p.write("evals/e/controls/good/answer", "x"),
    "a par": lambda p: change(p, "evals/e/eval.md", "description", "par: {speed: 5}\ndescription"),
    "a score": lambda p: p.score("own", "def score(run): return 0.25\n"),
    "penalty and judges": lambda p: p.toml("penalty = 0.1\nepisodes = 3\n[judges.a]\nweight = 2\n"),
    "more models": lambda p: p.toml('[agents.mine.models]\nzen = ["new"]\n'),
    "other agents and evals": lambda p: (p.agent("b", "models = {}"), p.eval("b", "x")),
    "blank lines and a comment": lambda p: change(p, "evals/e/eval.md", "Do it.\n", "\nDo it.\n\n\n"),
    "times": lambda p: [os.utime(path, (1, 1)) for path in p.root.rglob("*")],
    "who else may write": lambda p: (p.root / "evals/e/workspace/given").chmod(0o664),
    "bytecode": lambda p: p.write("evals/e/workspace/__pycache__/x.cpython-311.pyc", "x"),
}


@pytest.mark.parametrize("what", SAME_IDENTITY)
def test_what_an_agent_never_meets_leaves_the_key_alone(mine, what):
    before = key_of(mine.root)
    SAME_IDENTITY[what](mine)
    assert key_of(mine.root) == before


def test_the_place_of_the_project_is_no_part_of_the_key(mine):
    other = mine.root.parent / "another place" / "deep"
    shutil.copytree(mine.root, other)
    assert key_of(other) == key_of(mine.root)
    here = mine.orvl("mine", "--eval=e", "--dry-run", "--json").json["plan"]["runs"][0]["run"]
    assert here == key_of(mine.root)
    linked = mine.root.parent / "linked"
    linked.symlink_to(mine.root)
    assert key_of(linked) == here


def test_an_eval_keeps_its_key_when_its_file_becomes_a_folder(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    file = project.eval("e", HEAD + "x")
    before = key_of(project.root)
    (project.root / "evals/e").mkdir()
    file.rename(project.root / "evals/e/eval.md")
    assert key_of(project.root) == before


def test_windows_line_ends_in_an_evals_file_do_not_make_another_eval(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    file = project.eval("e", HEAD + "one\ntwo\n")
    before = key_of(project.root)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert key_of(project.root) == before


def test_names_models_ids_providers_and_episodes_have_keys_of_their_own(project):
    text = "models = {'none': {'m': 'm', 'n': 'm'}, 'zen': ['m']}\ndef command(): return 'true'\n"
    project.agent("mine", text)
    project.agent("other", text)
    project.eval("e", HEAD + "x")
    project.eval("f", HEAD + "x")
    plan = make_plan(open_project(project.root), Selection(agent="mine,other", eval="e,f"), episodes=[1, 2])
    assert len({run.key for run in plan.runs}) == len(plan.runs) == 2 * 3 * 2 * 2
    before = key_of(project.root)
    project.toml('[agents.mine.models]\nnone = {m = "another-id"}\n')
    assert key_of(project.root) != before


def test_an_agents_version_is_part_of_the_key(project):
    project.agent(
        "mine", 'models = {"none": ["m"]}\nversion = ["cat", "/proc/self/cwd/v"]\ndef command(): return "true"\n'
    )
    project.eval("e", HEAD + "x")
    keys = []
    for version in ("1.0\nmore\n", "1.0\nother\n", "1.1\n"):
        project.write("v", version)
        keys.append(project.orvl("mine", "--eval=e", "--dry-run", "--json").json["plan"]["runs"][0]["run"])
    assert keys[0] == keys[1] != keys[2]


def test_a_control_is_another_when_it_writes_something_else(mine):
    before = key_of(mine.root, agent="dummy-good", model="fixed")
    mine.write("evals/e/controls/good/answer", "other\n")
    assert key_of(mine.root, agent="dummy-good", model="fixed") != before


def test_an_agent_that_is_not_installed_is_refused_by_name_and_left_out_of_all(project):
    project.agent(
        "gone", 'models = {"none": ["m"]}\nversion = ["no-such-agent", "--version"]\ndef command(): return "true"\n'
    )
    project.eval("e", HEAD + "x")
    result = project.orvl("gone", "--eval=e")
    assert result.status == 2
    assert "The agent gone is not installed: 'no-such-agent' is not in PATH" in result.err
    result = project.orvl("all", "--eval=e", "--dry-run", "--json")
    assert result.status == 0
    assert "gone" not in {run["agent"] for run in result.json["plan"]["runs"]}
    assert any("The agent gone is not installed" in warning for warning in result.json["warnings"])


# -- the order


@pytest.fixture
def many(project):
    """Four contestants on three evals."""
    for name in ("a", "b"):
        project.agent(name, 'models = {"none": ["m", "n"]}\ndef command(): return "true"\n')
    for name in ("e", "f", "g"):
        project.eval(name, HEAD + "x")
    return project


WORDS = Selection(agent="a,b", eval="e,f,g")


def test_contestants_stand_side_by_side_in_every_block(many):
    plan = make_plan(open_project(many.root), WORDS, episodes=[1, 2, 3], seed=5)
    blocks = [list(block) for _, block in groupby(plan.runs, key=lambda run: (run.episode, run.cell.eval.name))]
    assert len(blocks) == 9
    contestants = {cell.contestant for cell in plan.cells}
    assert len(contestants) == 4
    assert all({run.cell.contestant for run in block} == contestants for block in blocks)
    orders = {tuple(run.cell.contestant for run in block) for block in blocks}
    assert len(orders) > 1
    assert [run.episode for run in plan.runs] == sorted(run.episode for run in plan.runs)


def test_the_order_is_the_seeds(many):
    plan = make_plan(open_project(many.root), WORDS, episodes=[1, 2], seed=5)
    assert plan.runs == ordered(plan.cells, [1, 2], 5)
    others = [ordered(plan.cells, [1, 2], seed) for seed in range(10)]
    assert len({tuple(run.key for run in runs) for runs in others}) > 5
    assert len({frozenset(run.key for run in runs) for runs in others}) == 1


def test_runs_are_carried_out_in_the_order_of_the_recorded_seed(many):
    for episodes in (1, 2):
        words = ["a,b", "--eval=e,f,g", f"--episodes={episodes}", "--concurrency=1"]
        assert many.orvl(*words).status == 0
    calls = many.rows("SELECT id, seed, words FROM call ORDER BY id")
    assert len(calls) == 2
    assert calls[0][1] != calls[1][1]
    assert "--concurrency=1" in json.loads(calls[1][2])["flags"]
    done: set[str] = set()
    for episodes, (call, seed, _) in enumerate(calls, 1):
        plan = make_plan(open_project(many.root), WORDS, episodes=range(1, episodes + 1), seed=seed)
        rows = many.rows(
            f"SELECT run.key FROM attempt JOIN run ON run.id = attempt.run WHERE call = {call} ORDER BY attempt.id"
        )
        assert [key for (key,) in rows] == [run.key for run in plan.runs if run.key not in done]
        done |= {key for (key,) in rows}
    assert len(done) == 24


# -- what is done, what is left


def test_a_dry_run_sorts_and_runs_nothing(mine):
    assert sorted_plan(mine) == (0, 0, 1)
    text = mine.orvl("mine", "--eval=e", "--dry-run").out
    assert "1 cell, 1 run: 0 reused, 0 only scored again, 1 to run." in text
    assert "Cost: $0 (nothing here costs money)." in text
    assert not (mine.root / ".orvl").exists()
    assert not (mine.root / "marks").exists()


def test_a_dry_run_never_says_that_unknown_costs_are_nothing(project):
    project.agent("mine", 'models = {"zen": ["m"], "none": ["n"]}\ndef command(): return "true"\n')
    project.eval("e", HEAD + "x")
    result = project.orvl("mine", "--eval=e", "--dry-run", "--json").json["plan"]
    assert result["cost_usd"]["likely"] is None
    assert "unknown" in project.orvl("mine", "--eval=e", "--dry-run").out


def test_a_dry_run_tells_what_earlier_runs_have_cost(project):
    project.agent(
        "mine",
        """
        models = {"zen": ["m"]}
        def command(): return "true"
        def read(): return {"usage": {"cost_usd": 0.25}}
        """,
    )
    project.eval("e", HEAD + "x")
    assert project.orvl("mine", "--eval=e").status == 0
    plan = project.orvl("mine", "--eval=e", "--dry-run", "--episodes=3", "--json").json["plan"]
    assert (plan["reused"], plan["to_run"]) == (1, 2)
    assert [plan["cost_usd"][name] for name in ("low", "likely", "high")] == [0.5, 0.5, 0.5]


def test_a_second_call_runs_nothing_and_says_the_same(mine):
    first = mine.orvl("mine", "--eval=e", "--json")
    assert first.status == 0, first.err
    assert sorted_plan(mine) == (1, 0, 0)
    assert "1 reused, 0 only scored again, 0 to run" in mine.orvl("mine", "--eval=e", "--dry-run").out
    second = mine.orvl("mine", "--eval=e", "--json")
    assert second.json == first.json
    assert second.status == 0
    assert times_run(mine) == 1
    tables = ("call", "attempt", "score", "checked")
    assert [mine.rows(f"SELECT count(*) FROM {table}")[0][0] for table in tables] == [1, 1, 2, 1]


def test_more_episodes_continue_what_is_there(mine):
    assert mine.orvl("mine", "--eval=e").status == 0
    assert sorted_plan(mine, "--episodes=3") == (1, 0, 2)
    result = mine.orvl("mine", "--eval=e", "--episodes=3", "--json")
    assert result.json["ratings"][0]["runs"] == {"planned": 3, "rated": 3, "failed": 0, "errored": 0}
    assert times_run(mine) == 3
    mine.toml("episodes = 2\n")
    assert sorted_plan(mine) == (2, 0, 0)
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["runs"]["planned"] == 2
    assert sorted_plan(mine, "--episodes=1") == (1, 0, 0)


def test_fresh_runs_new_episodes_beside_the_old_ones(mine):
    assert mine.orvl("mine", "--eval=e", "--episodes=2").status == 0
    result = mine.orvl("mine", "--eval=e", "--fresh", "--json")
    assert result.json["ratings"][0]["runs"]["rated"] == 1
    assert times_run(mine) == 3
    assert mine.rows("SELECT episode FROM run ORDER BY episode") == [(1,), (2,), (3,)]
    assert sorted_plan(mine, "--episodes=3") == (3, 0, 0)


def test_a_dry_run_of_fresh_names_the_episodes_that_it_would_run(mine):
    assert mine.orvl("mine", "--eval=e", "--episodes=2").status == 0
    plan = mine.orvl("mine", "--eval=e", "--fresh", "--dry-run", "--json").json["plan"]
    assert [plan[name] for name in COUNTS] == [0, 0, 1]
    assert [run["episode"] for run in plan["runs"]] == [3]
    assert plan["runs"][0]["run"] not in {key for (key,) in mine.rows("SELECT key FROM run")}


def test_a_changed_agent_runs_again_and_the_old_runs_stay(mine):
    assert mine.orvl("mine", "--eval=e").status == 0
    change(mine, "agents/mine.py", "echo done", "echo DONE")
    assert sorted_plan(mine) == (0, 0, 1)
    assert mine.orvl("mine", "--eval=e").status == 0
    assert times_run(mine) == 2
    change(mine, "agents/mine.py", "echo DONE", "echo done")
    assert sorted_plan(mine) == (1, 0, 0)


def test_a_changed_score_is_only_scored_again(mine):
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["R"] == 0.75
    mine.score("own", "def score(run): return 0.25\n")
    assert sorted_plan(mine) == (0, 1, 0)
    assert "0 reused, 1 only scored again, 0 to run" in mine.orvl("mine", "--eval=e", "--dry-run").out
    result = mine.orvl("mine", "--eval=e", "--json")
    assert result.json["ratings"][0]["R"] == 0.625
    assert times_run(mine) == 1
    assert mine.rows("SELECT metric, value FROM score ORDER BY id") == [("checks", 1), ("own", 0.5), ("own", 0.25)]
    assert mine.rows("SELECT count(*) FROM checked") == [(1,)]
    assert sorted_plan(mine) == (1, 0, 0)


def test_changed_weights_and_penalty_only_rate_again(mine):
    assert mine.orvl("mine", "--eval=e").status == 0
    change(mine, "evals/e/eval.md", "own: 1", "own: 3")
    mine.toml("penalty = 0.25\n")
    assert sorted_plan(mine) == (1, 0, 0)
    row = mine.orvl("report", "--by=eval", "--json").json["ratings"][0]
    assert row["R"] == 0.625
    assert row["penalty"] == 0.25
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["R"] == 0.625
    assert mine.rows("SELECT count(*) FROM call") == [(1,)]


FEWER = {
    "another order": ("{own: 1, checks: 1}", "{checks: 1, own: 1}", 0.75),
    "one metric less": ("{own: 1, checks: 1}", "{own: 1}", 0.5),
}


@pytest.mark.parametrize("what", FEWER)
def test_metrics_that_are_scored_already_are_only_rated_again(mine, what):
    old, new, rating = FEWER[what]
    assert mine.orvl("mine", "--eval=e").status == 0
    change(mine, "evals/e/eval.md", old, new)
    assert sorted_plan(mine) == (1, 0, 0)
    assert mine.orvl("report", "--by=eval", "--json").json["ratings"][0]["R"] == rating


def test_a_metric_asked_for_by_name_that_is_scored_already_is_reused(mine):
    assert mine.orvl("mine", "--eval=e").status == 0
    assert sorted_plan(mine, "--metric=own") == (1, 0, 0)
    assert mine.orvl("mine", "--eval=e", "--metric=own", "--json").json["ratings"][0]["R"] == 0.5
    assert mine.rows("SELECT count(*) FROM score") == [(2,)]


def test_changed_hidden_checks_are_only_checked_again(mine):
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["metrics"]["checks"]["mean"] == 1
    mine.write("evals/e/checks/c.sh", "false\n")
    assert sorted_plan(mine) == (0, 1, 0)
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["metrics"]["checks"]["mean"] == 0
    assert times_run(mine) == 1
    assert mine.rows("SELECT count(*) FROM checked") == [(2,)]
    mine.write("evals/e/checks/c.sh", "test -f answer\n")
    assert sorted_plan(mine) == (1, 0, 0)
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["metrics"]["checks"]["mean"] == 1


def test_one_more_check_is_run_on_what_is_stored(mine):
    assert mine.orvl("mine", "--eval=e").status == 0
    change(mine, "evals/e/eval.md", "sh checks/c.sh}", "sh checks/c.sh}, {name: d, run: 'false'}")
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["metrics"]["checks"]["mean"] == 0.5
    assert times_run(mine) == 1


def test_a_changed_par_asks_no_judge_again(mine):
    """A judge's answer on a checklist does not hang on the par of another metric."""
    mine.toml("[judges.a]\nanswers = 'yes'\n")
    change(mine, "evals/e/eval.md", "own: 1", "listed: 1, speed: 1")
    assert mine.orvl("mine", "--eval=e").status == 0
    change(mine, "evals/e/eval.md", "description", "par: {speed: 7}\ndescription")
    assert mine.orvl("mine", "--eval=e").status == 0
    assert mine.rows("SELECT metric, count(*) FROM score WHERE metric IN ('listed', 'speed') GROUP BY metric") == [
        ("listed", 1),
        ("speed", 2),
    ]


def test_changed_judges_are_asked_without_running_again(mine):
    mine.toml("[judges.a]\nanswers = 'yes'\n")
    change(mine, "evals/e/eval.md", "own: 1, checks: 1", "listed: 1")
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["R"] == 1
    mine.toml("[judges.a]\nanswers = 'yes'\nweight = 3\n[judges.b]\nanswers = 'no'\n")
    assert sorted_plan(mine) == (0, 1, 0)
    assert mine.orvl("mine", "--eval=e", "--json").json["ratings"][0]["R"] == 0.75
    assert mine.rows("SELECT judge FROM score ORDER BY id") == [("a",), ("b",)]
    mine.toml("[judges.a]\nanswers = 'yes'\nweight = 1\n[judges.b]\nanswers = 'no'\n")
    assert sorted_plan(mine) == (1, 0, 0)
    assert times_run(mine) == 1


def test_a_moved_project_goes_on_with_its_store(mine):
    assert mine.orvl("mine", "--eval=e").status == 0
    moved = mine.root.parent / "moved here"
    mine.root.rename(moved)
    plan = mine.orvl("mine", "--eval=e", "--dry-run", "--json", cwd=moved).json["plan"]
    assert [plan[name] for name in COUNTS] == [1, 0, 0]


def test_a_new_eval_runs_and_the_old_one_is_reused(mine):
    assert mine.orvl("mine", "--eval=e").status == 0
    mine.eval("f", HEAD + "x")
    assert sorted_plan(mine, words=("mine", "--eval=e,f")) == (1, 0, 1)
    assert mine.orvl("mine", "--eval=e,f").status == 0
    assert times_run(mine) == 2


# -- the guard


def wide(project, count: int, provider: str = "zen") -> None:
    models = [f"m{number}" for number in range(count)]
    project.agent("wide", f"models = {{{provider!r}: {models}}}\ndef command(): return 'true'\n")
    project.eval("e", HEAD + "x")


def test_more_than_twenty_paid_cells_need_a_yes(project):
    wide(project, 21)
    result = project.orvl("wide", "--eval=e", "--json")
    assert result.status == 2
    assert result.out == ""
    assert result.err == (
        "orvl: This would run 21 cells at providers that cost money (21 runs). "
        "See it with --dry-run, then add --yes, or --budget USD.\n"
    )
    assert sorted_plan(project, words=("wide", "--eval=e")) == (0, 0, 21)
    assert project.orvl("wide", "--eval=e", "--yes").status == 0
    assert project.orvl("wide", "--eval=e").status == 0


def test_twenty_paid_cells_run_and_those_that_are_done_do_not_count(project):
    wide(project, 20)
    assert project.orvl("wide", "--eval=e", "--episodes=2").status == 0
    project.toml('[agents.wide.models]\nzen = ["one", "two"]\n')
    assert sorted_plan(project, words=("wide", "--eval=e")) == (20, 0, 2)
    assert project.orvl("wide", "--eval=e").status == 0


def test_a_budget_stands_for_a_yes(project):
    wide(project, 21)
    assert project.orvl("wide", "--eval=e", "--budget=5").status == 0


def test_a_budget_that_is_no_number_is_refused(project):
    wide(project, 21)
    result = project.orvl("wide", "--eval=e", "--budget=nan")
    assert result.status == 2
    assert "--budget" in result.err
    assert project.orvl("wide", "--eval=e", "--budget=-1").status == 2


FREE = {
    "none": ("none", ""),
    "marked free": ("zen", "free = true"),
    "loopback": ("zen", 'base_url = "http://127.0.0.1:8000/v1"'),
    "another loopback": ("zen", 'base_url = "http://127.8.0.1:8000/v1"'),
    "localhost": ("zen", 'base_url = "http://LOCALHOST:11434"'),
    "six": ("zen", 'base_url = "http://[::1]:11434/"'),
    "loopback by protocol": ("zen", 'protocol = {openai = "http://127.0.0.1:1/v1"}'),
}
PAID = {
    "unknown": ("zen", ""),
    "free = false": ("zen", "free = false"),
    "an address": ("zen", 'base_url = "https://api.example.com/v1"'),
    "a name that looks like loopback": ("zen", 'base_url = "https://127.0.0.1.example.com"'),
    "a user that looks like loopback": ("zen", 'base_url = "https://localhost@example.com"'),
    "loopback in the path": ("zen", 'base_url = "https://example.com/localhost"'),
    "loopback, but one protocol elsewhere": (
        "zen",
        'base_url = "http://localhost:1"\nprotocol = {anthropic = "https://example.com"}',
    ),
    "another provider is free": ("zen", "[providers.other]\nfree = true"),
}


@pytest.mark.parametrize("case", [*FREE, *PAID])
def test_what_costs_money(tmp_path, case):
    provider, line = (FREE | PAID)[case]
    (tmp_path / "orvl.toml").write_text(f"[providers.{provider}]\n{line}\n")
    assert is_paid(open_project(tmp_path), provider) == (case in PAID)


def test_a_free_matrix_runs_without_a_yes(project):
    wide(project, 21)
    project.toml('[providers.zen]\nbase_url = "http://localhost:11434/v1"\n')
    assert project.orvl("wide", "--eval=e").status == 0


def test_an_address_that_is_none_is_a_sentence(project):
    wide(project, 1)
    path = project.toml('[providers.zen]\nbase_url = "http://[::1"\n')
    result = project.orvl("wide", "--eval=e", "--dry-run")
    assert result.status == 2
    assert "Traceback" not in result.err
    assert f"{path}:2: " in result.err


def test_nothing_to_plan_is_a_sentence(project):
    project.eval("e", HEAD + "x")
    with pytest.raises(UserError, match="Skipped dummy-good on e"):
        make_plan(open_project(project.root), Selection(agent="dummy-good", eval="e"), episodes=[1])


def test_a_version_that_cannot_be_told_is_no_identity(small):
    small.agent(
        "odd",
        'models = {"none": ["m"]}\nversion = ["sh", "-c", "echo boom >&2; exit 3"]\ndef command(): return "true"\n',
    )
    named = small.orvl("odd", "--eval=one")
    assert named.status == 2
    assert "ended with status 3 and said: boom" in named.err
    among = small.orvl("odd,writer*", "--eval=one", "--json")
    assert among.status == 0
    assert "boom" in among.json["warnings"][0]
