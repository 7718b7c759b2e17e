"""Overlays and versions: a configuration is a contestant of its own, with what it lays over runs and what it may not."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from orvl.capture.captured_run import CapturedRun
from orvl.cli.complete import names_of, with_overlays
from orvl.cli.doctor import _project
from orvl.errors import FileError, SetupFailed, UserError
from orvl.install import place_of
from orvl.plan.planning import cell_key, make_plan
from orvl.plan.selection import Selection
from orvl.project import open_project
from orvl.project.overlays import has_changed, lay
from orvl.run.command import Arguments, laid_over, with_arguments
from orvl.run.start_cache import _lay_over
from orvl.store.sqlite import SqliteStore
from orvl.testing import ModelServer
from orvl.types import AgentEndpoint, Command, Overlay

SEE = """
import json, os, pathlib, sys

home = pathlib.Path.home()
seen = {
    "words": sys.argv[1:],
    "env": dict(os.environ),
    "workspace": {str(p): p.read_text() for p in pathlib.Path(".").rglob("*") if p.is_file() and ".git" not in p.parts},
    "home": {str(p.relative_to(home)): p.read_text() for p in home.rglob("*") if p.is_file()},
    "is_repository": os.path.isdir(".git"),
}
with open("seen.jsonl", "a") as file:
    file.write(json.dumps(seen) + "\\n")
if os.path.exists("AGENTS.md") and os.environ.get("EDIT"):
    open("AGENTS.md", "a").write("more\\n")
"""
TOOL = "from pathlib import Path\nTOOL = Path(__file__).parent.parent / 'tool' / 'see.py'\n"
FORMS = {
    "string": "def command(prompt): return f'python3 {TOOL} run {prompt}'",
    "words": "def command(prompt): return ['python3', TOOL, 'run', prompt]",
    "option": "def command(prompt): return ['python3', TOOL, 'run', '--message', prompt]",
    "dashes": "def command(prompt): return ['python3', TOOL, 'run', '--', prompt]",
    "full": "import orvl\ndef command(prompt): return orvl.Command(['python3', TOOL, 'run'], stdin=prompt)",
    "named": "def command(prompt, arguments): return ['python3', TOOL, *arguments, 'run', prompt]",
    "named-string": "def command(prompt, arguments): return f'python3 {TOOL} {arguments} run {prompt}'",
    "named-empty": "def command(prompt, arguments): return ['python3', TOOL, 'run', prompt]",
}
WANTED = ["--effort", "very high"]
PLACED = {
    "string": ["run", *WANTED, "PROMPT"],
    "words": ["run", *WANTED, "PROMPT"],
    "option": ["run", *WANTED, "--message", "PROMPT"],
    "dashes": ["run", *WANTED, "--", "PROMPT"],
    "full": ["run", *WANTED],
    "named": [*WANTED, "run", "PROMPT"],
    "named-string": [*WANTED, "run", "PROMPT"],
    "named-empty": ["run", "PROMPT"],
}


@pytest.fixture
def seeing(project):
    """A project with an agent that tells what it sees, an eval without files, and one with files."""
    project.write("tool/see.py", SEE)
    project.agent("seer", TOOL + 'models = {"none": ["fixed"]}\n' + FORMS["words"] + "\n")
    project.eval("bare", "---\nmetrics: {speed: 1}\n---\n--help me\n---\nAnd then?\n")
    project.write("evals/full/eval.md", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.write("evals/full/workspace/README.md", "read me\n")
    project.write("evals/full/workspace/AGENTS.md", "the eval's\n")
    project.write("overlays/terse/workspace/AGENTS.md", "Be terse.\n")
    project.write("overlays/terse/workspace/.skills/one.md", "a skill\n")
    project.write("overlays/terse/home/.config/seer/settings.json", '{"effort": "high"}\n')
    project.write(
        "overlays/terse/overlay.toml",
        """
        description = "Few words."
        env = {SEER_MODE = "$HOME and `id`", EDIT = "1"}
        arguments = ["--effort", "very high"]
        """,
    )
    return project


def captured(project, agent: str, one: str) -> CapturedRun:
    """The newest run of an agent on an eval."""
    with SqliteStore(project.root / ".orvl", write=False) as store:
        query = """SELECT max(attempt.id) FROM attempt JOIN run ON run.id = attempt.run JOIN cell ON cell.id = run.cell
                   WHERE cell.agent = ? AND cell.eval = ?"""
        number = store.rows(query, (agent, one))[0][0]
        return CapturedRun(store.attempt(number)[0], (), store.blobs, project.tmp)


def seen(project, agent: str, one: str) -> list[dict]:
    return [json.loads(line) for line in captured(project, agent, one).read("seen.jsonl").splitlines()]


def complaint(project, word: str) -> str:
    with pytest.raises(UserError) as caught:
        make_plan(open_project(project.root), Selection(agent=word), episodes=[1])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def names(project, word: str) -> list[str]:
    plan = make_plan(open_project(project.root), Selection(agent=word, eval="bare"), episodes=[1])
    return [cell.agent.name for cell in plan.cells]


# -- real runs


def test_a_run_starts_from_what_an_overlay_lays_down(seeing):
    done = seeing.orvl("seer,seer+terse", "--eval=bare,full", "--json")
    assert done.status == 0, done.err
    assert {(row["agent"], row["eval"]) for row in done.json["ratings"]} == {
        (agent, one) for agent in ("seer", "seer+terse") for one in ("bare", "full")
    }
    first, second = seen(seeing, "seer+terse", "bare")
    assert first["workspace"] == {"AGENTS.md": "Be terse.\n", ".skills/one.md": "a skill\n"}
    assert first["home"] == {".config/seer/settings.json": '{"effort": "high"}\n'}
    assert first["env"]["SEER_MODE"] == "$HOME and `id`"
    assert first["words"] == ["run", *WANTED, "--help me"]
    assert second["words"] == ["run", *WANTED, "And then?"]
    assert second["env"]["SEER_MODE"] == first["env"]["SEER_MODE"]
    assert not first["is_repository"], "a workspace that was no repository has become one"
    (full,) = seen(seeing, "seer+terse", "full")
    assert full["workspace"] == {
        "README.md": "read me\n", "AGENTS.md": "Be terse.\n", ".skills/one.md": "a skill\n"
    }  # fmt: skip
    assert full["is_repository"]
    (plain,) = seen(seeing, "seer", "full")
    assert plain["workspace"] == {"README.md": "read me\n", "AGENTS.md": "the eval's\n"}
    assert plain["home"] == {}
    assert "SEER_MODE" not in plain["env"]
    assert plain["words"] == ["run", "Go."]
    only_what_the_agent_did_is_its_work(seeing)


def only_what_the_agent_did_is_its_work(seeing):
    for one in ("bare", "full"):
        run = captured(seeing, "seer+terse", one)
        assert run.made == ["AGENTS.md", "seen.jsonl"]
        assert ".skills/one.md" in run.started_with
        assert "\n+more\n" in run.diff
        changed = [line for line in run.diff.splitlines() if line.startswith(("+", "-"))]
        assert not [line for line in changed if line[1:] == "Be terse." or line.startswith(("+++ b/.sk", "--- a/.sk"))]


def test_the_report_shows_both_and_what_is_done_is_not_done_again(seeing):
    assert seeing.orvl("seer,seer+terse", "--eval=full").status == 0
    shown = seeing.orvl("report").out.splitlines()
    assert [sum(line.startswith(f" {name} ") for line in shown) for name in ("seer", "seer+terse")] == [1, 1]
    assert len(seeing.rows("select * from attempt")) == 2
    seeing.write("overlays/terse/workspace/AGENTS.md", "Be very terse.\n")
    assert seeing.orvl("seer,seer+terse", "--eval=full").status == 0
    assert len(seeing.rows("select * from attempt")) == 3
    assert seen(seeing, "seer+terse", "full")[0]["workspace"]["AGENTS.md"] == "Be very terse.\n"


def test_a_control_takes_an_overlay(seeing):
    seeing.write("evals/full/controls/good/AGENTS.md", "the control's\n")
    seeing.write("evals/full/controls/good/made.txt", "made\n")
    done = seeing.orvl("dummy-good+terse", "--eval=full", "--json")
    assert done.status == 0, done.err
    run = captured(seeing, "dummy-good+terse", "full")
    assert run.made == ["AGENTS.md", "made.txt"]
    assert run.read("AGENTS.md") == "the control's\n"
    assert run.read(".skills/one.md") == "a skill\n"


def test_arguments_go_where_they_belong_in_every_form(seeing):
    for form, body in FORMS.items():
        seeing.agent(form, TOOL + 'models = {"none": ["fixed"]}\n' + body + "\n")
    prompts = ["--effort", "-rf 'x'", "--"]
    for number, prompt in enumerate(prompts):
        seeing.eval(f"p{number}", f"---\nmetrics: {{speed: 1}}\n---\n{prompt}\n")
    done = seeing.orvl(",".join(f"{form}+terse" for form in FORMS), "--eval=p?", "--sandbox=none", "--json")
    assert done.status == 0, done.err
    for form, words in PLACED.items():
        for number, prompt in enumerate(prompts):
            (one,) = seen(seeing, f"{form}+terse", f"p{number}")
            assert one["words"] == [prompt if word == "PROMPT" else word for word in words], form


def test_overlays_are_laid_in_their_order(seeing):
    seeing.write("overlays/loud/workspace/AGENTS.md", "BE LOUD.\n")
    seeing.write("overlays/loud/workspace/LOUD.md", "!\n")
    seeing.write("overlays/loud/overlay.toml", 'arguments = ["--loud"]\nenv = {SEER_MODE = "loud"}\n')
    assert seeing.orvl("seer+terse+loud,seer+loud+terse", "--eval=full").status == 0
    (one,), (other,) = seen(seeing, "seer+terse+loud", "full"), seen(seeing, "seer+loud+terse", "full")
    assert (one["workspace"]["AGENTS.md"], other["workspace"]["AGENTS.md"]) == ("BE LOUD.\n", "Be terse.\n")
    assert one["workspace"].keys() == other["workspace"].keys() == {
        "AGENTS.md", "LOUD.md", ".skills/one.md", "README.md"
    }  # fmt: skip
    assert one["words"] == ["run", *WANTED, "--loud", "Go."]
    assert (one["env"]["SEER_MODE"], other["env"]["SEER_MODE"]) == ("loud", "$HOME and `id`")


def test_an_agent_that_speaks_acp_gets_its_overlay(project):
    agent = Path(__file__).parents[1] / "helpers" / "acp_agent.py"
    project.agent(
        "speaker",
        f"""
        protocol = "acp"
        models = {{"none": ["scripted"]}}
        paths = [{str(agent)!r}]
        SEE = 'printf "%s %s\\\\n" "$2" "$MODE" >> seen.txt; cat "$HOME/.note" >> seen.txt; exec "$0" "$1" load'

        def command():
            return ["sh", "-c", SEE, {sys.executable!r}, {str(agent)!r}]
        """,
    )
    project.eval("two", "---\nmetrics: {checks: 1}\nchecks: [{name: made, run: grep -qx always made.txt}]\n---\n"
                 "write a file\n---\n--count what you were told\n")  # fmt: skip
    project.write("overlays/x/overlay.toml", 'arguments = ["--fast"]\nenv = {MODE = "m"}\n')
    project.write("overlays/x/home/.note", "noted\n")
    done = project.orvl("speaker+x", "--eval=two", "--json")
    assert done.status == 0, done.err
    assert done.json["ratings"][0]["R"] == 1.0
    assert captured(project, "speaker+x", "two").read("seen.txt") == "--fast m\nnoted\n" * 2


def test_the_way_to_the_model_stays_through_a_real_gateway(project):
    project.write("tool/see.py", SEE)
    project.agent(
        "caller",
        TOOL
        + """
import json
from orvl import Command
protocol = "openai"
models = {"host": ["m"]}

def command(prompt, endpoint):
    place = {"provider": {"url": endpoint.url, "key": endpoint.key}, "effort": "low"}
    return Command(["python3", TOOL, prompt], files={".caller.json": json.dumps(place), ".caller.toml": f"url = '{endpoint.url}'"})
""",
    )
    project.eval("one", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.write("overlays/joins/home/.caller.json", '{"effort": "high", "provider": {"more": [1]}}')
    project.write("overlays/moves/home/.caller.json", '{"provider": {"url": "http://127.0.0.1:9/v1"}}')
    project.write("overlays/adds/home/.caller.toml", "effort = 'high'")
    project.write("overlays/breaks/home/.caller.toml", "url = 'http://127.0.0.1:9/v1'")
    project.write("overlays/blocks/home/.caller.toml/x", "")
    with ModelServer() as server:
        project.toml(f'[providers.host]\nprotocol = "openai"\nbase_url = "{server.base_url("openai")}"\nfree = true\n')
        done = project.orvl("caller+*", "--eval=one", "--json")
    assert done.status == 1, done.err
    runs = {row["agent"]: row["runs"]["errored"] for row in done.json["ratings"]}
    assert runs == dict.fromkeys(("caller+joins", "caller+adds"), 0) | dict.fromkeys(
        ("caller+moves", "caller+breaks", "caller+blocks"), 1
    )
    added = seen(project, "caller+adds", "one")[0]["home"][".caller.toml"]
    assert "effort" in added and "http://127.0.0.1:" in added
    joined = json.loads(seen(project, "caller+joins", "one")[0]["home"][".caller.json"])
    assert joined["effort"] == "high"
    assert joined["provider"]["more"] == [1]
    assert joined["provider"]["url"].startswith("http://127.0.0.1:")
    assert joined["provider"]["key"]
    reasons = dict(project.rows("""SELECT cell.agent, attempt.reason FROM attempt JOIN run ON run.id = attempt.run
                                   JOIN cell ON cell.id = run.cell WHERE outcome = 'errored'"""))  # fmt: skip
    assert reasons["caller+moves"].endswith(
        "overlays/moves/home/.caller.json: the agent writes this file too, and what leads the agent to its model would be lost."
    )
    assert "overlays/breaks/home/.caller.toml: the agent writes this file too" in reasons["caller+breaks"]
    assert reasons["caller+blocks"].endswith(
        "the agent writes a file '.caller.toml' into HOME, and this is in its way."
    )


# -- laying over a command


def overlay(tmp_path: Path, home: dict[str, str] | None = None, **more) -> Overlay:
    for name, text in (home or {}).items():
        (tmp_path / "home" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / name).write_text(text)
    return Overlay("x", tmp_path, "d", home=tmp_path / "home" if home else None, **more)


ENDPOINT = AgentEndpoint("http://127.0.0.1:4000/v1", "throw-away", "openai")


def test_an_overlay_wins_where_nothing_leads_to_the_model(tmp_path):
    theirs = {"a.txt": "theirs", "b.json": '{"x": {"y": 2}, "l": [3]}', "c.json": "{}"}
    mine = {"a.txt": "mine", "b.json": '{"x": {"y": 1, "z": 1}, "l": [1, 2]}', "c.json": '{"kept": 1}'}
    over = overlay(tmp_path, theirs, env={"A": "theirs", "B": "new"})
    made = laid_over(Command(["a"], {"A": "mine", "C": "mine"}, mine), [over], ENDPOINT, {})
    assert made.env == {"A": "theirs", "B": "new", "C": "mine"}
    assert made.files["a.txt"] == "theirs"
    assert json.loads(made.files["c.json"]) == {"kept": 1}
    assert json.loads(made.files["b.json"]) == {"x": {"y": 2, "z": 1}, "l": [3]}


def test_variables_that_lead_to_the_model_are_joined_or_refused(tmp_path):
    own = Command(["a"], {"CONFIG": json.dumps({"u": f"{ENDPOINT.url}/x", "n": 1}), "PLAIN": ENDPOINT.key})
    made = laid_over(own, [overlay(tmp_path, env={"CONFIG": '{"n": 2}'})], ENDPOINT, {})
    assert json.loads(made.env["CONFIG"]) == {"u": f"{ENDPOINT.url}/x", "n": 2}
    for env in ({"CONFIG": "no json"}, {"CONFIG": '{"u": "http://elsewhere"}'}, {"PLAIN": "mine"}):
        with pytest.raises(FileError, match="what leads the agent to its model would be lost"):
            laid_over(own, [overlay(tmp_path, env=env)], ENDPOINT, {})
    with pytest.raises(FileError, match="'env' may not set 'MAVEN_OPTS': orvl sets it for this run"):
        laid_over(own, [overlay(tmp_path, env={"MAVEN_OPTS": "x"})], ENDPOINT, {"MAVEN_OPTS": ""})


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "a").write_bytes(b"\xff\x00\xfe")
    made = laid_over(
        Command(["x"], files={"a": b"\x80"}), [Overlay("x", tmp_path, "d", home=tmp_path / "home")], None, {}
    )
    assert made.files["a"].encode("utf-8", "surrogateescape") == b"\xff\x00\xfe"


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["a"], ["a", "-x"]),
        (["a", "p"], ["a", "-x", "p"]),
        (["p"], ["p", "-x"]),
        (["a", "--"], ["a", "-x", "--"]),
        (["a", "-m", "p", "b"], ["a", "-m", "p", "b", "-x"]),
        (["a", "--message=p"], ["a", "--message=p", "-x"]),
    ],
)
def test_where_arguments_go(argv, expected):
    assert with_arguments(argv, ["-x"], " p\n") == expected


def test_arguments_in_an_f_string_stay_words():
    from orvl.run.command import to_command

    words = Arguments(["--a", "two words", "", "$(x)"])
    assert to_command(f"agent {words} -- end", "p").argv == ["agent", "--a", "two words", "", "$(x)", "--", "end"]
    assert to_command(f"agent {Arguments()} end", "p").argv == ["agent", "end"]


# -- laying files over others


def test_laying_follows_no_link_and_replaces_what_is_there(tmp_path):
    outside, target, source = tmp_path / "outside", tmp_path / "target", tmp_path / "source"
    for folder in (outside, target / "was-folder", source / "link", source / "both", target / "both"):
        folder.mkdir(parents=True)
    (target / "link").symlink_to(outside)
    (target / "to-file").symlink_to(outside / "file")
    (target / "both" / "kept").write_text("kept")
    (target / "was-folder" / "x").write_text("x")
    (outside / "file").write_text("untouched")
    for name in ("link/new", "to-file", "was-folder", "both/new", ".git", "both/__pycache__"):
        (source / name).write_text("new")
    (source / "away").symlink_to("/etc/passwd")
    (source / "both" / "new").chmod(0o755)
    (target / "both").chmod(0o555)
    lay(source, target)
    assert sorted(path.name for path in outside.iterdir()) == ["file"]
    assert (outside / "file").read_text() == "untouched"
    assert (target / "link" / "new").read_text() == (target / "to-file").read_text() == "new"
    assert not (target / "to-file").is_symlink()
    assert (target / "was-folder").read_text() == "new"
    assert sorted(path.name for path in (target / "both").iterdir()) == ["kept", "new"]
    assert (target / "both").stat().st_mode & 0o777 == 0o555
    assert os.access(target / "both" / "new", os.X_OK)
    assert os.readlink(target / "away") == "/etc/passwd"
    assert not (target / ".git").exists()


def test_an_overlay_that_changes_while_runs_go_on_is_not_laid_under_its_old_identity(seeing, tmp_path):
    loaded = open_project(seeing.root).overlay("terse")
    fresh = SimpleNamespace(workspace=tmp_path / "workspace", home=tmp_path / "home")
    for folder in (fresh.workspace, fresh.home):
        folder.mkdir()
    rules = seeing.root / "overlays/terse/workspace/AGENTS.md"
    os.utime(rules, (1, 1))
    _lay_over([loaded], fresh)
    rules.write_text("Be very terse.\n")
    with pytest.raises(SetupFailed, match="the overlay terse was changed while runs went on; run the command again"):
        _lay_over([loaded], fresh)
    shutil.rmtree(rules.parent)
    assert has_changed(loaded)


# -- identity and names


def test_identity_is_the_agents_and_the_overlays_in_their_order(seeing):
    seeing.write("overlays/loud/overlay.toml", 'arguments = ["--loud"]\n')
    project = open_project(seeing.root)
    one = project.eval("bare")

    def key(name: str) -> str:
        return cell_key(open_project(seeing.root).agent(name), "", "none", "fixed", "fixed", one)

    before = {name: key(name) for name in ("seer", "seer+terse", "seer+loud", "seer+terse+loud", "seer+loud+terse")}
    assert len(set(before.values())) == 5
    assert project.agent("seer").digest == project.agent_files["seer"].digest, "plain agents keep their identity"
    toml = seeing.root / "overlays/terse/overlay.toml"
    toml.write_text(toml.read_text().replace("Few words.", "Fewer words.") + "# a remark\n")
    assert {name: key(name) for name in before} == before
    for change in (
        lambda: seeing.write("overlays/terse/home/.config/seer/settings.json", "{}"),
        lambda: toml.write_text(toml.read_text().replace("very high", "low")),
        lambda: toml.write_text(toml.read_text().replace('EDIT = "1"', 'EDIT = "2"')),
        lambda: (seeing.root / "overlays/terse/workspace/AGENTS.md").chmod(0o755),
    ):
        last = key("seer+terse")
        change()
        assert key("seer+terse") != last
    assert key("seer") == before["seer"]
    assert key("seer+loud") == before["seer+loud"]


def test_an_overlay_is_used_only_where_it_is_written(seeing):
    seeing.write("overlays/my_own/overlay.toml", 'arguments = ["-x"]\nagents = ["see*"]\n')
    seeing.agent("other", 'models = {"none": ["fixed"]}\ndef command(): return "true"\n')
    assert names(seeing, "seer*") == ["seer"]
    assert not any("+" in name for name in names(seeing, "all"))
    assert names(seeing, "seer+*") == ["seer+my-own", "seer+terse"]
    assert names(seeing, "seer,seer+t*") == ["seer", "seer+terse"]
    assert names(seeing, "other+*") == ["other+terse"]
    assert {"seer+terse", "other+terse"} <= set(names(seeing, "*+terse")) == set(names(seeing, "all+terse"))
    assert names(seeing, "*+my-own") == ["seer+my-own"]
    assert names(seeing, "seer+terse+*") == ["seer+terse+my-own"]
    assert names(seeing, "seer+*+*") == ["seer+my-own+terse", "seer+terse+my-own"]


def test_what_does_not_fit_is_a_sentence(seeing):
    seeing.write("overlays/only/overlay.toml", 'arguments = ["-x"]\nagents = ["opencode", "claude-*"]\n')
    path = seeing.root / "overlays/only/overlay.toml"
    assert complaint(seeing, "seer+tense") == (
        "There is no overlay 'tense'. Did you mean 'terse'? See: orvl list overlays"
    )
    assert complaint(seeing, "seer+terse+terse") == "'seer+terse+terse' names the overlay 'terse' twice."
    assert complaint(seeing, "seer+only") == (
        f"The overlay 'only' does not fit seer: it is for opencode, claude-* ({path})."
    )
    assert complaint(seeing, "se*+only") == "Nothing fits 'se*+only'. See: orvl list overlays"
    assert complaint(seeing, "sear+terse").startswith("There is no agent 'sear'. Did you mean 'seer'?")
    assert complaint(seeing, "seer+").startswith("There is no overlay ''.")
    assert complaint(seeing, "seer+zzz*") == "Nothing fits 'seer+zzz*'. See: orvl list overlays"
    assert complaint(seeing, "seer@1.2.3") == (
        f"There is no seer@1.2.3: the file of seer pins no version in 'install' ({seeing.root}/agents/seer.py)."
    )


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ("argument = []", ":1: overlay.toml has no 'argument'. Did you mean 'arguments'?"),
        ("\nenv = {A = 3}", ":2: 'env.A' is 3; it must be text."),
        ('arguments = "-x"', ":1: 'arguments' is '-x'; it must be a list."),
        ('env = {HOME = "/"}', ":1: 'env' may not set 'HOME': orvl sets it for every run."),
        ('[env]\nhttps_proxy = "x"', ":2: 'env' may not set 'https_proxy': orvl decides what a run may reach."),
        (
            'env = {OPENAI_BASE_URL = "x"}',
            ":1: 'env' may not set 'OPENAI_BASE_URL': orvl tells agents where their model is.",
        ),
        (
            'env = {MY_API_KEY = "x"}',
            ":1: 'env' may not set 'MY_API_KEY': it looks like a key, and keys never reach agents.",
        ),
        ('env = {"A=B" = "x"}', ":1: 'env' may not set 'A=B': it is not an environment variable."),
        ('arguments = ["a\\u0000"]', ":1: an argument contains a NUL byte."),
        ("arguments = [", ":1: "),
        ('arguments = ["x"]\nagents = ["seen"]', ":2: there is no agent 'seen'. Did you mean 'seer'?"),
    ],
)
def test_mistakes_in_overlay_toml(seeing, toml, sentence):
    path = seeing.write("overlays/bad/overlay.toml", toml)
    path.write_text(toml)
    assert complaint(seeing, "seer+bad").startswith(f"{path}{sentence}")
    assert names(seeing, "seer+terse") == ["seer+terse"]


def test_mistakes_in_the_folder(seeing):
    folder = seeing.root / "overlays" / "bad"
    folder.mkdir()
    assert complaint(seeing, "seer+bad").startswith(f"{folder}: this overlay changes nothing; it needs files")
    (folder / "workspace").mkdir()
    (folder / "overlay.toml").write_text('description = "nothing"\n')
    assert complaint(seeing, "seer+bad").startswith(f"{folder}: this overlay changes nothing")
    (folder / "Home").mkdir()
    assert complaint(seeing, "seer+bad") == f"{folder}/Home: an overlay has no 'Home'. Did you mean 'home'?"
    (folder / "Home").rmdir()
    (folder / "home").symlink_to(seeing.root)
    assert complaint(seeing, "seer+bad") == f"{folder}/home: this must be a folder, not a link."
    (folder / "home").unlink()
    os.mkfifo(folder / "workspace" / "pipe")
    assert complaint(seeing, "seer+bad").startswith(f"{folder}/workspace: it cannot be used (it is a pipe")


@pytest.mark.parametrize("name", ["agents/a+b.py", "agents/a@1.py", "overlays/a+b/overlay.toml", "overlays/a*/home/x"])
def test_names_that_could_not_be_told_apart(seeing, name):
    seeing.write(name, "")
    assert "cannot be used on the command line: '" in complaint(seeing, "seer+terse")


def test_overlays_are_listed_checked_and_completed(seeing):
    seeing.write("overlays/only/overlay.toml", 'arguments = ["-x"]\nagents = ["opencode"]\n')
    bad = seeing.write("overlays/bad/overlay.toml", "agent = []\n")
    listed = seeing.orvl("list", "--json").json["overlays"]
    sentence = f"{bad}:1: overlay.toml has no 'agent'. Did you mean 'agents'?"
    assert listed.pop(0) == {"name": "bad", "from": "project", "error": sentence}
    told = list(_project(open_project(seeing.root)))
    assert ("wrong", sentence) in told
    assert ("ok", "2 overlays can be used") in told
    bad.unlink()
    bad.parent.rmdir()
    assert listed == [
        {"name": "only", "from": "project", "has": ["arguments"], "agents": ["opencode"], "description": ""},
        {
            "name": "terse",
            "from": "project",
            "has": ["workspace", "home", "env", "arguments"],
            "agents": ["all"],
            "description": "Few words.",
        },
    ]
    line = "orvl run dummy-good,seer+t"
    done = seeing.orvl(env={"_ORVL_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": "2"})
    assert done.out == "plain,dummy-good,seer+terse\n"
    given = {"project": seeing.root}
    for word, offered in {
        "seer+": ["seer+terse"],
        "dummy-good,seer+t": ["seer+terse"],
        "opencode@1.2.3+terse+": ["opencode@1.2.3+terse+only"],
        "nobody+": [],
        "seer": [],
    }.items():
        assert with_overlays(given, word) == offered
    assert names_of("model", {**given, "agent_word": "seer+terse"}) == ["fixed", "all"]


# -- versions


def test_a_version_replaces_the_pin_and_overlays_share_an_installation(seeing):
    seeing.write("overlays/x/overlay.toml", 'arguments = ["-x"]\n')
    project = open_project(seeing.root)
    kilo, other = project.agent("kilo"), project.agent("kilo@7.7.6+x")
    assert (other.name, other.file_name, other.at) == ("kilo@7.7.6+x", "kilo", "7.7.6")
    assert other.install == {"npm": ("@kilocode/cli@7.7.6", "@kilocode/cli-linux-x64@7.7.6")}
    assert other.digest not in (kilo.digest, project.agent("kilo@7.7.6").digest, project.agent("kilo+x").digest)
    assert (
        place_of(other) == place_of(project.agent("kilo@7.7.6")) != place_of(kilo) == place_of(project.agent("kilo+x"))
    )
    assert place_of(project.agent("kilo@7.7.7")) == place_of(kilo)
    assert project.agent("mini-swe-agent@2.4.5").install == {"pip": ("mini-swe-agent==2.4.5", "mcp==2.3.0")}
    assert project.agent("claude-code@2.0.0").install == {"npm": ("@anthropic-ai/claude-code@2.0.0",)}
    assert project.agent("opencode@1.2.3").models == project.agent("opencode").models
    assert complaint(seeing, "opencode@latest") == (
        "'latest' is not an exact version of opencode; write it as opencode@1.18.33."
    )
    assert complaint(seeing, "opencode@").startswith("'' is not an exact version of opencode")


def test_a_version_that_is_not_installed_is_never_another_one(seeing, tmp_path, monkeypatch):
    """What is in PATH may be any version, and the row would bear a wrong name."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "pinned"
    program.write_text("#!/bin/sh\necho 1.0.0\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    text = 'models = {{"none": ["fixed"]}}\ninstall = {{"npm": ["pinned@1.0.0"]}}\n{}\ndef command(): return "pinned"\n'
    seeing.agent("pinned", text.format('version = ["pinned", "--version"]'))
    seeing.agent("mute", text.format(""))
    assert names(seeing, "pinned") == ["pinned"]
    for agent in ("pinned", "mute"):
        assert complaint(seeing, f"{agent}@1.1.0") == (
            f"The agent {agent}@1.1.0 is not installed at version 1.1.0 ({seeing.root}/agents/{agent}.py). "
            f"Install it with: orvl install {agent}@1.1.0"
        )
    plan = make_plan(
        open_project(seeing.root), Selection("pinned@1.1.0"), episodes=[1], ask_version=lambda _: "pinned v1.1.0"
    )
    assert plan.cells[0].version == "pinned v1.1.0"
    with pytest.raises(UserError, match=r"is not there at version 1\.1\.0: it says '11\.1\.0'"):
        make_plan(open_project(seeing.root), Selection("pinned@1.1.0"), episodes=[1], ask_version=lambda _: "11.1.0")
