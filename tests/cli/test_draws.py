"""Draws: what differs from episode to episode, the same for all contestants, and known to checks but not to agents."""

from __future__ import annotations

import json
import os
import random
import re

import pytest

from helpers.viewing import viewing
from orvl.project import Project
from orvl.project.draw import drawn

EVAL = """
---
metrics: {checks: 1}
vary:
  city: [Lyon, Ghent, Porto]
  seats: {from: 6, to: 40}
  trap: [refunds, clock]
checks:
  - {name: says, run: python3 checks/says.py, isolated: true}
  - {name: other, run: python3 checks/other.py, isolated: true}
---
A bar in {{city}} has {{ seats }} seats, written \\{{seats}}.
--- or
In {{city}} there is a bar with {{seats}} seats.
---
Now the rest.
"""
SAYS = """
import json
from orvl import checks

values = checks.drawn()
said = (checks.read("said.txt") or b"").decode()
print(json.dumps({"drawn": values, "random": checks.random().random(), "more": checks.random().random()}))
if f"{values['city']} " not in said or f" {values['seats']} seats" not in said:
    checks.fail("it was told something else: " + said)
"""
AGENT = """
models = {"none": ["fixed"]}

def command(prompt):
    return ["sh", "-c", 'printf "%s\\n" "$1" >> said.txt; env >> env.txt; ls > ls.txt', "sh", prompt]
"""


@pytest.fixture
def bar(project):
    project.write("evals/bar/eval.md", EVAL)
    project.write("evals/bar/checks/says.py", SAYS)
    project.write("evals/bar/checks/other.py", SAYS)
    project.write("evals/bar/workspace/given.txt", "given\n")
    project.write("evals/bar/workspace/clock.txt", "plain\n")
    project.write("evals/bar/variants/trap/clock/clock.txt", "trapped\n")
    project.write("evals/bar/variants/trap/refunds/deep/refunds.csv", "1\n")
    for name in ("first", "second"):
        project.agent(name, AGENT)
    return project


def attempts(project, agent: str, episodes, eval_: str = "bar") -> dict[int, dict]:
    shown = {number: project.orvl("show", f"{agent}/{eval_}/{number}", "--json").json for number in episodes}
    return {number: one["attempts"][-1] for number, one in shown.items()}


def draws(project, agent: str, episodes, check: str = "says") -> list[dict]:
    found = attempts(project, agent, episodes).values()
    return [json.loads(next(row for row in one["checks"] if row["name"] == check)["output"]) for one in found]


def test_all_contestants_of_an_episode_get_the_same_and_episodes_differ(bar):
    rows = bar.orvl("first,second", "--eval=bar", "--episodes=5", "--json").json["ratings"]
    assert [row["R"] for row in rows] == [1, 1]
    first, second = (draws(bar, agent, range(1, 6)) for agent in ("first", "second"))
    assert first == second
    assert len({one["drawn"]["seats"] for one in first}) > 2
    assert {one["drawn"]["city"] for one in first} <= {"Lyon", "Ghent", "Porto"}
    assert len({one["random"] for one in first}) == 5
    assert all(one["random"] != one["more"] for one in first)
    assert draws(bar, "first", [1], "other")[0]["random"] != first[0]["random"]
    # The whole prompt, one of its wordings; and another start, as the trap wants it.
    for number, one in attempts(bar, "first", range(1, 6)).items():
        values = first[number - 1]["drawn"]
        assert one["prompts"] in (
            [f"A bar in {values['city']} has {values['seats']} seats, written {{{{seats}}}}.", "Now the rest."],
            [f"In {values['city']} there is a bar with {values['seats']} seats.", "Now the rest."],
        )
        said = bar.orvl("show", f"first/bar/{number}", "--file", "said.txt").out
        assert said == "".join(f"{prompt}\n" for prompt in one["prompts"])
        left = bar.orvl("show", f"first/bar/{number}", "--file", "ls.txt").out.split()
        assert ("deep" in left) is (values["trap"] == "refunds")
        clock = bar.orvl("show", f"first/bar/{number}", "--file", "clock.txt").out
        assert clock == ("trapped\n" if values["trap"] == "clock" else "plain\n")
    assert {one["drawn"]["trap"] for one in first} == {"clock", "refunds"}, "both starts were seen"
    assert len({one["prompts"][0][:2] for one in attempts(bar, "first", range(1, 6)).values()}) == 2


def test_an_agent_never_sees_the_draw(bar):
    bar.toml('seed = "a secret seed"\n')
    bar.orvl("first", "--eval=bar")
    (values,) = draws(bar, "first", [1])
    seen = bar.orvl("show", "first/bar/1", "--file", "env.txt").out
    for secret in ("a secret seed", "ORVL_SUBJECT", values["drawn"]["city"], values["drawn"]["trap"]):
        assert secret not in seen
    project = Project(bar.root)
    assert drawn(project.eval("bar"), 1).drawn.seed.hex() not in seen


def test_the_same_check_gets_the_same_numbers_again(bar):
    bar.orvl("first", "--eval=bar", "--episodes=2")
    before = draws(bar, "first", [1, 2])
    bar.write("evals/bar/checks/says.py", SAYS + "\n# changed\n")
    bar.orvl("first", "--eval=bar", "--episodes=2")
    assert draws(bar, "first", [1, 2]) == before
    assert len(bar.rows("SELECT * FROM attempt")) == 2


def test_another_seed_is_another_draw_and_another_run(bar):
    bar.orvl("first", "--eval=bar", "--episodes=3")
    before = draws(bar, "first", [1, 2, 3])
    bar.toml('seed = "2"\n')
    done = bar.orvl("first", "--eval=bar", "--episodes=3", "--dry-run")
    assert "the seed in orvl.toml" in done.out + done.err
    bar.orvl("first", "--eval=bar", "--episodes=3")
    assert len(bar.rows("SELECT * FROM attempt")) == 6
    assert draws(bar, "first", [1, 2, 3]) != before


def test_an_eval_without_draws_is_untouched_by_a_seed_and_by_braces(project):
    text = "Say {{city}} and \\{{this}}, {{output: date}} too."
    project.eval("plain", f"---\nmetrics: {{speed: 1}}\n---\n{text}\n")
    project.agent("first", AGENT)
    project.orvl("first", "--eval=plain")
    assert project.orvl("show", "first/plain/1", "--file", "said.txt").out.startswith("Say {{city}} and \\{{this}}")
    project.toml('seed = "2"\n')
    project.orvl("first", "--eval=plain")
    assert len(project.rows("SELECT * FROM attempt")) == 1


def test_digests_of_evals_without_draws_are_what_they_were(project):
    project.eval("plain", "---\nmetrics: {speed: 1}\nlimits: {turn: 60}\n---\nOne.\n---\nTwo {{x}}.\n")
    digest = Project(project.root).eval("plain").digest
    assert digest == "1d4f29c1cc1c32fd36de1f21cb3420673eaff9c74df6a0829c12a0590439d0fd"


def test_values_are_put_in_once_and_may_hold_anything(project):
    project.write(
        "evals/odd/eval.md",
        """
        ---
        metrics: {speed: 1}
        vary:
          one: ["{{two}} {{output: id}}\\n---\\nnot a turn\\n--- or\\n\\\\{{"]
          two: [2]
        ---
        {{one}}/{{two}}/{ {two} }/{two}/}}
        """,
    )
    project.agent("first", AGENT)
    project.orvl("first", "--eval=odd")
    (attempt,) = attempts(project, "first", [1], "odd").values()
    assert attempt["prompts"] == ["{{two}} {{output: id}}\n---\nnot a turn\n--- or\n\\{{/2/{ {two} }/{two}/}}"]
    assert len(attempt["turns"]) == 1


def test_the_drawn_prompt_is_what_everybody_is_shown(bar, tmp_path):
    bar.toml('[judges.fixed]\nanswers = "yes"\n')
    bar.orvl("first", "--eval=bar", "--metric=functionality,checks")
    (attempt,) = attempts(bar, "first", [1]).values()
    prompt = attempt["prompts"][0]
    assert "{{" not in prompt.replace("{{seats}}", "")
    shown = bar.orvl("show", "first/bar/1").out
    assert prompt in re.sub(r"\s+", " ", shown)
    bar.orvl("export", "atif", "first/bar/1", "--output", str(tmp_path / "atif"))
    (file,) = (tmp_path / "atif").iterdir()
    assert json.loads(file.read_text())["steps"][0]["message"] == prompt
    run = bar.orvl("show", "first/bar/1", "--json").json["run"]
    with viewing(bar) as viewer:
        assert prompt.replace("'", "&#x27;") in viewer.get(f"/run/{run}/steps").text
        assert "{{city}}" in viewer.get("/eval/bar").text


def test_the_library_gives_the_drawn_prompts(bar):
    import orvl

    bar.orvl("first", "--eval=bar")
    (run,) = orvl.open(bar.root).results("first").runs
    assert run.prompts == tuple(attempts(bar, "first", [1])[1]["prompts"])


def test_controls_have_the_values_and_their_own_braces(project):
    project.write("evals/greet/eval.md", GREET)
    project.write("evals/greet/checks/check.py", GREETS)
    project.write("evals/greet/controls/good/greet.py", 'print("{{city}}", {{number}}, "{{other}}", "\\{{city}}")\n')
    project.write("evals/greet/controls/good/deep/run.sh", "#!/bin/sh\necho {{ city }}\n").chmod(0o755)
    (project.root / "evals/greet/controls/good/picture.bin").write_bytes(b"\xff{{city}}")
    (project.root / "evals/greet/controls/good/link").symlink_to("greet.py")
    project.write("evals/greet/controls/bad/greet.py", "print(1)\n")
    rows = project.orvl("dummy-good,dummy-bad", "--eval=greet", "--episodes=4", "--json").json["ratings"]
    assert {row["agent"]: row["R"] for row in rows} == {"dummy-good": 1, "dummy-bad": 0}
    assert project.orvl("show", "dummy-good/greet/1", "--file", "picture.bin").out.endswith("{{city}}")


GREET = """
---
metrics: {checks: 1}
vary: {city: [Lyon, Ghent, Porto], number: {from: 1, to: 99}}
checks: [{name: greets, run: python3 checks/check.py, isolated: true}]
---
Greet {{city}}, {{number}} times.
"""
GREETS = """
from orvl import checks

values = checks.drawn()
ended = checks.run("python3", "greet.py")
expected = f"{values['city']} {values['number']} {{{{other}}}} {{{{city}}}}\\n"
other = checks.run("deep/run.sh")
if ended.stdout != expected or other.stdout.strip() != values["city"]:
    checks.fail(f"{ended} {other}")
"""


def test_a_control_is_checked_again_where_its_check_draws(project):
    """The files are the same in every episode; what the check makes up is not."""
    project.write("evals/flaky/eval.md", FLAKY)
    project.write("evals/flaky/checks/check.py", "from orvl import checks\nprint(checks.random().random())\n")
    project.write("evals/flaky/controls/good/a.txt", "a\n")
    project.orvl("dummy-good", "--eval=flaky", "--episodes=3")
    found = attempts(project, "dummy-good", [1, 2, 3], "flaky").values()
    assert len({one["checks"][0]["output"] for one in found}) == 3


FLAKY = """
---
metrics: {checks: 1}
checks: [{name: draws, run: python3 checks/check.py, isolated: true}]
---
Do it.
"""


def test_shell_checks_draw_too(project):
    project.write(
        "evals/shell.md",
        """
        ---
        metrics: {checks: 1}
        vary: {city: [Lyon]}
        checks:
          - {name: knows, run: 'test "$(subject drawn city)" = Lyon && ! subject drawn town', isolated: true}
          - {name: draws, run: 'test "$(subject random)" -ge 0 && test "$(subject random)" = "$(subject random)"', isolated: true}
        ---
        Go to {{city}}.
        """,
    )
    project.agent("first", AGENT)
    (row,) = project.orvl("first", "--eval=shell", "--json").json["ratings"]
    assert row["R"] == 1


def test_steps_are_filled_in(project):
    project.write(
        "evals/page.md",
        """
        ---
        vary: {city: [Lyon, Ghent]}
        app: {files: index.html}
        steps: ["expect text {{city}}"]
        checks: [{name: shows, steps: ["expect text \\\\{{ {{ city }}"]}]
        ---
        A page on {{city}}.
        """,
    )
    eval_ = Project(project.root).eval("page")
    filled = [drawn(eval_, episode) for episode in range(1, 9)]
    assert {one.steps for one in filled} == {("expect text Lyon",), ("expect text Ghent",)}
    assert {one.checks[0].steps[0] for one in filled} == {"expect text {{ Lyon", "expect text {{ Ghent"}


def test_a_draw_is_fair_and_depends_on_name_seed_and_episode_alone(project):
    for name in ("dice", "other"):
        project.eval(name, "---\nvary: {number: {from: 1, to: 6}, city: [a, b]}\n---\n{{number}}\n--- or\nx{{city}}\n")
    dice = Project(project.root).eval("dice")
    values = [drawn(dice, episode) for episode in range(1, 1201)]
    counts = [sum(one.drawn.values["number"] == face for one in values) for face in range(1, 7)]
    assert sum(counts) == 1200 and min(counts) > 150, counts
    said = sum(one.prompts[0].startswith("x") for one in values)
    assert 500 < said < 700, said
    again = [drawn(Project(project.root).eval("dice"), episode) for episode in (1, 1200)]
    assert [one.drawn for one in again] == [values[0].drawn, values[-1].drawn]
    other = Project(project.root).eval("other")
    assert [drawn(other, one).drawn.values for one in range(9)] != [drawn(dice, one).drawn.values for one in range(9)]
    # These never change, or stored runs would not be what their episodes say.
    assert [one.drawn.values for one in values[:2]] == [{"number": 4, "city": "b"}, {"number": 2, "city": "a"}]


def test_each_variant_has_its_own_start_and_gc_keeps_them(bar):
    bar.orvl("first", "--eval=bar", "--episodes=5")
    starts = sorted(path.name for path in (bar.root / ".orvl/starts").iterdir())
    assert len(starts) == 2
    bar.orvl("gc", "--yes")
    assert sorted(path.name for path in (bar.root / ".orvl/starts").iterdir()) == starts
    bar.write("evals/bar/variants/trap/clock/clock.txt", "trapped otherwise\n")
    bar.orvl("first", "--eval=bar", "--episodes=5")
    trapped = {bar.orvl("show", f"first/bar/{one}", "--file", "clock.txt").out for one in range(1, 6)}
    assert trapped == {"plain\n", "trapped otherwise\n"}


def test_variants_alone_are_a_start(project):
    project.write("evals/only/eval.md", "---\nmetrics: {speed: 1}\nvary: {trap: [a, b]}\n---\nGo.\n")
    project.write("evals/only/variants/trap/a/a.txt", "a\n")
    project.agent("first", AGENT)
    project.orvl("first", "--eval=only", "--episodes=6")
    lists = [project.orvl("show", f"first/only/{one}", "--file", "ls.txt").out.split() for one in range(1, 7)]
    assert {"a.txt" in one for one in lists} == {True, False}


@pytest.mark.parametrize(
    ("head", "prompt", "said"),
    [
        ("vary: {city: [a]}", "{{citty}}", "'vary' has no 'citty'. Did you mean 'city'?"),
        ("vary: {city: [a]}", "x\n\n{{city}", "evals/wrong/eval.md:6: '{{' has no '}}' on its line"),
        ("vary: {city: [a]}", "{{output: date}}\n--- or\n", "a wording of turn 1 is empty"),
        ("vary: {city: []}", "x", "'vary.city' must be a list such as"),
        ("vary: {city: Lyon}", "x", "'vary.city' must be a list such as"),
        ("vary: [city]", "x", "it must be names with choices"),
        ("vary: {city: [true]}", "x", "'vary.city' has True; put it into quotes"),
        ("vary: {city: [1.5]}", "x", "'vary.city' has 1.5; put it into quotes"),
        ("vary: {city: [a, a]}", "x", "'vary.city' has 'a' twice"),
        ("vary: {city: [1, '1']}", "x", "'vary.city' has '1' twice"),
        ("vary: {city: ['  ']}", "x", "a value of 'vary.city' is empty"),
        ('vary: {city: ["\\0"]}', "x", "has a NUL byte"),
        ("vary: {city: {from: 3, to: 1}}", "x", "goes from 3 down to 1"),
        ("vary: {city: {from: 3}}", "x", "'vary.city' must be a list such as"),
        ("vary: {city: {from: 0, to: 99999999999999999999}}", "x", "'vary.city' must be a list such as"),
        ("vary: {'a b': [1]}", "x", "cannot be the name of something that varies"),
        ("vary: {output: [1]}", "x", "cannot be the name of something that varies"),
        (f"vary: {{city: [{'x' * 1001}]}}", "x", "has more than 1000 characters"),
        (f"vary: {{city: [{'x' * 1000}]}}", "{{city}}" * 1100, "can have 1100000 characters; 1048576 at most"),
        ("vary: {city: [a]}\napp: {files: x.html}\nsteps: ['expect text {{town}}']", "x", "'vary' has no 'town'"),
    ],
)
def test_a_mistake_is_a_sentence(project, head, prompt, said):
    project.write("evals/wrong/eval.md", f"---\n{head}\n---\n{prompt}\n")
    done = project.orvl("dummy-good", "--eval=wrong")
    assert done.status == 2
    assert "evals/wrong/eval.md" in done.err and said in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("variants/trp/a/x.txt", "'vary' has no 'trp'. Did you mean 'trap'?"),
        ("variants/trap/c/x.txt", "'vary.trap' has no 'c'."),
        ("variants/number/07/x.txt", "'vary.number' has no '07'."),
        ("variants/number/41/x.txt", "'vary.number' has no '41'."),
        ("variants/trap/a", "this must be a folder"),
    ],
)
def test_a_variant_of_nothing_is_a_sentence(project, path, said):
    project.write("evals/wrong/eval.md", "---\nvary: {trap: [a, b], number: {from: 6, to: 40}}\n---\nx\n")
    project.write(f"evals/wrong/{path}", "x\n")
    done = project.orvl("dummy-good", "--eval=wrong")
    assert done.status == 2 and said in done.err and "evals/wrong/variants/" in done.err


@pytest.mark.parametrize(
    "link", ["variants", "variants/trap", "variants/trap/a", "variants/trap/a/x", "variants/trap/a/d"]
)
def test_a_variant_cannot_lead_outside(project, link):
    project.write("evals/wrong/eval.md", "---\nvary: {trap: [a, b]}\n---\nx\n")
    project.write("evals/wrong/checks/trap/a/secret.txt", "secret\n")
    secret = project.root / "evals/wrong/checks"
    target = {"variants": secret, "variants/trap": secret / "trap"}.get(link, secret / "trap" / "a")
    place = project.root / "evals/wrong" / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(os.path.relpath(target, place.parent))
    done = project.orvl("dummy-good", "--eval=wrong")
    assert done.status == 2 and "evals/wrong/variants" in done.err, done.err


def test_values_that_look_like_paths_lead_nowhere(project):
    project.write(
        "evals/paths/eval.md", "---\nmetrics: {speed: 1}\nvary: {trap: [../../checks, '..', a/b]}\n---\n{{trap}}\n"
    )
    project.write("evals/paths/checks/secret.txt", "secret\n")
    project.write("evals/paths/variants/trap/README.md", "no variant\n")
    project.agent("first", AGENT)
    assert project.orvl("first", "--eval=paths", "--episodes=6").status == 0
    lists = [project.orvl("show", f"first/paths/{one}", "--file", "ls.txt").out.split() for one in range(1, 7)]
    assert all("secret.txt" not in one and "README.md" not in one for one in lists)


def test_a_later_name_of_vary_is_laid_over_an_earlier_one(project):
    project.write("evals/both/eval.md", "---\nmetrics: {speed: 1}\nvary: {b: [1], a: [1]}\n---\nx\n")
    project.write("evals/both/variants/a/1/x", "of a\n")
    project.write("evals/both/variants/b/1/x/y", "of b\n")
    project.agent("first", AGENT)
    project.orvl("first", "--eval=both")
    assert project.orvl("show", "first/both/1", "--file", "x").out == "of a\n"


def test_random_numbers_are_python_s_own(bar):
    bar.orvl("first", "--eval=bar")
    (values,) = draws(bar, "first", [1])
    from orvl.project.draw import seed_of_check

    draw = drawn(Project(bar.root).eval("bar"), 1).drawn
    assert random.Random(seed_of_check(draw, "says")).random() == values["random"]
