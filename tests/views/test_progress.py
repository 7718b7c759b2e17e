"""What people see while runs go on: a live table on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import json
import re
import subprocess
import time

from helpers.pseudo_terminal import drawn_by
from orvl.testing import Answer, ModelServer

SANDBOX = "none"


def on_a_terminal(project, *words: str, keys: bytes = b"") -> tuple[int, str]:
    """Runs orvl on a pseudo terminal of 100 × 30 and gives what it drew."""
    env = {name: value for name, value in project.env.items() if name != "CI"}
    env |= {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    status, drawn = drawn_by(project, *words, env=env, keys=keys)
    return status, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.decode("utf-8", "replace"))


def test_a_terminal_shows_a_live_table_and_then_the_ratings(small):
    small.agent("slow", 'models = {"none": ["fixed"]}\ndef command(): return ["sh", "-c", "sleep 0.7; exit 3"]\n')
    status, drawn = on_a_terminal(small, "writer,slow", "--eval=one", "--episodes=3")
    assert status == 0
    assert "running" in drawn
    assert re.search(r"\d of 6 runs done", drawn)
    assert "slow fixed none one #1 failed: turn 1 ended with status 3" in drawn
    assert "6 of 6 runs done, 3 failed" in drawn
    assert "3/3/0/3" in drawn
    assert "3/0/0/3" in drawn


def test_a_terminal_shows_what_goes_on_for_how_long_and_in_what_silence(small):
    small.agent("slow", 'models = {"none": ["fixed"]}\ndef command(): return ["sh", "-c", "sleep 6.5"]\n')
    small.eval("talk", "---\nmetrics: {checks: 1}\nchecks: [{name: c, run: sleep 1}]\n---\nOne.\n---\nTwo.\n")
    _, drawn = on_a_terminal(small, "slow", "--eval=talk", "--budget=5")
    assert re.search(r"slow fixed none talk #1 +\d\.\d s +turn 1 of 2, silent for [56]\.\d s", drawn), drawn[-3000:]
    assert "turn 2 of 2" in drawn
    assert re.search(r"talk #1 +1\d s +checks", drawn)
    assert "0 of 1 run done, $0 of $5.00 spent" in drawn


def test_output_breaks_the_silence(small):
    """For seven seconds it prints something each second: at no time is it silent for as long as would be said."""
    chatty = "for i in 1 2 3 4 5 6 7; do echo $i; sleep 1; done"
    small.agent("chatty", f'models = {{"none": ["fixed"]}}\ndef command(): return ["sh", "-c", {chatty!r}]\n')
    _, drawn = on_a_terminal(small, "chatty", "--eval=one")
    assert re.search(r"chatty fixed none one #1 +[56]\.\d s +turn 1 of 1", drawn), drawn[-3000:]
    assert "silent" not in drawn


def test_a_terminal_shows_which_judge_is_asked_and_how_much_is_left(small):
    slow = {"items": [{"verdict": "yes", "pointer": "answer.txt", "why": "it is there"}]}
    small.score("tidy", 'items = ["It is tidy."]\n')
    small.score("nice", 'items = ["It is nice."]\n')
    small.eval("judged", "---\nmetrics: {tidy: 1, nice: 1}\n---\nSay hello.\n")
    with ModelServer(lambda _: Answer(json.dumps(slow), first_byte=2.0, again=True)) as server:
        small.toml(
            f'[providers.host]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nconcurrency = 1\n'
            '[judges.anna]\nmodel = "scripted"\nprovider = "host"\n'
        )
        _, drawn = on_a_terminal(small, "writer", "--eval=judged", "--yes")
    assert "judges' scores left: anna 2" in drawn, drawn[-3000:]
    assert "asking anna (2)" in drawn and "asking anna (1)" in drawn
    assert "judges' scores left: anna 1" in drawn


def test_the_file_of_what_goes_on_names_the_turn(small):
    small.agent("slow", 'models = {"none": ["fixed"]}\ndef command(): return ["sh", "-c", "sleep 4"]\n')
    process = subprocess.Popen(
        [*small.command, "slow", "--eval=one", "--sandbox=none"],
        cwd=small.root,
        env=small.env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    file, doing = small.root / ".orvl" / "now.json", None
    while process.poll() is None and doing != "turn 1 of 1":
        time.sleep(0.1)
        if file.exists():
            doing = next((run["stage"] for run in json.loads(file.read_text())["runs"]), None)
    assert doing == "turn 1 of 1"
    assert process.wait(60) == 0


def test_elsewhere_a_line_for_each_run(small):
    result = small.orvl("writer", "--eval=one", "--episodes=2")
    assert re.search(r"\[1/2\] writer fixed none one #\d finished in \d\.\d s", result.err)
    assert "\x1b" not in result.err + result.out


def test_quiet_says_nothing_but_the_table(small):
    result = small.orvl("writer", "--eval=one", "-q")
    assert result.err == ""
    assert "1/0/0/1" in result.out


def test_json_is_all_of_standard_output(small):
    small.score("loud", 'print("loaded")\ndef score(run):\n    print("scoring")\n    return 1\n')
    small.eval("two", "---\nmetrics: {loud: 1}\n---\nx")
    result = small.orvl("writer", "--eval=two", "--json")
    assert result.json["ratings"][0]["R"] == 1.0
    assert "scoring" in result.err


def test_a_large_paid_matrix_asks_on_a_terminal(small):
    models = [f"m{i}" for i in range(21)]
    small.agent("paid", f'models = {{"shop": {models}}}\ndef command(): return "true"\n')
    status, drawn = on_a_terminal(small, "paid", "--eval=one", keys=b"n\n")
    assert status == 2
    assert "21 cells" in drawn
    assert "Nothing was run" in drawn
    status, drawn = on_a_terminal(small, "paid", "--eval=one", keys=b"y\n")
    assert status == 0
    assert "21 of 21 runs done" in drawn


def test_hostile_names_do_not_reach_the_terminal(small):
    small.agent(
        "evil",
        """
        models = {"none": ["fixed"]}
        def command(): return ["sh", "-c", "printf 'x' > \\"$(printf 'a\\\\033[2Jb')\\"; printf '\\\\033]0;owned\\\\007'"]
        def read(output): return {"error": output}
        """,
    )
    result = small.orvl("evil", "--eval=one")
    assert "owned" in result.err
    shown = small.orvl("show", "evil/one/1").out + small.orvl("show", "evil/one/1", "--diff").out
    shown += small.orvl("show", "evil/one/1", "--output").out
    assert "a\\x1b[2Jb" in shown
    assert "\x1b" not in result.err + result.out + shown
