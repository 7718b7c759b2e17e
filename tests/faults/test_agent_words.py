"""What an agent says of its own trouble is shown, wherever its run is."""

from __future__ import annotations

import os
import pty
import subprocess

import pytest

from helpers.thinned import thinned
from helpers.user_project import UserProject

MEBI = 1 << 20


def agent(project: UserProject, code: str, name: str = "mine") -> None:
    project.agent(
        name,
        f"""
        models = {{"none": ["fixed"]}}

        def command(prompt):
            return ["python3", "-c", {code!r}]
        """,
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nHi.\n")


def say(words: str, status: int = 2) -> str:
    return f"import sys; sys.stderr.write({words!r}); sys.exit({status})"


def reason(project: UserProject) -> str:
    return str(project.orvl("report", "--by", "run", "--json").json["ratings"][0]["reason"])


def test_the_last_lines_stand_beside_the_status_everywhere(project):
    agent(project, say("Usage: mine [OPTIONS]\n\nerror: unexpected argument '--effort' found\n"))
    done = project.orvl("mine", "--eval", "e", "--json")
    words = "turn 1 ended with status 2, and said: Usage: mine [OPTIONS] | error: unexpected argument '--effort' found"
    assert words in done.err
    assert words in project.orvl("show", "mine/e/1", env={"COLUMNS": "300"}).out
    assert project.orvl("show", "mine/e/1", "--json").json["attempts"][0]["reason"] == words
    assert reason(project) == words
    assert words in project.orvl("report", "--by", "run", "--csv").out


def test_standard_output_speaks_where_standard_error_is_silent(project):
    agent(project, "print('please log in first'); raise SystemExit(1)")
    project.orvl("mine", "--eval", "e")
    assert reason(project).endswith("ended with status 1, and said: please log in first")


def test_a_silent_agent_is_quoted_with_nothing(project):
    agent(project, "raise SystemExit(7)")
    project.orvl("mine", "--eval", "e")
    assert reason(project) == "turn 1 ended with status 7"


def test_frames_of_a_traceback_do_not_hide_what_broke(project):
    frames = "".join(f"    at Module.run{number} (node:internal/x:{number}:1)\n" for number in range(30))
    agent(project, say(f"Error: config.toml is missing\n{frames}\nNode.js v22.1.0\n", 1))
    project.orvl("mine", "--eval", "e")
    assert reason(project).endswith("and said: Error: config.toml is missing")


def test_code_of_a_python_traceback_does_not_hide_what_broke(project):
    deep = "def f(n):\n    return f(n - 1) if n else open('/no/config.toml')\n\n\nf(8)\n"
    project.write("deep.py", "print('starting')\n" + deep)
    agent(project, "unused")
    project.agent("mine", 'models = {"none": ["fixed"]}\n\ndef command():\n    return ["python3", "deep.py"]\n')
    project.orvl("mine", "--eval", "e")
    words = "FileNotFoundError: [Errno 2] No such file or directory: '/no/config.toml'"
    assert reason(project) == f"turn 1 ended with status 1, and said: {words}"


def test_escape_sequences_never_reach_a_report(project):
    agent(project, say("\x1b]0;title\x07\x1b[31;1mred\x1b[0m\r\x1b[2Kbad \u202egnol\u202c\x9b5m\x00 end\n"))
    done = project.orvl("mine", "--eval", "e")
    shown = (
        project.orvl("show", "mine/e/1").out + project.orvl("report", "--by", "run").out + done.err + reason(project)
    )
    assert not {"\x1b", "\x07", "\x9b", "\r", "\0", "\u202e"} & set(shown)
    assert "red | bad gnol 5m end" in reason(project)


def test_keys_in_last_words_are_taken_out(project):
    agent(
        project,
        say("401 for sk-proj-abcdefghijklmnop1234\nAuthorization: Bearer abcdefgh12345678\nAPI_KEY=hunter2hunter2\n"),
    )
    project.orvl("mine", "--eval", "e")
    assert not [word for word in ("abcdefgh", "hunter2") if word in reason(project)]


def shown_in_a_moment(project) -> str:
    """What is shown, if that takes little of a processor's time; other processes may take theirs meanwhile."""
    before = os.times()
    shown = project.orvl("show", "mine/e/1", "--output", process=True).out
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 6
    return shown


def test_a_hundred_megabytes_on_standard_error_end_as_a_few_lines(project):
    code = "import sys\nfor _ in range(1600): sys.stderr.write('x' * 65536)\nsys.stderr.write('\\nno space left\\n'); sys.exit(3)"
    agent(project, code)
    done = project.orvl("mine", "--eval", "e")
    assert len(done.err) < 2000
    assert reason(project).endswith("no space left")
    assert len(reason(project)) < 500
    shown = shown_in_a_moment(project)
    assert shown.startswith("--- turn 1, standard error, ")
    assert shown.endswith("no space left\n")


def test_a_signal_is_named_beside_the_last_words(project):
    agent(project, "import os, sys; print('about to fall', file=sys.stderr, flush=True); os.kill(os.getpid(), 11)")
    project.orvl("mine", "--eval", "e")
    assert "signal 11" in reason(project)
    assert reason(project).endswith("and said: about to fall")


# -- show --output


def test_output_shows_both_streams_apart(project):
    agent(project, "import sys; print('the answer'); sys.stdout.flush(); print('a warning', file=sys.stderr)")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nHi.\n---\nGo on.\n")
    assert project.orvl("mine", "--eval", "e").status == 0
    parts = ("standard output, 11 bytes\nthe answer\n", "standard error, 10 bytes\na warning\n")
    expected = "".join(f"--- turn {turn}, {part}" for turn in (1, 2) for part in parts)
    assert project.orvl("show", "mine/e/1", "--output").out == expected


def test_one_stream_is_shown_as_it_is(project):
    agent(project, "print('the answer')")
    project.orvl("mine", "--eval", "e")
    assert project.orvl("show", "mine/e/1", "--output").out == "the answer\n"


def test_an_agent_that_printed_nothing_is_said_so(project):
    agent(project, "pass")
    project.orvl("mine", "--eval", "e")
    assert project.orvl("show", "mine/e/1", "--output").out == "The agent printed nothing.\n"


@pytest.mark.parametrize(
    "line", thinned(["漢字カナ交じり文\n", "a line of an agent's output\n", "\\x1b[31mred\\x1b[0m\n"])
)
def test_eighteen_megabytes_are_shown_in_a_moment(project, line):
    agent(project, f"import sys; sys.stdout.write({line!r}.encode().decode('unicode_escape', 'ignore') * 400000)")
    project.toml("[limits]\nkept_output = 20\n")
    project.orvl("mine", "--eval", "e")
    shown = shown_in_a_moment(project)
    assert shown.count("\n") == 400000


def test_a_terminal_gets_both_ends_of_a_long_output(project):
    agent(project, "print('first'); print('y' * (4 << 20)); print('last')")
    project.orvl("mine", "--eval", "e")
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(
        [*project.command, "show", "mine/e/1", "--output"], cwd=project.root, env=project.env, stdout=theirs
    ) as process:
        os.close(theirs)
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)
    assert process.returncode == 0
    assert len(shown) < MEBI
    assert shown.startswith(b"first")
    assert shown.rstrip().endswith(b"last")
    assert b"bytes are not shown here" in shown


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""
