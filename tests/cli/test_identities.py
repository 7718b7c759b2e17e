"""One board, one meaning: every command speaks of the runs of the files as they are now; the rest is history."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import time
from typing import Any

import pytest

from helpers.user_project import UserProject

SANDBOX = "none"
GOOD = "import sys\nfrom pathlib import Path\nPath('answer.txt').write_text('hello')\n"
BROKEN = "import sys\nsys.exit(0)\n"
AGENT = 'models = {"none": ["fixed"]}\ndef command(prompt): return ["python3", "tools/run.py", prompt]\n'
CHECKED = "---\nmetrics: {checks: 1}\nchecks: [{name: made, run: test -s answer.txt}]\n---\nSay hello.\n"


@pytest.fixture
def mine(project: UserProject) -> UserProject:
    project.agent("mine", AGENT)
    project.write("tools/run.py", GOOD)
    project.eval("e", CHECKED)
    return project


def run(project: UserProject, *words: str) -> Any:
    done = project.orvl(*(words or ("mine",)), "--json")
    assert done.status in (0, 1), done.err
    return done.json


def dry(project: UserProject, *words: str) -> Any:
    done = project.orvl(*(words or ("mine",)), "--dry-run", "--json")
    assert done.status == 0, done.err
    return done.json["plan"]


def changed(project: UserProject, *words: str) -> list[str]:
    """What a dry run says has changed, over all cells."""
    return [name for cell in dry(project, *words)["changed"] for name in cell["changed"]]


def everywhere(project: UserProject, agent: str = "mine", eval_: str = "e") -> set[float | None]:
    """R of the one run that counts, from every command that tells it."""
    numbers = {run(project, agent)["ratings"][0]["R"]}
    for by in ("agent", "eval", "run"):
        (row,) = (row for row in project.orvl("report", "--by", by, "--json").json["ratings"] if row["agent"] == agent)
        numbers.add(row["R"])
    shown = project.orvl("show", f"{agent}/{eval_}/1", "--json")
    assert shown.status == 0, shown.err
    numbers.add(shown.json["attempts"][-1]["scores"][-1]["value"])
    (row,) = exported(project, "runs", agent)
    numbers.add(float(row["R"]))
    assert row["run"] == shown.json["run"]
    (score,) = exported(project, "scores", agent)
    numbers.add(float(score["value"]))
    numbers |= {row["R"] for row in project.orvl("score", agent, "--json").json["ratings"]}
    return numbers


def exported(project: UserProject, what: str, *words: str) -> list[dict[str, str]]:
    done = project.orvl("export", what, "-", *words, "--format", "csv")
    assert done.status == 0, done.err
    return list(csv.DictReader(io.StringIO(done.out)))


def test_a_broken_and_restored_file_gives_the_same_number_everywhere(mine):
    assert everywhere(mine) == {1.0}
    mine.write("tools/run.py", BROKEN)
    assert everywhere(mine) == {0.0}
    mine.write("tools/run.py", GOOD)
    assert dry(mine)["reused"] == 1
    assert everywhere(mine) == {1.0}


def test_the_same_for_the_agents_own_file_and_an_older_time(mine):
    """As after `git checkout`: the content is what counts, not when it was written."""
    assert everywhere(mine) == {1.0}
    good = (mine.root / "agents/mine.py").read_text()
    mine.agent("mine", 'models = {"none": ["fixed"]}\ndef command(): return "true"\n')
    assert everywhere(mine) == {0.0}
    os.utime(mine.agent("mine", good), (1, 1))
    assert everywhere(mine) == {1.0}
    os.utime(mine.root / "tools/run.py", (2, 2))
    assert dry(mine)["to_run"] == 0


def test_before_it_is_run_again_the_old_number_is_history_and_said_to_be(mine):
    run(mine)
    mine.write("tools/run.py", BROKEN)
    report = mine.orvl("report", "--json").json
    assert report["ratings"] == []
    (sentence,) = report["warnings"]
    assert "tools/run.py" in sentence and "orvl mine" in sentence and "--history" in sentence
    shown = mine.orvl("show", "mine/e/1")
    assert shown.status == 2 and "tools/run.py" in shown.err and "history" in shown.err
    assert exported(mine, "runs") == []
    past = mine.orvl("report", "--history", "--json").json["history"]
    assert [(row["agent"], row["eval"], row["R"], row["changed"]) for row in past] == [
        ("mine", "e", 1.0, ["tools/run.py"])
    ]
    assert "tools/run.py" in mine.orvl("report", "--history").out
    assert mine.orvl("show", "mine/e", "--history", "--json").json["history"] == past
    shown = mine.orvl("show", past[0]["keys"][0][:12])
    assert shown.status == 0 and "This run is history: changed since: tools/run.py." in shown.out
    assert len(exported(mine, "runs", "--history")) == 1


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("tools/run.py", BROKEN, "tools/run.py"),
        ("tools/helper.py", "x = 1\n", "tools/helper.py"),
        ("tools/prompt.txt", "Be kind.\n", "tools/prompt.txt"),
        ("agents/mine.py", AGENT + "# more\n", "agents/mine.py"),
        ("evals/e.md", CHECKED.replace("Say hello", "Say goodbye"), "the prompts of the eval e"),
        ("evals/e.md", CHECKED.replace("metrics", "limits: {turn: 77}\nmetrics"), "the limits of the eval e"),
    ],
)
def test_a_dry_run_says_what_has_changed(mine, path, text, said):
    run(mine)
    mine.write(path, text)
    assert changed(mine) == [said]
    assert f"changed since its stored runs: {said}." in mine.orvl("mine", "--dry-run").out


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tools/__pycache__/run.cpython-311.pyc", "x"),
        ("tools/.run.py.swp", "x"),
        ("tools/node_modules/left/index.js", "x"),
        ("tools/.git/HEAD", "x"),
        ("notes.md", "Not the agent's."),
        ("evals/e.md", CHECKED.replace("test -s", "test -f")),
        ("scores/another.py", "def score(run): return 1.0\n"),
    ],
)
def test_what_does_not_make_a_run_does_not_make_it_anew(mine, path, text):
    run(mine)
    mine.write(path, text)
    assert dry(mine)["to_run"] == 0


def test_a_script_in_the_projects_folder_counts_with_what_it_imports(project):
    project.agent("mine", AGENT.replace("tools/run.py", "run.py"))
    project.write("run.py", "import helper\nfrom deep.er import thing\n" + GOOD)
    project.write("helper.py", "import further\n")
    project.write("further.py", "")
    project.write("deep/__init__.py", "")
    project.write("deep/er.py", "thing = 1\n")
    project.write("unrelated.py", "")
    project.eval("e", CHECKED)
    run(project)
    for name in ("helper.py", "further.py", "deep/er.py", "run.py"):
        before = (project.root / name).read_text()
        project.write(name, before + "# changed\n")
        assert changed(project) == [name]
        (project.root / name).write_text(before)
    project.write("unrelated.py", "x = 1\n")
    assert dry(project)["to_run"] == 0


@pytest.mark.parametrize(
    ("script", "text", "beside"),
    [
        ("bin/run.sh", '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\necho hello > answer.txt\n', "bin/lib.sh"),
        ("run.sh", '#!/bin/sh\n. "$(dirname "$0")/lib.sh"\necho hello > answer.txt\n', "lib.sh"),
        ("run.js", 'const x = require("./lib");\n', "lib.js"),
        ("run.mjs", 'import x from "./lib.mjs";\n', "lib.mjs"),
    ],
)
def test_other_languages_scripts_count_with_what_they_read(project, script, text, beside):
    program = "node" if "js" in script else "sh"
    project.agent("mine", f'models = {{"none": ["fixed"]}}\ndef command(): return "{program} {script}"\n')
    project.write(script, text)
    project.write(beside, "\n")
    project.eval("e", CHECKED)
    if program == "sh":
        run(project)
        project.write(beside, "true\n")
        assert changed(project) == [beside]
    from orvl.plan.named_files import named_files
    from orvl.project import open_project

    opened = open_project(project.root)
    agent = opened.agent("mine")
    assert beside in named_files(opened, agent, "none", "fixed").on(agent, opened.eval("e"))


def test_a_file_by_its_absolute_path_and_what_an_agents_file_reads_count(project):
    project.agent(
        "mine",
        """
        from pathlib import Path
        import shared
        models = {"none": ["fixed"]}
        HERE = Path(__file__).parent
        SYSTEM = HERE.joinpath("system.txt").read_text()
        def command(): return ["python3", str(HERE.parent / "elsewhere" / "run.py")]
        """,
    )
    for name, text in (("agents/system.txt", "Be kind."), ("shared.py", "x = 1"), ("elsewhere/run.py", GOOD)):
        project.write(name, text)
    project.eval("e", CHECKED)
    run(project)
    assert dry(project)["to_run"] == 0
    for name in ("agents/system.txt", "shared.py", "elsewhere/run.py"):
        before = (project.root / name).read_text()
        project.write(name, before + "\n#\n")
        assert changed(project) == [name]
        (project.root / name).write_text(before)


def test_asking_a_command_for_its_files_leaves_no_trace_in_runs(project):
    """What a command remembers of its calls, and what it prints, is the runs' own business."""
    project.agent(
        "mine",
        """
        models = {"none": ["fixed"]}
        calls = []
        def command():
            print("noise")
            calls.append(1)
            return ["sh", "-c", f"echo {len(calls)} > answer.txt"]
        """,
    )
    project.eval("e", CHECKED)
    assert run(project)["ratings"][0]["R"] == 1
    assert project.orvl("show", "mine/e/1", "--file", "answer.txt").out == "1\n"
    assert "noise" not in project.orvl("report").out


def test_a_script_that_a_command_writes_itself_is_not_a_file_of_its_own(project):
    project.agent(
        "mine",
        """
        import tempfile
        models = {"none": ["fixed"]}
        def command():
            with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as file:
                file.write(f"echo hello > answer.txt # {file.name}")
            return ["sh", file.name]
        """,
    )
    project.eval("e", CHECKED)
    run(project)
    assert dry(project)["to_run"] == 0


def test_a_version_that_goes_back_is_the_one_that_counts(project):
    project.agent(
        "mine",
        """
        models = {"none": ["fixed"]}
        version = ["sh", "-c", "cat $HOME/version"]
        def command(): return "true"
        """,
    )
    project.eval("e", CHECKED)
    home = project.tmp / "home"
    home.mkdir()
    env = {"HOME": str(home)}

    def at(version: str) -> Any:
        (home / "version").write_text(version)
        done = project.orvl("mine", "--json", env=env)
        assert done.status == 0, done.err
        shown = project.orvl("show", "mine/e/1", "--json").json
        (row,) = exported(project, "runs")
        assert shown["version"] == row["version"] == version
        return shown["run"]

    first, second = at("1.0"), at("2.0")
    assert first != second
    (home / "version").write_text("3.0")
    plan = project.orvl("mine", "--dry-run", "--json", env=env).json["plan"]
    assert plan["changed"][0]["changed"] == ["the version (2.0 → 3.0)"]
    assert at("1.0") == first
    assert project.orvl("score", "mine", "--json", env=env).json["ratings"][0]["runs"]["rated"] == 1


def test_an_overlay_that_changed_and_a_control_that_changed(mine):
    mine.write("overlays/kind/overlay.toml", 'env = {KIND = "yes"}\n')
    run(mine, "mine+kind")
    mine.write("overlays/kind/overlay.toml", 'env = {KIND = "very"}\n')
    assert changed(mine, "mine+kind") == ["the overlay kind"]
    mine.write("evals/f/eval.md", CHECKED)
    mine.write("evals/f/controls/good/answer.txt", "hello")
    run(mine, "dummy-good", "--eval", "f")
    mine.write("evals/f/controls/good/answer.txt", "hello!")
    assert changed(mine, "dummy-good", "--eval", "f") == ["controls/good of the eval f"]
    mine.write("evals/f/workspace/a.txt", "a")
    assert "the workspace of the eval f" in changed(mine, "dummy-good", "--eval", "f")


def test_a_renamed_agent_keeps_its_runs_under_the_old_name(mine):
    run(mine)
    (mine.root / "agents/mine.py").rename(mine.root / "agents/yours.py")
    assert [row["agent"] for row in mine.orvl("report", "--json").json["ratings"]] == ["mine"]
    run(mine, "yours")
    rows = mine.orvl("report", "--json").json["ratings"]
    assert sorted((row["agent"], row["R"]) for row in rows) == [("mine", 1.0), ("yours", 1.0)]
    assert mine.orvl("show", "mine/e/1").status == 0


def test_an_agent_that_cannot_be_loaded_now_shows_its_last_runs_and_says_so(mine):
    run(mine)
    mine.agent("mine", "models = {\n")
    shown = mine.orvl("report", "--json").json
    assert [row["R"] for row in shown["ratings"]] == [1.0]
    assert any("mine: shown are its last runs" in one and "agents/mine.py:1" in one for one in shown["warnings"])


def test_a_smaller_number_of_episodes_is_said_to_be_not_all(mine):
    run(mine, "mine", "--episodes", "3")
    assert not any("episode" in warning for warning in run(mine, "mine", "--episodes", "3")["warnings"])
    assert any("These ratings are of episode 1" in warning for warning in run(mine, "mine")["warnings"])


def test_two_agents_of_one_script_change_together(mine):
    mine.agent("other", AGENT.replace('"none": ["fixed"]', '"none": ["fixed", "more"]'))
    run(mine, "mine,other")
    mine.write("tools/run.py", BROKEN)
    assert len(changed(mine, "mine,other")) == 3
    assert {row["R"] for row in run(mine, "mine,other")["ratings"]} == {0.0}
    assert {row["R"] for row in mine.orvl("report", "--json").json["ratings"]} == {0.0}


def test_a_folder_that_is_too_large_counts_by_its_script_and_says_so(mine, monkeypatch):
    for number in range(2005):
        mine.write(f"tools/data/{number}.txt", "x")
    run(mine)
    assert any(
        "more than 2000 files" in warning for warning in mine.orvl("mine", "--dry-run", "--json").json["warnings"]
    )
    mine.write("tools/run.py", BROKEN)
    assert changed(mine) == ["tools/run.py"]


def test_a_command_that_fails_or_hangs_on_placeholders_names_no_files(project):
    project.agent(
        "mine",
        """
        import time
        models = {"none": ["fixed"]}
        def command(prompt):
            assert prompt == "Say hello.", prompt
            return ["sh", "-c", "echo hello > answer.txt"]
        """,
    )
    project.eval("e", CHECKED)
    assert run(project)["ratings"][0]["R"] == 1
    assert project.orvl("report", "--json").json["ratings"][0]["R"] == 1


@pytest.mark.nightly
def test_a_command_that_never_returns_is_not_waited_for(project):
    project.agent(
        "mine",
        """
        import time
        models = {"none": ["fixed", "more", "most"]}
        def command(prompt):
            if prompt != "Say hello.": time.sleep(600)
            return ["sh", "-c", "echo hello > answer.txt"]
        """,
    )
    project.eval("e", CHECKED)
    began = time.monotonic()
    done = project.orvl("mine", "--json")
    assert {row["R"] for row in done.json["ratings"]} == {1.0}
    assert any("did not return within 5 s" in warning for warning in done.json["warnings"])
    assert "mine fixed none" in project.orvl("report").out
    assert time.monotonic() - began < 40


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.nightly)])
def test_whatever_is_edited_restored_and_run_the_last_word_is_the_files(mine, seed):
    """Random edits of files that make a run; after each command, the number is that of the content that is there."""
    rng = random.Random(seed)
    contents = {
        "tools/run.py": [GOOD, BROKEN, GOOD + "# twice\n"],
        "tools/beside.txt": ["a", "b"],
        "evals/e.md": [CHECKED, CHECKED.replace("Say hello", "Say hello, please")],
    }
    now = {path: texts[0] for path, texts in contents.items()}
    ran: set[tuple[str, ...]] = set()
    for path, text in now.items():
        mine.write(path, text)
    for _ in range(7):
        path = rng.choice(list(contents))
        now[path] = rng.choice(contents[path])
        mine.write(path, now[path])
        state = tuple(now.values())
        plan = dry(mine)
        assert (plan["reused"], plan["to_run"]) == ((1, 0) if state in ran else (0, 1))
        assert bool(plan["changed"]) == (state not in ran and bool(ran))
        rows = mine.orvl("report", "--json").json["ratings"] if ran else []
        expected = 0.0 if now["tools/run.py"] == BROKEN else 1.0
        assert [row["R"] for row in rows] == ([expected] if state in ran else [])
        assert run(mine)["ratings"][0]["R"] == expected
        ran.add(state)
        assert mine.orvl("report", "--json").json["ratings"][0]["R"] == expected
        assert len(mine.orvl("report", "--history", "--json").json["history"]) == len(ran) - 1


def test_a_comparison_is_of_the_files_as_they_are_now(mine):
    mine.agent("other", AGENT + "# other\n")
    for agent in ("mine", "other"):
        run(mine, agent)
    mine.write("tools/run.py", BROKEN)
    run(mine, "mine,other")
    mine.write("tools/run.py", GOOD)
    run(mine, "mine")
    run(mine, "other")
    compared = mine.orvl("compare", "mine", "other", "--json").json
    assert json.dumps(compared).count("1.0")
    assert compared["evals"][0]["a"] == compared["evals"][0]["b"] == 1.0


def test_a_moved_project_keeps_its_runs(mine, tmp_path):
    run(mine)
    moved = UserProject(tmp_path / "elsewhere" / "project") if (tmp_path / "elsewhere").mkdir() is None else mine
    shutil.copytree(mine.root, moved.root, dirs_exist_ok=True)
    moved.sandbox = "none"
    assert dry(moved)["to_run"] == 0
    assert moved.orvl("report", "--json").json["ratings"][0]["R"] == 1.0


def test_what_a_command_writes_is_no_part_of_it(project):
    log = project.root / "bot.log"
    log.touch()
    script = project.root / "bot.py"
    script.write_text("import sys\nopen(sys.argv[1], 'a').write('x')\n")
    project.agent(
        "bot", f'models = {{"none": ["m"]}}\ndef command():\n    return ["python3", "bot.py", {str(log)!r}]\n'
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    for _ in range(2):
        assert project.orvl("bot", "--eval=e", "--sandbox=none").status == 0
    assert log.read_text() == "x"
    assert project.orvl("show", "bot/e/1").status == 0
