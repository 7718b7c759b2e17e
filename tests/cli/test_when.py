"""Conversations that depend on what the agent did: `when`, and what its own program printed."""

from __future__ import annotations

import time

import pytest

from orvl.project import Project
from orvl.run.paste import LONGEST, as_pasted
from orvl.testing import Answer, ModelServer

EVAL = """
---
metrics: {checks: 1}
checks:
  - {name: build, run: "cp app built", turn: 1}
  - {name: works, run: "test -f built && grep -q right built", turn: 1}
  - {name: apart, run: "subject run grep -q right app", isolated: true, turn: 1}
  - {name: last, run: test -f app}
---
Write app.
---
when: {failed: works}

It does not work.
--- or
when: {passed: works}
It works, thanks.
---
when: {failed: apart}
Still wrong. It printed:

{{output: cat app; echo "and $((1 + 1)) ${HOME}" | tr '{' '('}}
--- or
Fine.
"""
AGENT = """
models = {{"none": ["fixed"]}}
SCRIPTS = {scripts!r}

def command(prompt, turn):
    return ["sh", "-c", SCRIPTS[turn - 1] + '; printf "%s\\n" "$1" >> said.txt', "sh", prompt]
"""


def run(project, *scripts: str, eval_: str = "talk", words=()):
    project.agent("mine", AGENT.format(scripts=scripts))
    project.orvl("mine", f"--eval={eval_}", *words)
    shown = project.orvl("show", f"mine/{eval_}/1", "--json").json
    return shown["attempts"][-1]


@pytest.fixture
def talk(project):
    project.write("evals/talk/eval.md", EVAL)
    return project


def test_what_is_said_depends_on_a_check_after_the_turn_before(talk):
    attempt = run(talk, "echo right > app", "true", "true")
    assert attempt["prompts"] == ["Write app.", "It works, thanks.", "Fine."]
    attempt = run(talk, "echo wrong > app", "echo right > app", "true")
    assert attempt["prompts"] == ["Write app.", "It does not work.", "Fine."]
    attempt = run(talk, "echo wrong > app", "true", "true")
    assert attempt["prompts"][:2] == ["Write app.", "It does not work."]
    first, rest = attempt["prompts"][2].split("\n\n")
    assert first == "Still wrong. It printed:"
    assert rest.startswith("wrong\nand 2 /"), rest
    assert (
        "".join(f"{prompt}\n" for prompt in attempt["prompts"])
        == talk.orvl("show", "mine/talk/1", "--file", "said.txt").out
    )


def test_the_verdict_that_was_acted_on_is_the_one_that_is_kept(talk):
    """A check that ends differently each time: it is run once where it is apart, and its first word counts."""
    talk.write(
        "evals/talk/eval.md",
        """
        ---
        metrics: {checks: 1}
        checks:
          - {name: coin, run: "python3 -c 'import secrets, sys; n = secrets.randbelow(10 ** 9); print(n); sys.exit(n % 2)'", isolated: true, turn: 1}
          - {name: beside, run: "python3 -c 'import secrets, sys; n = secrets.randbelow(10 ** 9); print(n); sys.exit(n % 2)'", turn: 1}
        ---
        One.
        ---
        when: {failed: coin}
        Tails.
        --- or
        Heads.
        ---
        when: {failed: beside}
        Tails.
        --- or
        Heads.
        """,
    )
    attempt = run(talk, "true", "true", "true")
    by_turn = {(check["name"], check["turn"]): check["passed"] for check in attempt["checks"]}
    assert attempt["prompts"][1] == ("Heads." if by_turn["coin", 1] else "Tails.")
    assert attempt["prompts"][2] == ("Heads." if by_turn["beside", 2] else "Tails.")


def test_checks_between_turns_take_none_of_the_agents_time(talk):
    talk.write(
        "evals/talk/eval.md",
        """
        ---
        metrics: {checks: 1}
        limits: {run: 20}
        checks: [{name: slow, run: sleep 6, turn: 1}, {name: end, run: 'true'}]
        ---
        One.
        ---
        when: {failed: slow}
        Tails.
        --- or
        Heads. {{output: sleep 1; echo done}}
        """,
    )
    attempt = run(talk, "true", "true")
    assert attempt["prompts"][1] == "Heads. done"
    assert attempt["usage"]["seconds"] < 6


def test_a_changed_check_that_decides_what_is_said_makes_another_run(talk):
    first = Project(talk.root).eval("talk").digest
    talk.write("evals/talk/eval.md", EVAL.replace("test -f app}", "test -e app}"))
    assert Project(talk.root).eval("talk").digest == first, "a check that nobody asks for is no part of the identity"
    talk.write("evals/talk/eval.md", EVAL.replace("grep -q right built", "grep -q bright built"))
    assert Project(talk.root).eval("talk").digest != first
    talk.write("evals/talk/eval.md", EVAL.replace("cp app built", "cp -f app built"))
    assert Project(talk.root).eval("talk").digest != first, "the one that asks has there what this one builds"
    talk.write("evals/talk/eval.md", EVAL)
    run(talk, "true", "true", "true")
    talk.write("evals/talk/eval.md", EVAL.replace("grep -q right built", "grep -q bright built"))
    done = talk.orvl("mine", "--eval=talk", "--dry-run")
    assert "checks of the eval talk that decide what is said" in done.out + done.err


def test_the_agents_program_floods_as_it_likes(project):
    project.write(
        "evals/flood.md",
        """
        ---
        metrics: {speed: 1}
        ---
        Write app.
        ---
        {{output: sh ./app}} And {{output: ls}}
        """,
    )
    script = "printf '%s' 'head -c 10000000 /dev/zero | tr \"\\\\0\" x; printf \"\\\\033[31mred\\\\033[0m\\\\a\\\\r\\\\nend\"' > app"
    attempt = run(project, script, "true", eval_="flood")
    prompt = attempt["prompts"][1]
    assert len(prompt) < LONGEST + 200
    assert prompt.startswith("xxxx") and " characters)\nxxx" in prompt
    assert "xxxred\nend And app" in prompt
    assert "\x1b" not in prompt and "\a" not in prompt


@pytest.mark.nightly
def test_a_command_that_never_ends_is_cut(project):
    project.write("evals/hang.md", "---\nmetrics: {speed: 1}\n---\nOne.\n---\n{{output: echo begun; sleep 999}}\n")
    began = time.monotonic()
    attempt = run(project, "true", "true", eval_="hang")
    assert attempt["prompts"][1] == "begun\n(still running after 30 s)"
    assert time.monotonic() - began < 60


def test_a_command_sees_a_copy_and_leaves_nothing(project):
    project.write(
        "evals/copy/eval.md",
        """
        ---
        metrics: {speed: 1}
        vary: {name: [given]}
        ---
        It has {{output: cat {{name}}.txt}} and {{output: true}}.
        ---
        Now {{output: rm -rf * .git; echo x > left; ls}}.
        ---
        And {{output: cat made ${nothing}}}.
        """,
    )
    project.write("evals/copy/workspace/given.txt", "files\n")
    attempt = run(project, "true", "echo 3 > made", "true", eval_="copy")
    assert attempt["prompts"] == ["It has files and (nothing).", "Now left.", "And 3."]
    assert attempt["outcome"] == "finished"
    assert "left" not in project.orvl("show", "mine/copy/1").out.split("See more")[0].split("new or changed")[1]


def test_output_works_without_vary_and_its_escape_is_text(project):
    project.write(
        "evals/plain.md", "---\nmetrics: {speed: 1}\n---\n{{x}} \\{{x}} {{output: echo hi}} \\{{output: echo}}\n"
    )
    attempt = run(project, "true", eval_="plain")
    assert attempt["prompts"] == ["{{x}} \\{{x}} hi {{output: echo}}"]


def test_a_when_line_can_be_said(project):
    project.write("evals/plain.md", "---\nmetrics: {speed: 1}\n---\n\\when: {failed: x}\nwhen: {failed: x}\n")
    attempt = run(project, "true", eval_="plain")
    assert attempt["prompts"] == ["when: {failed: x}\nwhen: {failed: x}"]


@pytest.mark.parametrize(
    ("turn", "said"),
    [
        ("when: {failed: works}\nx\n---\ny", "evals/wrong.md:7: nothing is checked before the first turn"),
        ("x\n---\nwhen: {failed: wroks}\ny\n--- or\nz", "there is no check 'wroks'. Did you mean 'works'?"),
        ("x\n---\nwhen: {failed: works}\ny", "evals/wrong.md:9: turn 2 has no wording for the other case"),
        ("x\n---\nwhen: {failed: late}\ny\n--- or\nz\n---\ne", "'late' is not due after turn 1: give it 'turn: 1'"),
        ("x\n---\na\n---\nwhen: {failed: gone}\ny\n--- or\nz", "'gone' is retired from turn 2 on"),
        ("x\n---\nwhen: {failed: works, passed: works}\ny", "write 'when: {failed: CHECK}'"),
        ("x\n---\nwhen: {fail: works}\ny", "write 'when: {failed: CHECK}'"),
        ("x\n---\nwhen: {failed: [works]}\ny", "write 'when: {failed: CHECK}'"),
        ("x\n---\nwhen: {failed: works}\n--- or\ny", "nothing is said below this 'when'"),
        ("x\n---\na {{output: }}", "'{{output:' needs a command"),
        ("x\n---\na\n{{output: date", "evals/wrong.md:10: '{{' has no '}}' on its line"),
        ("x\n---\n" + "{{output: date}}" * 11, "at most 10 outputs"),
    ],
)
def test_a_mistake_is_a_sentence_with_its_line(project, turn, said):
    head = (
        "---\nchecks:\n  - {name: works, run: 'true', turn: 1}\n  - {name: late, run: 'true', turn: 2}\n"
        "  - {name: gone, run: 'true', turn: 1, until: 2}\n---\n"
    )
    project.write("evals/wrong.md", f"{head}{turn}\n")
    done = project.orvl("dummy-good", "--eval=wrong")
    assert done.status == 2 and said in done.err, done.err


def test_pasted_output_is_plain_text():
    assert (
        as_pasted(b"\x1b]0;title\x07\x1b[1;31mred\x1b[0m\x1b(B\x00\x7f\xff\r\nnext\rlast\n\n")
        == "red\ufffd\nnext\nlast"
    )
    assert as_pasted("a\u202eb\u200bc".encode()) == "abc"
    assert as_pasted(b"") == ""
    long = as_pasted(b"a" * 9_000 + b"b" * 9_000)
    assert long == "a" * 6_000 + "\n… (6,000 characters)\n" + "b" * 6_000


MODEL_AGENT = """
models = {"here": ["scripted"]}

def command(prompt, turn, endpoint, workspace):
    return ["python3", "-c", CODE, endpoint.url, endpoint.key, prompt]

def read(output):
    return {"session": "s", "steps": [{"source": "agent", "message": output.strip()}]}

CODE = '''
import json, sys, urllib.request
url, key, prompt = sys.argv[1:]
body = {"model": "scripted", "messages": [{"role": "user", "content": prompt}]}
request = urllib.request.Request(url + "/chat/completions", json.dumps(body).encode(), {"authorization": "Bearer " + key, "content-type": "application/json"})
said = json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
open("app", "w").write(said)
print(said)
'''
"""


def test_such_a_run_is_replayed(talk):
    talk.agent("asking", MODEL_AGENT)
    with ModelServer([Answer("wrong"), Answer("wrong again"), Answer("right")]) as model:
        talk.toml(f'[providers.here]\nprotocol = "openai"\nbase_url = "{model.base_url("openai")}"\nfree = true\n')
        done = talk.orvl("asking", "--eval=talk")
        assert done.status == 0, done.err
    attempt = talk.orvl("show", "asking/talk/1", "--json").json["attempts"][-1]
    assert attempt["prompts"][1] == "It does not work."
    assert attempt["prompts"][2].startswith("Still wrong. It printed:\n\nwrong againand 2 /")
    again = talk.orvl("replay", "asking/talk/1", "--json")
    assert again.status == 0, again.out + again.err
    assert again.json["same"] and not again.json["reworded"]
