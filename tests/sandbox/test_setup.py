"""What runs start from: a setup that is done once, registries through a door, one commit; and what sandboxes are told."""

from __future__ import annotations

import http.server
import shutil
import subprocess
import threading
from contextlib import contextmanager

import pytest

from helpers.user_project import ROOT_FOLDER

ASK = """
import http.client, sys
def ask(url):
    try:
        door = http.client.HTTPConnection("127.0.0.1", 4873, timeout=10)
        door.request("GET", url)
        answer = door.getresponse()
        return f"{answer.status} {answer.read()[:20].decode()}"
    except OSError as error:
        return type(error).__name__
print(*map(ask, sys.argv[1:]), sep="\\n")
"""


def agent(project, command, name="mine"):
    project.agent(name, f'models = {{"none": ["m"]}}\ndef command(): return ["sh", "-c", {command!r}]\n')


def folder_eval(project, head, name="e", files=()):
    project.write(f"evals/{name}/eval.md", f"---\nmetrics: {{speed: 1}}\n{head}\n---\nGo.\n")
    for path, text in dict(files).items():
        project.write(f"evals/{name}/{path}", text)


@contextmanager
def serving(text):
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def test_a_setup_is_done_once_and_each_run_gets_its_own_copy(project):
    setup = "setup: ['date +%s%N > stamp; pwd > where', 'echo home > ~/made; mkdir -p deps/a; echo x > deps/a/b']"
    folder_eval(project, setup, files={"workspace/given": "g\n"})
    agent(project, "cat stamp where given ~/made deps/a/b; echo changed > deps/a/b; echo more >> stamp")
    first = project.orvl("mine", "--eval=e", "--episodes=3")
    assert first.status == 0, first.err
    assert first.err.count("Setting up e") == 1
    assert project.orvl("mine", "--eval=e", "--episodes=4").err.count("Setting up") == 0
    seen = {project.orvl("show", f"mine/e/{number}", "--output").out for number in (1, 2, 3, 4)}
    assert len(seen) == 1
    assert seen.pop().split()[1:] == ["/workspace", "g", "home", "x"]
    made = project.orvl("show", "mine/e/4").out
    assert "2 new or changed files, 2 unchanged files" in made
    assert len(list((project.root / ".orvl/starts").iterdir())) == 1
    assert project.orvl("gc").status == 0
    assert len(list((project.root / ".orvl/starts").iterdir())) == 1
    folder_eval(project, "setup: 'echo other > stamp'", files={"workspace/given": "g\n"})
    assert "Setting up e" in project.orvl("mine", "--eval=e").err
    assert "1 folder set up for changed evals or for overlays deleted" in project.orvl("gc").out


def test_a_setup_in_a_container_is_there_for_its_runs(project, root_folder):
    folder_eval(project, "setup: 'test -d /var/lib/dpkg && echo made > by-setup'", files={"workspace/given": "g\n"})
    agent(project, "cat by-setup given; git status --short; echo more >> by-setup")
    result = project.orvl("mine", "--eval=e", "--sandbox=podman", f"--image={root_folder}", "--episodes=2")
    assert result.status == 0, result.err
    for number in (1, 2):
        assert project.orvl("show", f"mine/e/{number}", "--output").out.split() == ["made", "g"]


def test_a_setup_that_fails_is_an_error_of_the_eval_and_is_tried_by_the_next_call(project, tmp_path):
    folder_eval(project, "setup: 'echo so it goes >&2; exit 3'")
    agent(project, "true")
    result = project.orvl("mine", "--eval=e", "--episodes=2", "--json")
    assert result.status == 1
    assert result.json["ratings"][0]["runs"] == {"planned": 2, "rated": 0, "failed": 0, "errored": 2}
    assert "the setup of e failed: `echo so it goes >&2; exit 3` ended with status 3: so it goes" in result.err
    assert project.orvl("mine", "--eval=e").err.count("Setting up e") == 1


@pytest.mark.parametrize(
    ("setup", "words"),
    [
        ("7", "'setup' is 7; it must be a command or a list of commands."),
        ("[a, 7]", "'setup[2]' is 7; it must be text."),
        ("{a: b}", "'setup' is {'a': 'b'}; it must be a command or a list of commands."),
        ("['']", "'setup[1]' is ''; it must be non-empty text."),
    ],
)
def test_a_setup_that_is_no_command_is_refused(project, setup, words):
    folder_eval(project, f"setup: {setup}")
    result = project.orvl("empty", "--eval=e", "--dry-run")
    assert result.status == 2
    assert f"eval.md:3: {words}" in result.err


def test_another_network_is_refused(project):
    folder_eval(project, "network: internet")
    assert "'network' is 'internet'. Known: registries, setup." in project.orvl("empty", "--eval=e", "--dry-run").err


def test_a_starting_workspace_has_one_commit_and_no_history(project):
    folder_eval(project, "", files={"workspace/code.py": "now = 1\n"})
    start = project.root / "evals/e/workspace"
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "the fix"], ["remote", "add", "origin", "/x"]):
        subprocess.run([*git, *words], cwd=start, check=True)
    (start / "code.py").write_text("now = 2\n")
    subprocess.run([*git, "commit", "-qam", "the bug"], cwd=start, check=True)
    agent(
        project, "git log --all --oneline | wc -l; git status --short; git remote; git reflog; git log -p | grep -c fix"
    )
    assert project.orvl("mine", "--eval=e").status == 0
    assert project.orvl("show", "mine/e/1", "--output").out.split() == ["1", "0"]
    assert "No file" not in project.orvl("show", "mine/e/1").out


@pytest.mark.parametrize("flags", [[], ["--sandbox=podman", f"--image={ROOT_FOLDER}"]], ids=["bubblewrap", "podman"])
def test_registries_are_reached_through_a_door_and_nothing_else_is(project, flags, root_folder):
    ask = project.write("tool/ask.py", ASK)
    with serving(b"a package") as allowed, serving(b"a secret") as other:
        project.toml(f'[sandbox]\nregistries = ["127.0.0.1:{allowed}"]\n')
        for name, head in {"with": "network: registries", "without": ""}.items():
            folder_eval(project, head, name)
        urls = [f"http://127.0.0.1:{port}/x" for port in (allowed, other)]
        project.agent(
            "mine", f'models = {{"none": ["m"]}}\ndef command(): return ["python3", {str(ask)!r}, *{urls!r}]\n'
        )
        result = project.orvl("mine", *flags, "--eval=with,without")
        assert result.status == 0, result.err
    within, without = (project.orvl("show", f"mine/{name}/1", "--output").out for name in ("with", "without"))
    assert within.splitlines()[0] == "200 a package"
    assert within.splitlines()[1].startswith("403")
    assert without.split() == ["ConnectionRefusedError"] * 2


def test_a_setup_reaches_registries_too(project):
    ask = project.write("evals/e/workspace/ask.py", ASK)
    assert ask.exists()
    with serving(b"a package") as port:
        project.toml(f'[sandbox]\nregistries = ["127.0.0.1:{port}"]\n')
        folder_eval(project, f"setup: python3 ask.py http://127.0.0.1:{port}/x > got\nnetwork: registries")
        agent(project, "cat got")
        assert project.orvl("mine", "--eval=e").status == 0
    assert "200 a package" in project.orvl("show", "mine/e/1", "--output").out


def test_an_agent_may_read_what_its_file_lists(project):
    project.write("tool/lib/part.txt", "a part of it")
    project.agent(
        "mine",
        f'models = {{"none": ["m"]}}\npaths = ["../tool/lib"]\n'
        f'def command(): return ["sh", "-c", "cat {project.root}/tool/lib/part.txt; ls {project.root}"]\n',
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    assert project.orvl("mine", "--eval=e").status == 0
    assert project.orvl("show", "mine/e/1", "--output").out.strip() == "a part of ittool"
    project.agent("mine", 'models = {"none": ["m"]}\npaths = ["gone"]\ndef command(): return "true"\n')
    assert "mine.py:2: 'paths' names" in project.orvl("mine", "--eval=e").err


SENTENCES = {
    "a host that is none": (["--sandbox=bubblewrap"], "[sandbox] registries: 'http://x/y'"),
    "a path that is not there": (["--sandbox=bubblewrap"], "[sandbox] paths: /no/such/path does not exist"),
    "no image": (["--sandbox=podman"], "needs an image or a root folder: add --image NAME"),
    "an image that is not there": (["--sandbox=podman", "--image=no-such:1"], "is not there: podman pull no-such:1."),
    "a folder that is not there": (
        ["--sandbox=podman", "--image=/no/such"],
        "debootstrap --variant=minbase stable /no/such",
    ),
}


@pytest.mark.parametrize("kind", SENTENCES)
def test_a_sandbox_that_cannot_be_made_is_one_sentence(small, kind):
    flags, sentence = SENTENCES[kind]
    if kind == "a host that is none":
        small.toml('[sandbox]\nregistries = ["http://x/y"]\n')
    if kind == "a path that is not there":
        small.toml('[sandbox]\npaths = ["/no/such/path"]\n')
    result = small.orvl("writer", "--eval=one", *flags)
    assert result.status == 2
    assert sentence in result.err
    assert len(result.err.strip().splitlines()) == 1


def test_doctor_says_which_sandboxes_work(small):
    told = small.orvl("doctor")
    assert "ok  sandbox bubblewrap (this project's)" in told.out
    assert "ok  sandbox podman" in told.out
    small.toml('[sandbox]\nuse = "podman"\nimage = "no-such:1"\n')
    told = small.orvl("doctor")
    assert told.status == 1
    assert "wrong  sandbox podman (this project's): The image no-such:1 is not there" in told.out


def test_the_version_is_that_of_the_image(project, root_folder):
    project.agent(
        "mine", 'models = {"none": ["m"]}\nversion = "cat /etc/debian_version"\ndef command(): return "true"\n'
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    assert project.orvl("mine", "--eval=e", "--sandbox=podman", f"--image={root_folder}").status == 0
    image = (root_folder / "etc/debian_version").read_text().strip()
    assert project.rows("SELECT version FROM cell") == [(image,)]
    assert shutil.which("podman")


def test_a_version_command_in_an_image_that_never_stops_printing_is_ended(project, root_folder):
    project.agent("mine", 'models = {"none": ["m"]}\nversion = "yes 7.1"\ndef command(): return "true"\n')
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    assert project.orvl("mine", "--eval=e", "--sandbox=podman", f"--image={root_folder}", timeout=50).status == 0
    assert project.rows("SELECT version FROM cell") == [("7.1",)]
    named = ["podman", "ps", "--all", "--filter", "name=^orvl-", "--format", "{{.Command}}"]
    shown = subprocess.run(named, capture_output=True, text=True, check=True).stdout
    assert "yes 7.1" not in shown
