"""Agents that are scripts of the project, named by a relative path; and programs that cannot be started."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from helpers.user_project import UserProject

WRITE = """
import sys
from pathlib import Path
Path("made.txt").write_text(" ".join(sys.argv[1:]))
for folder in (Path(__file__).parent, Path(__file__).parent.parent):
    print(*sorted(path.name for path in folder.iterdir()) if folder.is_dir() else "")
"""
AGENT = 'models = {{"none": ["fixed"]}}\ndef command(prompt): return {words}\n'


@pytest.fixture
def place(project: UserProject) -> UserProject:
    project.eval(
        "e", "---\nmetrics: {checks: 1}\nchecks: [{name: made, run: test -s made.txt}]\n---\nHi.\n---\nMore.\n"
    )
    project.write("secret.txt", "the answer\n")
    return project


def ran(project: UserProject, words: str, *flags: str) -> str:
    """What an agent with this command prints, after it has done its work."""
    project.agent("mine", AGENT.format(words=words))
    done = project.orvl("mine", "--eval", "e", "--json", *flags)
    assert done.json["ratings"][0]["R"] == 1, done.err
    return project.orvl("show", "mine/e/1", "--output").out


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("my_agent.py", '["python3", "my_agent.py", prompt]'),
        ("my_agent.py", 'f"python3 ./my_agent.py {prompt}"'),
        ("my_agent.py", '["./my_agent.py", prompt]'),
        ("scripts/my_agent.py", '["scripts/my_agent.py", prompt]'),
        ("scripts/my_agent.py", '["python3", "-u", "scripts/my_agent.py", prompt]'),
        ("agents/_driver.py", '["python3", "agents/_driver.py", prompt]'),
        ("parts/zorp/__main__.py", '["python3", "parts/zorp", prompt]'),
        ("zorp/__main__.py", '["python3", "./zorp", prompt]'),
    ],
)
def test_a_script_is_found_from_the_projects_folder(place, path, words, sandbox):
    place.write(path, "#!/usr/bin/env python3\n" + WRITE).chmod(0o755)
    ran(place, words, "--sandbox", sandbox)
    assert place.orvl("show", "mine/e/1", "--file", "made.txt").out == "More."


def test_a_folder_of_the_project_that_is_no_program_is_not_meant(place):
    """A word such as `build/out` is a place in the workspace, also where the project happens to have one."""
    place.write("build/out/secret.txt", "the answer\n")
    place.write("my_agent.py", WRITE)
    ran(place, '["python3", "my_agent.py", "build/out"]')
    assert place.orvl("show", "mine/e/1", "--file", "made.txt").out == "build/out"


def test_a_package_is_found_by_its_name_where_its_folder_is_listed(place):
    place.write("parts/zorp/__init__.py", "")
    place.write("parts/zorp/__main__.py", WRITE)
    place.write(
        "agents/mine.py",
        "from pathlib import Path\nfrom orvl import Command\n"
        'paths = ["../parts"]\nmodels = {"none": ["fixed"]}\nFOLDER = str(Path(__file__).parent.parent / "parts")\n'
        'def command(prompt): return Command(["python3", "-m", "zorp", prompt], env={"PYTHONPATH": FOLDER})\n',
    )
    assert place.orvl("mine", "--eval", "e", "--json").json["ratings"][0]["R"] == 1


def test_a_scripts_folder_comes_with_it_and_nothing_else_of_the_project(place):
    place.write("scripts/helper.py", "WORDS = 'helped'\n")
    place.write("scripts/.env", "KEY=1\n")
    place.write("scripts/my_agent.py", "import helper\n" + WRITE)
    seen = ran(place, '["python3", "scripts/my_agent.py", prompt]')
    assert "helper.py" in seen
    assert not [name for name in (".env", "secret.txt", "evals", "orvl.toml", "agents") if name in seen]


def test_a_script_in_the_projects_folder_itself_is_shown_alone(place):
    place.write("my_agent.py", WRITE)
    seen = ran(place, '["python3", "my_agent.py", prompt]')
    assert not [name for name in ("secret.txt", "evals", "agents") if name in seen]


def test_no_script_opens_the_folder_of_an_eval(place):
    place.write("evals/hard/eval.md", "---\nmetrics: {speed: 1}\n---\nHi.\n")
    place.write("evals/hard/checks/answer.txt", "42\n")
    place.write("evals/hard/agent.py", WRITE)
    seen = ran(place, '["python3", "evals/hard/agent.py", prompt]')
    assert not [name for name in ("checks", "eval.md") if name in seen]


def test_a_file_of_the_workspace_comes_first_and_stays_it(place):
    place.write("AGENTS.md", "of the project\n")
    place.write("evals/f/eval.md", "---\nmetrics: {speed: 1}\n---\nHi.\n---\nMore.\n")
    place.write("evals/f/workspace/AGENTS.md", "of the eval\n")
    place.agent("mine", AGENT.format(words='["sh", "-c", "cat \\"$0\\"; rm -f \\"$0\\"; true", "AGENTS.md"]'))
    assert place.orvl("mine", "--eval", "f").status == 0
    assert "of the project" not in place.orvl("show", "mine/f/1", "--output").out


@pytest.mark.parametrize("word", ["run", "fixed"])
def test_a_subcommand_or_a_model_is_no_file(place, word):
    place.write(word, "a file of the project\n")
    place.agent("mine", AGENT.format(words=f'["sh", "-c", "echo $0", "{word}"]'))
    place.orvl("mine", "--eval", "e")
    assert place.orvl("show", "mine/e/1", "--output").out.count(f"\n{word}\n") == 2


# -- programs that cannot be started


def machine_of_another_kind() -> bytes:
    other = 183 if platform.machine() == "x86_64" else 62
    return b"\x7fELF\x02\x01\x01" + bytes(9) + (2).to_bytes(2, "little") + other.to_bytes(2, "little") + bytes(44)


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("content", "mode", "words"),
    [
        (b"#!/bin/sh\necho hi\n", 0o644, "it is not executable; make it so with: chmod +x "),
        (b"#!/bin/sh\r\necho hi\r\n", 0o755, "its lines end as on Windows"),
        (b"#!/opt/no/such/interpreter\n", 0o755, "its interpreter /opt/no/such/interpreter is not there"),
        (machine_of_another_kind(), 0o755, "it is a program for another kind of machine"),
        (None, 0, "'no-such-program' is not installed, or not in PATH"),
    ],
)
def test_a_program_that_cannot_start_is_errored_with_what_helps(place, content, mode, words, sandbox):
    program = "no-such-program"
    if content is not None:
        program = "tools/program"
        (place.root / "tools").mkdir()
        (place.root / program).write_bytes(content)
        (place.root / program).chmod(mode)
    place.agent("mine", AGENT.format(words=json.dumps([program])))
    done = place.orvl("mine", "--eval", "e", "--sandbox", sandbox)
    assert done.status == 2
    assert words in done.err
    assert "Traceback" not in done.err
    outcomes = {row["outcome"] for row in place.orvl("report", "--by", "run", "--json").json["ratings"]}
    assert outcomes == {"errored"}


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ('"./mine.sh {prompt}"', "would get '{prompt}' instead of the prompt; write f before"),
        ('["./mine.sh", "--say={prompt}"]', "would get '{prompt}' instead of the prompt; write f before"),
        ('["~/bin/mine", prompt]', "so '~/bin/mine' stays as it is; write the whole path"),
        ('f"$HOME/bin/mine {prompt}"', "so '$HOME/bin/mine' stays as it is; write the whole path"),
        ('f"A=1 ./mine.sh {prompt}"', "so 'A=1' sets no variable; return Command(argv, env="),
        ('f"cd . && ./mine.sh {prompt}"', "so '&&' does nothing; return ['sh', '-c', "),
        ('f"./mine.sh {prompt} > log.txt"', "so '>' does nothing; return ['sh', '-c', "),
    ],
)
def test_what_a_shell_or_an_f_string_would_read_is_said_to_stay_as_it_is(place, returned, words):
    place.write("mine.sh", "#!/bin/sh\n").chmod(0o755)
    place.agent("mine", f'models = {{"none": ["fixed"]}}\n\ndef command(prompt):\n    return {returned}\n')
    done = place.orvl("mine", "--eval", "e")
    assert done.status and words in done.err and "agents/mine.py:" in done.err
    assert {row["outcome"] for row in place.orvl("report", "--by", "run", "--json").json["ratings"]} == {"errored"}


def test_a_prompt_may_say_what_a_shell_would_read(place):
    place.eval("e", "---\nmetrics: {speed: 1}\n---\n{prompt} && > ~\n")
    place.write("mine.sh", '#!/bin/sh\necho "$1" > made.txt\n').chmod(0o755)
    for returned in ('f"./mine.sh {prompt}"', '["./mine.sh", prompt]', '" ".join(["./mine.sh", prompt])'):
        place.agent("mine", f'models = {{"none": ["fixed"]}}\n\ndef command(prompt):\n    return {returned}\n')
        assert place.orvl("mine", "--eval", "e").status == 0
        assert place.orvl("show", "mine/e/1", "--file", "made.txt").out == "{prompt} && > ~\n"


@pytest.mark.parametrize("sandbox", ["bubblewrap", "none"])
def test_a_script_that_is_not_there_is_told_with_the_one_that_is(place, sandbox):
    place.write("tools/my-agent.sh", "#!/bin/sh\n").chmod(0o755)
    for program, words in (
        ("tools/my-agnt.sh", "nor in the project's folder (did you mean tools/my-agent.sh?)"),
        ("./tools", "in the project it is a folder with none of __main__.py"),
    ):
        place.agent("mine", AGENT.format(words=json.dumps([program])))
        assert words in place.orvl("mine", "--eval", "e", "--sandbox", sandbox).err


def test_a_command_that_helps_can_be_pasted(project):
    file = project.write("my tools/run it.sh", "#!/bin/sh\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nHi.\n")
    project.agent("mine", AGENT.format(words='["my tools/run it.sh"]'))
    assert f"chmod +x '{file}'" in project.orvl("mine", "--eval", "e").err


def test_a_script_without_a_first_line_is_a_shell_script(place):
    place.write("tools/plain", 'echo "$1" > made.txt\n').chmod(0o755)
    ran(place, '["tools/plain", prompt]')


# -- what `orvl install` has installed


def test_an_installation_serves_every_agent_that_names_its_program(place, tmp_path):
    installed(place, "theirs", "shared-tool", "installed")
    place.agent("own", AGENT.format(words='["shared-tool", prompt]') + 'version = ["shared-tool", "--version"]\n')
    done = place.orvl("own", "--eval", "e", "--json")
    assert done.json["ratings"][0]["R"] == 1, done.err
    assert place.orvl("show", "own/e/1", "--file", "made.txt").out == "installed\n"
    assert place.orvl("show", "own/e/1", "--json").json["version"] == "installed"
    assert "own: installed; shared-tool comes from: orvl install theirs" in place.orvl("doctor").out


def test_the_version_that_a_file_pins_comes_before_one_by_name(place):
    installed(place, "theirs@0.1.0", "shared-tool", "old", at="2026-03-03")
    installed(place, "theirs", "shared-tool", "pinned", at="2026-02-02")
    place.agent("own", AGENT.format(words='["shared-tool", prompt]'))
    assert place.orvl("own", "--eval", "e").status == 0
    assert place.orvl("show", "own/e/1", "--file", "made.txt").out == "pinned\n"


def installed(project: UserProject, agent: str, program: str, says: str, at: str = "2026-01-01") -> None:
    """What `orvl install` leaves."""
    place = Path(project.env["ORVL_CACHE"]) / "agents" / agent.partition("@")[0] / f"digest-{says}"
    folder = place / "20260101-1"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / program).write_text(f"#!/bin/sh\necho {says} | tee made.txt\n")
    (folder / "bin" / program).chmod(0o755)
    record = {"format": 1, "agent": agent, "install": {}, "packages": [f"{program}@1.0.0"], "checksum": "", "bytes": 1}
    record |= {"installed_at": f"{at}T00:00:00Z", "folder": str(folder), "readable": [str(folder)]}
    (place / "installation.json").write_text(json.dumps(record))
