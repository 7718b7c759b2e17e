"""What people see while runs go on: a live table on a terminal, plain lines elsewhere, nothing when quiet."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time

SANDBOX = "none"


def on_a_terminal(project, *words: str, keys: bytes = b"") -> tuple[int, str]:
    """Runs orvl on a pseudo terminal of 100 × 30 and gives what it drew."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in project.env.items() if name != "CI"}
    env |= {"TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    process = subprocess.Popen(
        [*project.command, *words], cwd=project.root, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    drawn = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            chunk = os.read(ours, 65536)
        except OSError:
            break
        if not chunk:
            break
        drawn += chunk
        if keys and b"Go on?" in drawn:
            os.write(ours, keys)
            keys = b""
    status = process.wait(timeout=300)
    os.close(ours)
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
