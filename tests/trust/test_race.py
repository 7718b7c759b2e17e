"""A race drops who is surely worse, and nobody else; cut at any moment, it goes on as if it had not been."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import time
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

from orvl.trust.race import Race, race_order
from orvl.types import Agent, Cell, Eval, PlannedRun

SANDBOX = "none"
EVALS = 16

AGENT = """
import hashlib

models = {{"{provider}": ["m"]}}

def noise(*words):
    return int(hashlib.sha256(" ".join(words).encode()).hexdigest()[:8], 16) / 16**8 - 0.5

def command(prompt):
    value = min(1, max(0, {quality} + 0.3 * noise(prompt) + 0.1 * noise(prompt, "{name}")))
    return ["sh", "-c", 'sleep {seconds}; printf %s "$1" > answer.txt', "sh", f"{{value:.4f}}"]

def read():
    return {{"usage": {{"cost_usd": {cost}}}}}
"""


def contestants(project, seconds=0.0, provider="none", cost=0.0, **qualities):
    for name, quality in qualities.items():
        text = AGENT.format(name=name, quality=quality, seconds=seconds, provider=provider, cost=cost)
        project.agent(name, text)


def evals(project, number=EVALS):
    project.score("x", 'def score(run): return float(run.read("answer.txt"))\n')
    for one in range(number):
        project.eval(f"e{one:02}", f"---\nmetrics: {{x: 1}}\n---\nTask {one}.\n")


def race(project, agents, *words, status=0):
    done = project.orvl(agents, "--eval=e*", "--race", "--json", "-q", *words)
    assert done.status == status, done.err
    return done.json


def standing(told):
    return {one["agent"]: one for one in told["race"]["contestants"]}


def runs_of(project, where="1"):
    query = "SELECT agent, count(DISTINCT run.id) FROM attempt JOIN run ON run.id = attempt.run JOIN cell ON cell.id = run.cell"
    return dict(project.rows(f"{query} WHERE {where} GROUP BY agent"))


# -- real races


def test_who_is_clearly_worse_is_out_early_and_starts_no_further_run(project):
    contestants(project, good=0.79, near=0.78, bad=-0.79)
    evals(project)
    done = project.orvl("good,near,bad", "--eval=e*", "--race", "--concurrency=2")
    assert done.status == 0, done.err
    ran = runs_of(project)
    told = race(project, "good,near,bad")
    assert runs_of(project) == ran, "what is out is not run when the race is looked at again"
    bad = standing(told)["bad"]
    assert bad["state"] == "out"
    assert bad["by"]["agent"] in ("good", "near")
    assert 6 <= bad["after"] <= 12
    assert bad["after"] <= ran["bad"] <= bad["after"] + 2
    assert bad["e"] >= 40
    assert bad["quick_after"] < bad["after"] and f"would have had it out after {bad['quick_after']}." in bad["reason"]
    assert bad["reason"] in " ".join(done.out.split())
    assert f"bad m none is out after {bad['after']} of {EVALS} evals: " in done.err, "it is said when it happens"
    assert told["race"]["planned_runs"] == 3 * EVALS
    assert told["race"]["run"] == sum(ran.values())
    rows = [row["runs"] for row in told["ratings"] if row["agent"] == "bad"]
    assert len(rows) == ran["bad"]
    assert all(row["planned"] == row["rated"] == 1 for row in rows)
    assert sorted(told["race"]["order"]) == [f"e{one:02}" for one in range(EVALS)] != told["race"]["order"]


def test_a_race_is_won_when_all_others_are_out(project):
    contestants(project, good=0.95, fair=0.15, bad=0.05)
    evals(project)
    told = race(project, "good,fair,bad", "--concurrency=3", "--episodes=2")
    found = standing(told)
    assert {name: one["state"] for name, one in found.items()} == {"good": "won", "fair": "out", "bad": "out"}
    assert found["good"]["after"] == max(found["fair"]["after"], found["bad"]["after"]) < EVALS
    assert f"won: all others are out after {found['good']['after']} of {EVALS} evals" in found["good"]["reason"]
    assert told["race"]["planned_runs"] == 6 * EVALS
    assert told["race"]["saved"] == 6 * EVALS - told["race"]["run"] > 6 * EVALS / 5
    assert all(row["runs"]["planned"] == row["runs"]["rated"] for row in told["ratings"])
    assert not any("left" in warning or "lack" in warning for warning in told["warnings"])
    plan = project.orvl("good,fair,bad", "--eval=e*", "--episodes=2", "--race", "--dry-run", "--json").json["plan"]
    assert (plan["reused"], plan["to_run"]) == (told["race"]["run"], 0)
    assert sum(run["what"] == "not needed" for run in plan["runs"]) == told["race"]["saved"]


def test_equals_go_on_to_the_end(project):
    contestants(project, one=0.5, two=0.5)
    evals(project)
    done = project.orvl("one,two", "--eval=e*", "--race", "-q")
    assert done.status == 0
    assert "one m none is still in: it and two m none could not be told apart after 16 of 16 evals (e = " in done.out
    assert "0 of 32 runs were not needed." in done.out
    assert runs_of(project) == {"one": EVALS, "two": EVALS}


def test_kill_and_continue_gives_the_eliminations_of_an_uninterrupted_race(project):
    contestants(project, seconds=0.03, good=0.8, near=0.79, bad=-0.7)
    evals(project, 11)
    words = ("good,near,bad", "--eval=e*", "--race", "-q", "--concurrency=3")
    killed = 0
    for aim in (5, 17):
        process = subprocess.Popen(
            [*project.command, *words, "--sandbox=none"], cwd=project.root, env=project.env, stdout=subprocess.DEVNULL
        )
        while process.poll() is None and stored(project) < aim:
            time.sleep(0.02)
        killed += process.poll() is None
        process.kill()
        process.wait()
    assert killed == 2
    assert 17 <= stored(project) < 33
    continued = race(project, words[0])
    whole = race(project, words[0], "--store=whole", "--concurrency=1")
    assert continued["race"]["contestants"] == whole["race"]["contestants"]
    states = {name: one["state"] for name, one in standing(whole).items()}
    assert states == {"good": "in", "near": "in", "bad": "out"}
    assert continued["race"]["order"] == whole["race"]["order"]


def stored(project):
    if not (project.root / ".orvl" / "orvl.db").exists():
        return 0
    try:
        return project.rows("SELECT count(*) FROM card")[0][0]
    except sqlite3.OperationalError:
        return 0


def test_a_budget_ends_a_race_with_status_three_and_it_can_be_continued(project):
    contestants(project, provider="shop", cost=0.5, good=0.8, bad=0.1)
    evals(project)
    words = ("good,bad", "--eval=e*", "--race", "--concurrency=1")
    stopped = project.orvl(*words, "--budget=4", "--json")
    assert stopped.status == 3, stopped.err
    assert "To continue: orvl good,bad all all 'e*' --concurrency 1 --sandbox none --budget 4 --race" in stopped.err
    found = standing(stopped.json)
    assert {one["state"] for one in found.values()} == {"in"}
    assert (
        "is still in: stopped by the budget after 4 of 16 evals: it and bad m shop are not told apart yet (e = "
        in (found["good"]["reason"])
    )
    assert (stopped.json["race"]["run"], stopped.json["race"]["saved"]) == (8, 0)
    assert any("Stopped by the budget: $4.00 of $4.00 spent, 24 runs left" in one for one in stopped.json["warnings"])
    more = standing(project.orvl(*words, "--budget=20", "--json").json)
    assert (more["good"]["state"], more["bad"]["state"]) == ("won", "out")
    whole = race(project, "good,bad", "--store=whole", "--budget=40", "--concurrency=1")
    assert whole["race"]["contestants"] == list(more.values())


def test_an_interrupted_race_says_how_to_go_on(project):
    contestants(project, seconds=0.1, one=0.5, two=0.5)
    evals(project)
    process = subprocess.Popen(
        [*project.command, "one,two", "--eval=e*", "--race", "--sandbox=none", "--concurrency=2"],
        cwd=project.root,
        env=project.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while stored(project) < 4:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "--race" in err.split("To continue: ")[1]
    assert "stopped by the user after" in " ".join(out.split())


def test_who_always_errs_is_never_dropped_and_never_drops_until_it_can_run(project):
    contestants(project, good=0.85, bad=-0.1, broken=-0.2)
    file = project.root / "agents/broken.py"
    trouble = project.write("trouble", "")
    check = f'    if __import__("os").path.exists("{trouble}"): return 1 / 0\n    value'
    file.write_text(file.read_text().replace("    value", check, 1))
    evals(project, 12)
    told = race(project, "good,bad,broken", status=1)
    found = standing(told)
    assert {name: one["state"] for name, one in found.items()} == {"good": "in", "bad": "out", "broken": "in"}
    assert found["broken"]["reason"] == "broken m none is still in: it has too few ratings to be compared."
    assert found["broken"]["e"] is None
    assert runs_of(project)["good"] == 12
    assert all(row["R"] is None for row in told["ratings"] if row["agent"] == "broken")
    trouble.unlink()
    again = standing(race(project, "good,bad,broken"))
    assert {name: one["state"] for name, one in again.items()} == {"good": "won", "bad": "out", "broken": "out"}
    assert (again["bad"], again["broken"]["by"]["agent"]) == (found["bad"], "good")
    finished = runs_of(project, "outcome <> 'errored'")
    assert again["broken"]["after"] <= finished["broken"] <= 12


def test_over_two_evals_nobody_can_be_out(project):
    contestants(project, good=0.8, bad=0.2)
    evals(project, 2)
    done = project.orvl("good,bad", "--eval=e*", "--race", "-q")
    assert done.status == 0
    assert "With 2 evals nobody can be out: at least 6 are needed." in done.out
    assert runs_of(project) == {"good": 2, "bad": 2}


def test_what_is_no_race_is_refused(project):
    contestants(project, only=0.5, other=0.5)
    evals(project, 2)
    alone = project.orvl("only", "--eval=e*", "--race")
    assert alone.status == 2
    assert "A race needs two contestants, and this is one: only m none." in alone.err
    fresh = project.orvl("only,other", "--eval=e*", "--race", "--fresh")
    assert fresh.status == 2
    assert "--race and --fresh do not go together" in fresh.err
    assert not (project.root / ".orvl").exists()


# -- the race itself


def one_eval(number):
    return Eval(f"e{number}", Path(), "project", f"digest{number}", "", "", "", ("x",))


def cells_of(names, number):
    agents = [Agent(name, Path(), "project", name, "", {}, lambda: None) for name in names]
    return [Cell(f"{a.name}-{n}", a, "", "none", "m", "m", one_eval(n)) for n in range(number) for a in agents]


def planned(cells, episode=1):
    return [PlannedRun(f"{cell.key}:{episode}", cell, episode) for cell in cells]


def made_up(values):
    """Rates by agent and eval."""

    def rate(cells):
        return [values(cell.agent.name, int(cell.eval.name[1:])) for cell in cells]

    return rate


def quality(name, number):
    wave = ((number * 7919) % 13) / 130
    return {"good": 0.8, "bad": 0.05}.get(name, 0.5) + wave + (((number * 31 + ord(name[0])) % 7) / 100)


def test_the_order_is_random_the_same_each_time_and_not_shuffled_by_one_more_eval():
    order = race_order(map(one_eval, range(30)))
    assert order == race_order(map(one_eval, reversed(range(30))))
    assert order != sorted(order, key=lambda name: int(name[1:]))
    longer = race_order(map(one_eval, range(31)))
    assert [name for name in longer if name != "e30"] == order
    changed = race_order([replace(one_eval(0), digest="new"), *map(one_eval, range(1, 30))])
    assert [name for name in changed if name != "e0"] == [name for name in order if name != "e0"]


def test_evals_of_a_family_come_together_and_count_once_it_is_complete():
    every = [replace(one_eval(n), family=f"f{n % 10}") for n in range(30)]
    order = race_order(every)
    assert order == race_order(reversed(every))
    families = [int(name[1:]) % 10 for name in order]
    assert [families[n] for n in range(0, 30, 3)] == [families[n] for n in range(2, 30, 3)]
    assert race_order(replace(one, family="") for one in every) == race_order(map(one_eval, range(30)))
    cells = [replace(cell, eval=every[int(cell.eval.name[1:])]) for cell in cells_of(["good", "bad"], 30)]
    made = Race(cells, [], (), made_up(lambda name, _: float(name == "good")), 1)
    assert made.out["bad", "m", "none"].after == 18, "six families of three"
    alone = Race(cells_of(["good", "bad"], 30), [], (), made_up(lambda name, _: float(name == "good")), 1)
    assert alone.out["bad", "m", "none"].after == 6


def test_runs_start_no_further_ahead_than_needed_to_keep_all_workers_going():
    cells = cells_of(["good", "bad"], 20)
    runs = planned(cells)
    made = Race(cells, runs, (), made_up(quality), 1)
    for at_once in (1, 4, 7):
        may = [run for run in runs if made.may_start(run, at_once)]
        assert at_once <= len(may) <= at_once + 4
        assert {run.cell.eval.name for run in may} == set(made.order[: len(may) // 2])


def test_an_eval_counts_only_when_it_is_settled_for_all_that_are_in():
    cells = cells_of(["good", "bad"], 20)
    runs = {(run.cell.agent.name, run.cell.eval.name): run for run in planned(cells)}
    made = Race(cells, runs.values(), (), made_up(quality), 1)
    first, second = made.order[:2]
    made.ended(runs["good", second])
    made.ended(runs["bad", second])
    made.ended(runs["good", first])
    assert made.settled == 0
    made.ended(runs["bad", first])
    assert made.settled == 2
    told = [said for name in made.order[2:] for who in ("good", "bad") for said in made.ended(runs[who, name])]
    assert told == [made.why_out(("bad", "m", "none"))]
    assert made.is_over
    assert not any(made.may_start(run, 100) for run in runs.values())


def test_what_was_in_vain_is_missing_until_it_is_there_and_then_counts_in_its_place():
    cells = cells_of(["good", "bad"], 12)
    runs = planned(cells)
    order = race_order(cell.eval for cell in cells)
    late = next(run for run in runs if run.cell.agent.name == "good" and run.cell.eval.name == order[2])

    def values(name, number):
        return nan if (name, number) == ("good", int(order[2][1:])) and late.key in gone else quality(name, number)

    gone = {late.key}
    made = Race(cells, [late], [late.key], made_up(values), 1)
    before = made.out["bad", "m", "none"].after
    gone.clear()
    made.ended(late)
    whole = Race(cells, [], (), made_up(quality), 1)
    assert made.out == whole.out
    assert whole.out["bad", "m", "none"].after == before - 1


def test_a_rating_that_misses_a_metric_is_not_compared_with_one_that_has_it(project):
    contestants(project, good=0.8, bad=-0.1)
    evals(project, 14)
    project.score(
        "y",
        """
        def score(run):
            if float(run.read("answer.txt")) > 0.5 and run.prompts[0] > "Task 13":
                raise ValueError("cannot say")
            return 0.5
        """,
    )
    for one in range(14):
        project.eval(f"e{one:02}", f"---\nmetrics: {{x: 1, y: 1}}\n---\nTask {one}.\n")
    told = race(project, "good,bad", status=1)
    whole = [row["eval"] for row in told["ratings"] if row["agent"] == "good" and not row["missing"]]
    assert len(whole) == 5
    assert all(one["state"] == "in" for one in told["race"]["contestants"]), "five evals in common drop nobody"


# -- what a plan can see


def test_a_dry_run_says_what_the_plan_can_see_from_an_assumption(project):
    contestants(project, one=0.5, two=0.5)
    evals(project, 8)
    told = project.orvl("one,two", "--eval=e*", "--episodes=3", "--dry-run", "--json").json["detectable"]
    assert (told["evals"], told["episodes"], told["power"]) == (8, 3, 0.8)
    assert told["sd"] == pytest.approx(0.40, abs=0.005)
    assert told["quick_difference"] == pytest.approx(0.40 * (2.365 + 0.896) / 8**0.5, abs=0.01)
    assert told["difference"] is None or told["difference"] > told["quick_difference"]
    assert told["source"].startswith("assumed")
    many = " ".join(project.orvl("one,two", "--eval=e*", "--episodes=3", "--dry-run").out.split())
    assert (
        "between two contestants with 80 % power" in many and "quick tests, which assume no rare collapses, see" in many
    )
    few = " ".join(project.orvl("one,two", "--eval=e0[0-4]", "--dry-run").out.split())
    assert "5 evals × 1 episode cannot tell two contestants apart, however they differ" in few
    assert "power" not in few and "at least 6 evals" in few
    told = project.orvl("one,two", "--eval=e0[0-4]", "--dry-run", "--json").json["detectable"]
    assert (told["difference"], told["quick_difference"]) == (None, None)
    assert not (project.root / ".orvl").exists()


def test_a_dry_run_counts_families(project):
    contestants(project, one=0.5, two=0.5)
    evals(project, 12)
    for one in range(12):
        project.eval(f"e{one:02}", f"---\nmetrics: {{x: 1}}\nfamily: f{one % 4}\n---\nTask {one}.\n")
    told = project.orvl("one,two", "--eval=e*", "--dry-run", "--json").json["detectable"]
    assert (told["evals"], told["families"], told["difference"]) == (12, 4, None)
    text = " ".join(project.orvl("one,two", "--eval=e*", "--dry-run").out.split())
    assert "12 evals × 1 episode (4 families) cannot tell two contestants apart" in text


def test_the_assumption_is_what_real_runs_showed():
    from orvl.rate.detectable import BY_EVAL, BY_RUN
    from orvl.rate.stats.paired import quick_detectable

    for runs, smallest in ((1, 0.159), (3, 0.127), (5, 0.119)):
        assert quick_detectable((BY_EVAL + BY_RUN / runs) ** 0.5, 80) == pytest.approx(smallest, abs=0.001)


def test_a_dry_run_knows_how_far_stored_ratings_spread(project):
    contestants(project, one=0.5, two=0.6, three=0.4)
    evals(project, 12)
    assert project.orvl("one,two", "--eval=e*", "-q").status == 0
    told = project.orvl("one,two", "--eval=e*", "--dry-run", "--json").json["detectable"]
    rows = {}
    for row in project.orvl("report", "--by=eval", "--json").json["ratings"]:
        rows[row["agent"], row["eval"]] = row["R"]
    apart = [rows["one", f"e{n:02}"] - rows["two", f"e{n:02}"] for n in range(12)]
    mean = sum(apart) / 12
    assert told["sd"] == pytest.approx((sum((one - mean) ** 2 for one in apart) / 11) ** 0.5)
    assert told["source"] == "from 24 stored runs of 2 contestants"
    new = project.orvl("one,three", "--eval=e*", "--dry-run", "--json").json["detectable"]
    assert (new["sd"], new["source"]) == (told["sd"], told["source"]), "others' history serves a new contestant"
