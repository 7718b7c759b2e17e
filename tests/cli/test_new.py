"""`orvl new`: files that load and run at once, asked for on a terminal and nowhere else, and never over others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from helpers.pseudo_terminal import dialogue
from orvl.project import open_project


def written(project) -> set[str]:
    """All files of a project but for the store's."""
    files = (path.relative_to(project.root) for path in project.root.rglob("*") if not path.is_dir())
    return {str(path) for path in files if path.parts[0] != ".orvl"}


def checks_of(project, run: str) -> dict[str, bool]:
    shown = project.orvl("show", run, "--json").json["attempts"][0]["checks"]
    return {check["name"]: check["passed"] for check in shown}


@pytest.fixture
def at_a_terminal(project) -> dict[str, str]:
    return {**{name: value for name, value in project.env.items() if name != "CI"}, "TERM": "xterm"}


# -- an eval


def test_an_eval_of_nothing_but_a_name_runs_and_tells_good_work_from_none(project):
    made = project.orvl("new", "eval", "greet")
    assert made.status == 0, made.err
    assert made.out == (
        "made  evals/greet/eval.md\nmade  evals/greet/checks/check.py\nmade  evals/greet/controls/good/greet.py\n"
        "Try it: orvl dummy-good --eval greet\n"
    )
    assert project.orvl("dummy-good,empty", "--eval", "greet").status == 0
    assert checks_of(project, "dummy-good/greet/1") == {"works": True}
    assert checks_of(project, "empty/greet/1") == {"works": False}


def test_the_check_of_an_own_prompt_tries_what_its_flags_say(project):
    files = project.root / "shop"
    (files / ".git").mkdir(parents=True)
    (files / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (files / "node_modules" / "x").mkdir(parents=True)
    (files / "node_modules" / "x" / "index.js").write_text("")
    project.write("shop/shop.py", "print('closed')\n")
    project.write("good/shop.py", "print('it is \"open\" now')\n")
    words = ("--prompt", "Open the shop.\n---\nNow.", "--prompt", "And on Sundays?", "--workspace", "shop")
    made = project.orvl(
        *("new", "eval", "shop_hours", *words, "--good", "good"),
        *("--run", "python3 shop.py 'a b'", "--prints", 'it is "open" now'),
    )
    assert made.status == 0, made.err
    eval_ = open_project(project.root).eval("shop-hours")
    assert eval_.prompts == ("Open the shop.\n---\nNow.", "And on Sundays?")
    assert "Try it: orvl dummy-good --eval shop-hours" in made.out
    assert {name for name in written(project) if name.startswith("evals/shop-hours/workspace")} == {
        "evals/shop-hours/workspace/shop.py"
    }
    assert project.orvl("dummy-good,empty", "--eval", "shop-hours").status == 0
    assert checks_of(project, "dummy-good/shop-hours/1") == {"works": True}
    assert checks_of(project, "empty/shop-hours/1") == {"works": False}


@pytest.mark.parametrize(
    ("flags", "files", "checks"),
    [
        (["--check", "none"], {"evals/own.md"}, 0),
        (["--prompt", "Write a.txt.", "--check", "command", "--run", "test -s a.txt"], {"evals/own.md"}, 1),
        (["--prompt", "Write main.py."], {"evals/own/eval.md", "evals/own/checks/check.py"}, 1),
        (
            ["--check", "command"],
            {"evals/own/eval.md", "evals/own/controls/good/greet.py"},
            1,
        ),
    ],
    ids=["nothing", "command", "isolated", "example"],
)
def test_an_eval_has_only_the_files_that_it_needs(project, flags, files, checks):
    assert project.orvl("new", "eval", "own", *flags).status == 0
    assert written(project) == files
    assert len(open_project(project.root).eval("own").checks) == checks


def test_a_folder_is_copied_without_the_projects_own_parts(project):
    project.eval("other", "Secret.\n")
    project.write("src/a.py", "a = 1\n")
    assert project.orvl("new", "eval", "own", "--prompt", "Go.", "--check", "none", "--workspace", ".").status == 0
    assert {name for name in written(project) if name.startswith("evals/own/")} == {
        "evals/own/eval.md",
        "evals/own/workspace/src/a.py",
    }


def test_what_cannot_be_copied_is_a_sentence_and_leaves_nothing(project):
    (project.root / "files").mkdir()
    (project.root / "files" / "passwd").symlink_to("/etc/passwd")
    refused = project.orvl("new", "eval", "own", "--workspace", "files")
    assert refused.status == 2
    assert f"{project.root}/evals/own/workspace/passwd" in refused.err and "leads outside" in refused.err
    assert not (project.root / "evals").exists()
    refused = project.orvl("new", "eval", "own", "--workspace", "nowhere")
    assert (refused.status, refused.err) == (2, "orvl: There is no folder nowhere to copy.\n")


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--check", "none", "--run", "true"], "--check none checks nothing: leave out --run and --prints."),
        (["--check", "command", "--prints", "x"], "--prints is what the command of an isolated check prints"),
        (["--run", "python3 'x"], "'python3 'x' is no command: no closing quotation."),
        (["--test", "pytest"], "Leave out --test: it is for evals that are made with --commits."),
        (["--commits", "a..b", "--prompt", "x"], "Leave out --prompt: commits already say that."),
        (["--commits", "a..b", "--model", "x"], "give both, as --model claude-sonnet-4-5 --provider anthropic."),
    ],
)
def test_flags_that_do_not_go_together_are_refused(project, flags, sentence):
    refused = project.orvl("new", "eval", "own", *flags)
    assert refused.status == 2 and sentence in refused.err
    assert not written(project)


# -- an agent


@pytest.mark.parametrize(
    ("flags", "command"),
    [
        ([], '["mine", "--model", model, prompt]'),
        (
            ["--program", "mine run 'a b'", "--prompt-by=--message"],
            '["mine", "run", "a b", "--model", model, "--message", prompt]',
        ),
        (
            ["--prompt-by", "stdin", "--model-by", "-m", "--protocol", "anthropic"],
            'Command(["mine", "-m", model], stdin=prompt)',
        ),
        (["--protocol", "acp", "--program", "mine acp", "--model-by", "none"], '["mine", "acp"]'),
        (["--protocol", "none"], '["mine", prompt]'),
        (["--models", "ollama:a,ollama:b", "--models", "zen:qwen3-coder"], '["mine", "--model", model, prompt]'),
    ],
)
def test_an_agent_can_be_planned_at_once(project, flags, command):
    made = project.orvl("new", "agent", "mine", *flags)
    assert made.status == 0, made.err
    assert made.out == "made  agents/mine.py\nTry it: orvl mine --dry-run\n"
    assert f"    return {command}\n" in (project.root / "agents/mine.py").read_text()
    planned = project.orvl("mine", "--dry-run", "--eval", "hello-world")
    assert planned.status == 0, planned.err


def test_an_agent_gets_its_prompt_as_it_was_told(project):
    project.write(
        "tools/agent.py", "import sys\nopen('said', 'w').write(sys.argv[1] if sys.argv[1:] else sys.stdin.read())\n"
    )
    for name, how in (("by-argument", "argument"), ("by-stdin", "stdin")):
        flags = ("--program", "python3 tools/agent.py", "--protocol", "none", "--prompt-by", how)
        assert project.orvl("new", "agent", name, *flags).status == 0
    project.eval("odd", "---\nmetrics: {speed: 1}\n---\n-x \"$(echo no)\" 'q'\n")
    ran = project.orvl("by-*", "--eval", "odd")
    assert ran.status == 0, ran.err
    for name in ("by-argument", "by-stdin"):
        assert project.orvl("show", f"{name}/odd/1", "--file", "said").out.strip() == "-x \"$(echo no)\" 'q'"


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["--protocol", "opnai"], "There is no protocol 'opnai'. Did you mean 'openai'?"),
        (["--models", "antropic:claude"], "Unknown provider 'antropic'. Did you mean 'anthropic'?"),
        (["--models", "claude"], "'claude' is no model at a provider; write PROVIDER:MODEL"),
        (["--prompt-by", "argumnt"], "Did you mean 'argument'?"),
        (["--model-by", "model"], "'model' is no flag"),
        (["--program", ""], "An agent needs the command that starts its program"),
    ],
)
def test_an_agent_that_could_not_run_is_a_sentence(project, flags, sentence):
    refused = project.orvl("new", "agent", "mine", *flags)
    assert refused.status == 2 and sentence in refused.err
    assert not written(project)


# -- a score


def test_each_kind_of_score_scores_at_once(small):
    assert small.orvl("new", "score", "short").status == 0
    assert small.orvl("new", "score", "handed-over", "--kind", "checklist", "--item", 'It says "hello".').status == 0
    assert small.orvl("new", "score", "careful", "--kind", "judged", "--question", 'Is it "safe"?').status == 0
    assert written(small) >= {"scores/short.py", "scores/handed_over.py", "scores/careful.py"}
    assert open_project(small.root).metric("handed-over").items == (('It says "hello".', 1.0),)
    assert open_project(small.root).metric("careful").description == 'Is it "safe"?'
    ran = small.orvl("writer", "--metric", "short,handed-over,careful", "--judge", "fixed", "--json")
    assert ran.status == 0, ran.err
    means = {name: metric["mean"] for name, metric in ran.json["ratings"][0]["metrics"].items()}
    assert means == {"short": pytest.approx(200 / 201), "handed-over": 1.0, "careful": 1.0}


def test_a_kind_of_score_that_is_none_is_a_sentence(project):
    refused = project.orvl("new", "score", "own", "--kind", "cheklist")
    assert "There is no kind 'cheklist' of score. Did you mean 'checklist'?" in refused.err
    refused = project.orvl("new", "score", "own", "--item", "It works.")
    assert "A function has no items: add --kind checklist" in refused.err
    assert not written(project)


# -- names


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["evl", "x"], "orvl new makes an eval, an agent or a score, and no 'evl'. Did you mean 'eval'?"),
        (
            ["eval", "my eval!"],
            "'my eval!' cannot be the name of a new eval: use letters, digits, '-' and '.'. Did you mean 'my-eval'?",
        ),
        (["eval", "../out"], "Did you mean 'out'?"),
        (["eval", "README"], "'README' cannot be the name of a new eval"),
        (["eval", "all"], "'all' cannot be the name of a new eval: 'all' means all of them."),
        (
            ["agent", "report"],
            "An agent cannot be named 'report', which is a command of orvl. Did you mean 'my-report'?",
        ),
        (["agent", "new"], "An agent cannot be named 'new', which is a command of orvl."),
        (["eval", "hello_world"], "There is already an eval 'hello-world' (it is built-in). Choose another name."),
        (["score", "speed"], "There is already a score 'speed' (it is built-in)."),
    ],
)
def test_a_name_that_cannot_be_is_a_sentence(project, words, sentence):
    refused = project.orvl("new", *words)
    assert refused.status == 2 and sentence in refused.err
    assert not written(project)


def test_nothing_is_overwritten(project):
    project.eval("own", "Mine.\n")
    project.agent("my_agent", "models = {'none': ['m']}\ndef command(): return 'true'\n")
    project.score("own", "def score(run): return 1\n")
    (project.root / "agents" / "gone.py").symlink_to(project.root / "nowhere")
    before = {name: (project.root / name).read_bytes() for name in written(project) if name != "agents/gone.py"}
    for kind, name in (
        ("eval", "own"),
        ("agent", "my-agent"),
        ("agent", "my_agent"),
        ("score", "own"),
        ("agent", "gone"),
    ):
        refused = project.orvl("new", kind, name)
        assert refused.status == 2 and "There is already" in refused.err, (kind, name, refused.err)
    assert {name: (project.root / name).read_bytes() for name in before} == before
    assert not (project.root / "nowhere").exists()


def test_another_project_and_the_help(project):
    other = project.root / "other"
    other.mkdir()
    made = project.orvl("--project", "other", "new", "eval", "greet")
    assert made.status == 0 and "made  other/evals/greet/eval.md" in made.out
    assert project.orvl("new", "agent", "mine", "--project", str(other)).status == 0
    assert project.orvl("new").out == project.orvl("new", "--help").out
    assert "orvl new eval" in project.orvl("new").out


# -- on a terminal


def test_a_dialogue_makes_an_eval(project, at_a_terminal):
    answers = [
        (b"What do you ask the agent?", b"Write a.txt.\n"),
        (b"What do you ask in turn 2?", b"Now b.txt.\n"),
        (b"What do you ask in turn 3?", b"\n"),
        (b"A folder whose files it starts with", b"\n"),
        (b"How is the result checked?", b"comand\n"),
        (b"How is the result checked?", b"command\n"),
        (b"Which command checks it?", b"test -s b.txt\n"),
        (b"A folder with an example of good work", b"\n"),
    ]
    status, drawn = dialogue(project, "new", "eval", "two", env=at_a_terminal, answers=answers)
    assert status == 0, drawn
    assert b"made  evals/two.md" in drawn and b"Try it: orvl AGENT --eval two" in drawn
    eval_ = open_project(project.root).eval("two")
    assert eval_.prompts == ("Write a.txt.", "Now b.txt.")
    assert [check.run for check in eval_.checks] == ["test -s b.txt"]


def test_enter_takes_the_defaults_and_flags_are_not_asked_for(project, at_a_terminal):
    answers = [
        (b"Which command starts it? [mine]", b"\n"),
        (b"How does it take the prompt?", b"\n"),
        (b"By which flag is it told its model?", b"\n"),
        (b"Which models? PROVIDER:MODEL, \xe2\x80\xa6 [anthropic:claude-sonnet-4-5]", b"\n"),
    ]
    words = ("new", "agent", "mine", "--protocol", "anthropic")
    status, drawn = dialogue(project, *words, env=at_a_terminal, answers=answers)
    assert status == 0, drawn
    assert b"What does it speak" not in drawn
    assert open_project(project.root).agent("mine").protocols == ("anthropic",)
    status, drawn = dialogue(
        *(project, "new", "score", "own"),
        env=at_a_terminal,
        answers=[
            (b"What is it? [function]", b"\n"),
            (b"What does it ask? [How little had to be written?]", b"Is it short?\n"),
        ],
    )
    assert status == 0, drawn
    assert open_project(project.root).metric("own").description == "Is it short?"


@pytest.mark.parametrize(
    ("at", "press"), [(b"What do you ask the agent?", b"\x03"), (b"How is the result checked?", b"\x04")]
)
def test_leaving_a_dialogue_leaves_nothing_behind(project, at_a_terminal, at, press):
    answers = [(b"What do you ask the agent?", b"x\n"), (b"turn 2?", b"\n"), (b"starts with", b"\n")]
    before = [*answers, (at, press)] if at != answers[0][0] else [(at, press)]
    status, drawn = dialogue(project, "new", "eval", "own", env=at_a_terminal, answers=before)
    assert status == 130, drawn
    assert b"Traceback" not in drawn
    assert not list(project.root.iterdir())


def test_yes_asks_nothing_on_a_terminal(project, at_a_terminal):
    status, drawn = dialogue(project, "new", "eval", "greet", "--yes", env=at_a_terminal, answers=[])
    assert status == 0 and b"What do you ask" not in drawn


def test_without_a_terminal_nobody_is_waited_for(project):
    """Standard input is a pipe that nobody writes to."""
    reading, writing = os.pipe()
    for kind in ("eval", "agent", "score"):
        done = subprocess.run(
            [*project.command, "new", kind, "own"],
            cwd=project.root,
            env=project.env,
            stdin=reading,
            capture_output=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
    os.close(reading)
    os.close(writing)
    assert {Path(name).parts[0] for name in written(project)} == {"evals", "agents", "scores"}
