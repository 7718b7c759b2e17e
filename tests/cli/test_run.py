"""Running: the prompt arrives as it is, turns share a session, limits hold, outcomes are told."""

from __future__ import annotations

import json

import pytest

PROMPT = """it's "x"; $(touch pwned) \\n -rf `id` $HOME *"""

ARGS = """
import json, sys

with open("args.json", "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
"""

FORMS = {
    "string": 'return f"python3 {HERE}/args.py -m {provider}/{model} {prompt}"',
    "quoted": "return f\"python3 '{HERE}/args.py' -m {provider}/{model} '{prompt}'\"",
    "words": 'return ["python3", f"{HERE}/args.py", "-m", f"{provider}/{model}", prompt]',
    "words-fstring": 'return ["python3", f"{HERE}/args.py", "-m", f"{provider}/{model}", f"{prompt}"]',
    "percent": 'return "python3 %s/args.py -m %s/%s %s" % (HERE, provider, model, prompt)',
    "format": 'return "python3 {}/args.py -m {}/{} {}".format(HERE, provider, model, prompt)',
    "join": 'return " ".join(["python3", f"{HERE}/args.py", "-m", f"{provider}/{model}", prompt])',
    "strip": 'return f"python3 {HERE}/args.py -m {provider}/{model} {prompt.strip()}"',
    "plus": 'return f"python3 {HERE}/args.py -m {provider}/{model} " + prompt',
    "shlex": 'import shlex; return f"python3 {HERE}/args.py -m {provider}/{model} {shlex.quote(prompt)}"',
    "command": "import orvl; return orvl.Command(['python3', f'{HERE}/args.py', '-m', f'{provider}/{model}', prompt])",
}


PROMPTS = [PROMPT, "-rf", "two\nlines\n\n\ttab", "naïve ☃ 'quote", "x" * 2000, "a", "''", "\\", "--", "a\\ b 'c\" d"]


def test_a_prompt_is_one_argument_byte_for_byte_in_every_form(project):
    project.write("tool/args.py", ARGS)
    for form, body in FORMS.items():
        project.agent(
            form,
            f"""
            from pathlib import Path
            HERE = Path(__file__).parent.parent / "tool"
            models = {{"zen": ["m1"]}}

            def command(provider, model, prompt):
                {body}
            """,
        )
    for number, prompt in enumerate(PROMPTS):
        project.eval(f"e{number}", "---\nmetrics: {arrived: 1}\n---\n" + prompt)
    project.score(
        "arrived",
        """
        import json
        def score(run): return json.loads(run.read("args.json")) == ["-m", "zen/m1", run.prompts[0]]
        """,
    )
    result = project.orvl(",".join(FORMS), "--eval=e*", "--yes", "--json")
    assert result.status == 0, result.err
    wrong = [(row["agent"], row["eval"]) for row in result.json["ratings"] if row["R"] != 1.0]
    assert not wrong
    assert len(result.json["ratings"]) == len(FORMS) * len(PROMPTS)
    assert not list(project.root.rglob("pwned"))


def test_words_of_an_embedded_prompt_stay_one(project):
    project.write("tool/args.py", ARGS)
    project.agent(
        "mine",
        """
        from pathlib import Path
        models = {"none": ["fixed"]}

        def command(prompt, workspace):
            return ["python3", f"{Path(__file__).parent.parent}/tool/args.py", f"--message={prompt}", workspace / "x"]
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\na b  'c'")
    assert project.orvl("mine", "--eval=e").status == 0
    message, path = json.loads(project.orvl("show", "mine/e/1", "--file", "args.json").out)
    assert message == "--message=a b  'c'"
    assert path.endswith("/workspace/x")


@pytest.mark.parametrize("size", [100 * 1024, 100 * 1024 + 1, 300_000])
def test_a_long_prompt_comes_by_standard_input(project, size):
    project.agent(
        "mine",
        """
        CODE = "import sys; open('got', 'w').write(' '.join(sys.argv[1:]) or sys.stdin.read())"
        models = {"none": ["fixed"]}

        def command(prompt):
            return ["python3", "-c", CODE, prompt]
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\n" + "x" * size)
    assert project.orvl("mine", "--eval=e").status == 0
    assert project.orvl("show", "mine/e/1", "--file", "got").out == "x" * size


def test_a_long_prompt_inside_a_word_is_refused_with_the_fix(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(prompt): return ["echo", f"--p={prompt}"]\n')
    project.eval("e", "x" * 200_000)
    result = project.orvl("mine", "--eval=e")
    assert result.status == 1
    assert "agents/mine.py:2: the prompt has 195 KiB" in result.err
    assert "Command(argv, stdin=prompt)" in result.err


def test_turns_share_the_agents_session_home_and_workspace(project):
    project.agent(
        "mine",
        """
        import json
        models = {"none": ["m"]}
        CODE = (
            "import json, os, sys, pathlib;"
            "home = pathlib.Path(os.environ['HOME'], 'state'); home.open('a').write(sys.argv[1] + ';');"
            "open('log', 'a').write(json.dumps([sys.argv[1:], home.read_text()]) + chr(10));"
            "print(json.dumps({'id': 'my session; -x'}))"
        )

        def command(prompt, session, turn):
            return ["python3", "-c", CODE, str(turn), *(["--resume", session] if session else []), prompt]

        def read(output):
            usage = {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.5}
            return {"session": json.loads(output)["id"], "usage": usage}
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nfirst\n---\nsecond\n---\nthird")
    result = project.orvl("mine", "--eval=e", "--json")
    assert result.status == 0, result.err
    lines = [json.loads(line) for line in project.orvl("show", "mine/e/1", "--file", "log").out.splitlines()]
    assert lines == [
        [["1", "first"], "1;"],
        [["2", "--resume", "my session; -x", "second"], "1;2;"],
        [["3", "--resume", "my session; -x", "third"], "1;2;3;"],
    ]
    usage = result.json["ratings"][0]["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["cost_usd"]) == (30, 15, 1.5)
    assert usage["cost_source"] == "agent"


def test_usage_that_misses_a_turn_is_unknown(project):
    project.agent(
        "mine",
        """
        models = {"zen": ["m"]}
        def command(): return "true"
        def read(turn): return {"usage": {"input_tokens": 10} if turn == 1 else {}}
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1, tokens: 1}\n---\nfirst\n---\nsecond")
    rating = project.orvl("mine", "--eval=e", "--json").json["ratings"][0]
    assert rating["usage"]["input_tokens"] is None
    assert rating["usage"]["cost_usd"] is None
    assert rating["metrics"]["tokens"]["mean"] is None
    assert rating["missing"] == ["tokens"]


def test_the_environment_is_clean_and_private(project):
    project.agent(
        "mine",
        """
        models = {"none": ["m"]}
        def command(): return ["sh", "-c", "env > env.txt; ls -a $HOME $TMPDIR > ls.txt; pwd > pwd.txt; cat > in.txt"]
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    assert project.orvl("mine", "--eval=e", env={"SECRET_API_KEY": "canary-1234"}).status == 0
    env = project.orvl("show", "mine/e/1", "--file", "env.txt").out
    assert "canary" not in env
    names = {line.split("=")[0] for line in env.splitlines()}
    assert {"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "PATH"} <= names
    assert project.orvl("show", "mine/e/1", "--file", "in.txt").out == ""
    assert str(project.root) not in project.orvl("show", "mine/e/1", "--file", "pwd.txt").out


def test_command_brings_environment_files_and_standard_input(project):
    project.agent(
        "mine",
        """
        from orvl import Command
        models = {"none": ["m"]}

        def command(prompt):
            return Command(
                ["sh", "-c", "cat > in; cp ~/.config/a/b.json b; printf %s $MINE > env"],
                env={"MINE": f"{prompt}!"}, files={".config/a/b.json": f'{{"p": "{prompt}"}}'}, stdin=prompt,
            )
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nhey")
    assert project.orvl("mine", "--eval=e").status == 0
    assert [project.orvl("show", "mine/e/1", "--file", name).out for name in ("in", "b", "env")] == [
        "hey",
        '{"p": "hey"}',
        "hey!",
    ]


@pytest.mark.parametrize("path", ["../out", "/etc/x", "a/../../b", ""])
def test_files_must_lie_in_home(project, path):
    body = f"def command(): return orvl.Command(['ls'], files={{{path!r}: ''}})"
    project.agent(
        "mine",
        f"import orvl\nmodels = {{'none': ['m']}}\n{body}\n",
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    result = project.orvl("mine", "--eval=e")
    assert result.status == 1
    assert "agents/mine.py:3" in result.err


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        ('return "false"', "failed", "turn 1 ended with status 1"),
        ('return ["sh", "-c", "kill -9 $$"]', "failed", "signal 9"),
        ('return ["sleep", "60"]', "failed", "turn 1 passed its limit of 0.5 s (limits.turn)"),
        ('return ["sh", "-c", "trap \'\' TERM; sleep 60 & wait; sleep 60"]', "failed", "limits.turn"),
        ("return 1 / 0", "errored", "agents/mine.py:2: ZeroDivisionError"),
        ("return 7", "errored", "a command must be a string"),
        ('return ""', "errored", "the command is empty"),
        ('return "a \'b"', "errored", "cannot be split into words"),
        ('return ["no-such-program-here"]', "errored", "'no-such-program-here' is not installed"),
        ('return ["/etc/passwd"]', "errored", "could not be started"),
    ],
)
def test_outcomes(project, body, outcome, words):
    project.agent("mine", f'models = {{"none": ["m"]}}\ndef command(): {body}\n')
    project.eval("e", "---\nmetrics: {speed: 1}\nlimits: {turn: 0.5, grace: 0.3}\n---\nx\n---\ny")
    result = project.orvl("mine", "--eval=e", "--json")
    runs = result.json["ratings"][0]["runs"]
    assert words in result.err
    if outcome == "failed":
        assert result.status == 0
        assert runs == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}
    else:
        assert result.status in (1, 2)
        assert runs == {"planned": 1, "rated": 0, "failed": 0, "errored": 1}
        assert result.json["ratings"][0]["R"] is None


def test_the_whole_run_has_a_limit(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "sleep 0.6"\n')
    project.eval("e", "---\nmetrics: {speed: 1}\nlimits: {run: 1}\n---\na\n---\nb\n---\nc")
    result = project.orvl("mine", "--eval=e", "--json")
    assert "turn 2 passed the run's limit of 1 s (limits.run)" in result.err
    assert result.json["ratings"][0]["runs"]["failed"] == 1


def test_what_the_agents_own_words_say(project):
    project.agent(
        "mine",
        """
        models = {"none": ["m"]}
        def command(): return "true"
        def read(): return {"error": "it gave up"}
        """,
    )
    project.agent(
        "other",
        """
        models = {"none": ["m"]}
        def command(): return ["sh", "-c", "echo x >> $HOME/x"]
        def read(): return {"provider_error": "401 bad key"}
        """,
    )
    project.toml("attempts = 2")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    result = project.orvl("mine,other", "--eval=e", "--json")
    runs = {row["agent"]: row["runs"] for row in result.json["ratings"]}
    assert runs["mine"] == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}
    assert runs["other"] == {"planned": 1, "rated": 0, "failed": 0, "errored": 1}
    assert result.status == 1
    assert project.rows("SELECT count(*) FROM attempt WHERE outcome = 'errored'") == [(2,)]


def test_a_command_may_write_into_the_workspace_itself(project):
    project.agent(
        "mine",
        """
        models = {"none": ["m"]}
        SIZES = {"none-m": 3}

        def command(provider, model, workspace):
            with open(workspace / "one.txt", "w") as file:
                file.write("1" * SIZES[f"{provider}-{model}"])
            (workspace / "two.txt").write_text("2")
            return "echo done"
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    assert project.orvl("mine", "--eval=e").status == 0
    assert project.orvl("show", "mine/e/1", "--file", "one.txt").out == "111"
    assert project.orvl("show", "mine/e/1", "--file", "two.txt").out == "2"


def test_folders_with_spaces_stay_one_word(project):
    project.tmp = project.tmp / "a b"
    project.tmp.mkdir()
    project.agent(
        "mine", 'models = {"none": ["m"]}\ndef command(workspace): return f"touch {workspace}/one {workspace}/two"\n'
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    assert project.orvl("mine", "--eval=e").status == 0
    assert "2 new or changed files" in project.orvl("show", "mine/e/1").out


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ('{"sesion": "x"}', "Did you mean 'session'?"),
        ('{"usage": {"inputtokens": 5}}', "Did you mean 'input_tokens'?"),
        ('{"steps": ["x"]}', "'steps' must be a list of dicts"),
        ('{"usage": {"input_tokens": -1}}', "it must be a number, 0 or more"),
        ('"text"', "read must return a dict"),
    ],
)
def test_what_read_tells_in_vain_is_said(project, told, words):
    project.agent("mine", f'models = {{"none": ["m"]}}\ndef command(): return "true"\ndef read(): return {told}\n')
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    result = project.orvl("mine", "--eval=e")
    assert result.status == 1
    assert "agents/mine.py:3" in result.err
    assert words in result.err


def test_an_exit_in_a_command_hurts_only_its_own_run(small):
    small.agent("quits", 'import sys\nmodels = {"none": ["m"]}\ndef command(): sys.exit("set MY_KEY first")\n')
    result = small.orvl("quits,writer", "--eval=one", "--json")
    assert result.status == 1
    assert "agents/quits.py:3: SystemExit: set MY_KEY first" in result.err
    assert {row["agent"]: row["runs"]["rated"] for row in result.json["ratings"]} == {"quits": 0, "writer": 1}


def test_a_budget_stops_cleanly_and_says_how_to_go_on(project):
    project.agent(
        "mine",
        """
        models = {"shop": ["m"]}
        def command(): return "true"
        def read(): return {"usage": {"cost_usd": 0.4}}
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    stopped = project.orvl("mine", "--eval=e", "--episodes=10", "--budget=1", "--concurrency=1", "--json")
    assert stopped.status == 3
    assert stopped.json["ratings"][0]["runs"]["rated"] == 3
    assert stopped.json["ratings"][0]["usage"]["cost_usd"] == pytest.approx(1.2)
    assert "To continue: orvl mine all all e --episodes 10" in stopped.err
    cost = project.orvl("mine", "--eval=e", "--episodes=10", "--dry-run", "--json").json["plan"]["cost_usd"]
    assert cost["likely"] == pytest.approx(7 * 0.4)
    rest = project.orvl("mine", "all", "all", "e", "--episodes=10", "--json")
    assert rest.status == 0
    assert rest.json["ratings"][0]["runs"]["rated"] == 10


def test_a_budget_that_cannot_see_the_cost_says_so(project):
    project.agent("mine", 'models = {"shop": ["m"]}\ndef command(): return "true"\n')
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    result = project.orvl("mine", "--eval=e", "--budget=1", "--json")
    assert result.status == 0
    assert "The cost of mine is unknown" in result.json["warnings"][0]
