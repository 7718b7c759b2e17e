"""Mistakes that used to pass in silence are sentences, and none of them costs an agent points."""

from __future__ import annotations

import json

import pytest

from helpers.user_project import UserProject

SANDBOX = "none"
WRITER = """
models = {"none": ["fixed"]}
def command(prompt): return ["sh", "-c", "echo done > answer.txt; echo x >> $HOME/../../ran || true"]
"""
CHECKED = "---\nmetrics: {{checks: 1}}\nchecks:\n  - {{name: fine, run: test -s answer.txt}}\n  - {{name: odd, run: {run}}}\n---\nDo it.\n"


@pytest.fixture
def writer(project: UserProject) -> UserProject:
    project.agent("writer", WRITER)
    return project


def refusal(project: UserProject, *words: str) -> str:
    done = project.orvl("writer", *words)
    assert (done.status, done.out) == (2, ""), done
    return str(done.err)


# -- the front matter


@pytest.mark.parametrize(
    "text",
    [
        "checks:\n  - {name: a, run: 'true'}\n---\nDo it.\n",
        "metrics: {checks: 1}\nchecks:\n- name: a\n  run: 'true'\n\nDo it.\n",
        "# settings\ndescription: A test.\n---\nDo it.\n---\nMore.\n",
        "----\nchecks: [{name: a, run: 'true'}]\n---\nDo it.\n",
        "'par': {speed: 3}\n---\nDo it.\n",
        "\n\n---\nchecks: [{name: a, run: 'true'}]\n---\nDo it.\n",
        "\ufeffchecks: [{name: a, run: 'true'}]\r\n---\r\nDo it.\r\n",
    ],
)
def test_settings_without_a_line_above_them_never_become_a_prompt(writer, text):
    (writer.root / "evals").mkdir()
    (writer.root / "evals/one.md").write_bytes(text.encode())
    sentence = refusal(writer)
    assert "evals/one.md:1: " in sentence
    assert "'---'" in sentence


@pytest.mark.parametrize(
    "text",
    [
        "Checks: make sure that it works.\n---\nAnd then?\n",
        "description: I want this,\nand that as well.\n---\nMore.\n",
        "---\n---\nchecks: all green, please.\n---\nMore.\n",
        "Write YAML such as\nchecks: []\nlimits: {}\n",
        "steps: three of them, please.\n",
    ],
)
def test_a_prompt_may_speak_of_checks(writer, text):
    writer.eval("one", text)
    assert writer.orvl("writer", "--dry-run").status == 0


@pytest.mark.parametrize(
    ("head", "line", "words"),
    [
        ("description: a: b\nchecks: []", 2, "quotes"),
        ("description: x\nchecks: [\n  {name: a, run: x}\nlimits: {turn: 3}", 3, "']'"),
        ("description: x\nchecks: [\n  {name: a, run: x}\n  {name: b, run: x}\n]", 5, "']'"),
        ('description: "x\nchecks: []\nlimits: {turn: 3}', 2, "end"),
        ("description: x\nchecks:\n\t- {name: a, run: x}", 4, "tab"),
        ("description: x\nlimits: {turn: 3\nchecks:\n  - name: a\n    run: x", 3, "'}'"),
        ("description: x\nno colon here\nlimits: {turn: 3}", 3, "':'"),
        ("description: x\nchecks:\n  - name: a\n    run: @x", 5, "quotes"),
        ("description: x\nchecks:\n  - name: a\n    run: *x", 5, "alias"),
        ("description: x\nchecks:\n  - name: a\n    run: x\n   limit: 3", 6, "'-'"),
        ("description: x\nchecks:\n  - name: a\n    run: 'python3\n", 5, "end"),
    ],
)
def test_an_error_in_yaml_is_told_at_its_line(writer, head, line, words):
    writer.eval("one", f"---\n{head}\n---\nDo it.\n")
    sentence = refusal(writer)
    assert f"evals/one.md:{line}: bad front matter: " in sentence
    assert words in sentence


# -- checks


def test_a_check_that_runs_a_missing_hidden_file_is_the_evals_mistake(writer):
    folder = writer.root / "evals/one"
    (folder / "checks").mkdir(parents=True)
    (folder / "checks/check.py").write_text("print(1)\n")
    (folder / "eval.md").write_text(CHECKED.format(run="python3 checks/chek.py"))
    assert "evals/one/eval.md:5: check 'odd': there is no checks/chek.py. Did you mean 'check.py'?" in refusal(writer)
    for run in ("python3 checks/check.py", "sh -c 'python3 $CHECKS/check.py'", "python3 ./checks/check.py && true"):
        (folder / "eval.md").write_text(CHECKED.format(run=json.dumps(run)))
        assert writer.orvl("writer", "--dry-run").status == 0, run


def test_a_hidden_file_of_an_eval_without_a_folder_is_missing_unless_the_prompt_asks_for_it(writer):
    writer.eval("one", CHECKED.format(run="sh checks/all.sh"))
    assert "no folder checks/" in refusal(writer)
    writer.eval("one", CHECKED.format(run="sh checks/all.sh").replace("Do it.", "Write checks/all.sh."))
    assert writer.orvl("writer", "--dry-run").status == 0


@pytest.mark.parametrize(
    "run", ["no-such-program --all", "cd . && X=1 no-such-program | cat", "test -e answer.txt && no-such-program"]
)
def test_a_check_whose_program_is_missing_takes_no_points_off_the_agent(writer, run):
    writer.eval("one", CHECKED.format(run=json.dumps(run)))
    done = writer.orvl("writer", "--json")
    assert done.status == 1
    row = done.json["ratings"][0]
    assert (row["R"], row["runs"]["errored"]) == (None, 1)
    assert "the check odd of one calls 'no-such-program'" in json.dumps(done.json["warnings"])


def test_stored_runs_are_not_checked_with_a_program_that_is_missing(writer):
    writer.eval("one", CHECKED.format(run="'true'"))
    assert writer.orvl("writer", "--json").json["ratings"][0]["R"] == 1
    writer.eval("one", CHECKED.format(run="no-such-program"))
    done = writer.orvl("writer", "--json")
    assert done.json["ratings"][0]["R"] is None
    assert "no-such-program" in done.err


@pytest.mark.parametrize(
    "run",
    [
        "no-such-program || test -s answer.txt",
        "if command -v no-such-program; then exit 1; fi",
        "PATH=. no-such-program; true",
        ". ./answer.txt; no-such-program; true",
        "./no-such-program; true",
        "no_such_function() { true; }; no_such_function",
    ],
)
def test_a_program_that_may_be_missing_is_the_checks_own_business(writer, run):
    writer.eval("one", CHECKED.format(run=json.dumps(run)))
    row = writer.orvl("writer", "--json").json["ratings"][0]
    assert row["runs"]["errored"] == 0
    assert row["R"] is not None


# -- functions, providers, metrics


@pytest.mark.parametrize(
    "body",
    [
        "def score(run):\n    0.5\n",
        "def score(run):\n    value = 1\n    def inner():\n        return value\n    inner()\n",
        "async def score(run, judge):\n    await judge.checklist(['x'])\n",
        "def score(run):\n    if run.files:\n        return\n",
    ],
)
def test_a_score_without_a_return_is_refused(writer, body):
    writer.score("odd", body)
    writer.eval("one", "---\nmetrics: {odd: 1}\n---\nDo it.\n")
    sentence = refusal(writer)
    assert "scores/odd.py:1: 'score' has no 'return' with a value" in sentence


def test_a_command_without_a_return_is_refused(writer):
    writer.eval("one", "Do it.\n")
    writer.agent("writer", "models = {'none': ['fixed']}\n\ndef command(prompt):\n    ['echo', prompt]\n")
    assert "agents/writer.py:3: 'command' has no 'return' with a value" in refusal(writer)


def test_a_function_that_raises_is_told_in_its_own_words(writer):
    writer.score("odd", "def score(run):\n    raise ValueError('not today')\n")
    writer.eval("one", "---\nmetrics: {odd: 1}\n---\nDo it.\n")
    assert "not today" in writer.orvl("writer").out


def test_an_unknown_provider_is_named_with_the_closest_one(writer):
    writer.eval("one", "---\nmetrics: {speed: 1}\n---\nDo it.\n")
    writer.agent("writer", WRITER.replace("none", "opanai"))
    warnings = writer.orvl("writer", "--dry-run", "--json").json["warnings"]
    assert any("Unknown provider 'opanai'" in text and "'openai'" in text for text in warnings)
    assert any("Unknown provider 'opanai'" in text for text in writer.orvl("writer", "--json").json["warnings"])
    writer.toml("[providers.opanai]\nfree = true\n")
    assert writer.orvl("writer", "--dry-run", "--json").json["warnings"] == []


def test_a_dry_run_names_a_judge_that_cannot_be_reached(writer):
    writer.eval("one", "Do it.\n")
    writer.toml('[judges.strict]\nmodel = "x"\nprovider = "opanai"\n')
    done = writer.orvl("writer", "--dry-run", "--json")
    assert any("The judge strict: Unknown provider 'opanai'" in text for text in done.json["warnings"])


def test_a_metric_that_counts_nowhere_is_named(writer):
    writer.score("used", "def score(run): return 1.0\n")
    writer.score("idle", "def score(run): return 0.0\n")
    writer.eval("one", "---\nmetrics: {used: 1}\n---\nDo it.\n")
    sentence = "The metric idle (scores/idle.py) counts on none of 1 eval"
    assert any(sentence in text for text in writer.orvl("writer", "--json").json["warnings"])
    assert any(sentence in text for text in writer.orvl("report", "--json").json["warnings"])
    writer.eval("two", "---\nmetrics: {idle: 1}\n---\nDo it.\n")
    assert writer.orvl("writer", "--eval", "one", "--dry-run", "--json").json["warnings"] == []
