"""Loading: agents, evals, scores, orvl.toml and packages; every mistake is one sentence with its place and the fix."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

from helpers.user_project import BOUND_BY_MODES
from orvl.errors import FileError, UserError
from orvl.plan.layout import panel_of
from orvl.project import open_project

GOOD = 'models = {"none": ["m"]}\ndef command(prompt): return ["true"]\n'
HEAD = "---\nmetrics: {speed: 1}\n---\n"


def sentence_of(load) -> str:
    """The one sentence that a mistake is told in."""
    with pytest.raises(UserError) as caught:
        load()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "Traceback" not in sentence
    return sentence


def put(path, content: str | bytes):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(result, *words: str) -> None:
    """A call that ends with 2, nothing on standard output, and one line that has these words."""
    assert result.status == 2, result
    assert result.out == ""
    lines = result.err.splitlines()
    assert len(lines) == 1, result.err
    assert lines[0].startswith("orvl: ")
    for word in words:
        assert word in lines[0]


# -- agents

BAD_AGENTS = {
    "no command": ('models = {"none": ["m"]}\n', 1, "needs a function 'command'. Add: def command("),
    "empty file": ("", 1, "needs a function 'command'"),
    "command is text": (
        'models = {"none": ["m"]}\ncommand = "opencode run"\n',
        2,
        "'command' is 'opencode run'; it must be a function",
    ),
    "unknown argument": ('models = {"none": ["m"]}\n\ndef command(promt): return "x"\n', 3, "Did you mean 'prompt'?"),
    "unknown keyword": (
        'models = {"none": ["m"]}\ndef command(prompt, *, modle): return "x"\n',
        2,
        "Did you mean 'model'?",
    ),
    "read asks too much": (GOOD + "def read(outptu): return {}\n", 3, "Did you mean 'output'?"),
    "read is a dict": (GOOD + "read = {}\n", 3, "'read' is {}; it must be a function"),
    "syntax": ("models = {}\ndef command(:\n", 2, "invalid syntax"),
    "indentation": ("x = 1\n  y = 2\n", 2, "unexpected indent"),
    "NameError": ("x = 1\nmodels = MODELS\n", 2, "NameError: name 'MODELS' is not defined, while the file was loaded."),
    "ImportError": ("\nimport no_such_module_here\n", 2, "No module named 'no_such_module_here'"),
    "exit": ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
    "exit without a word": ("import sys\nsys.exit()\n", 2, "SystemExit"),
    "raised in a helper": ("def f():\n    raise ValueError('a\\nb')\nf()\n", 2, "ValueError: a b"),
    "recursion": ("def f(): f()\nf()\n", 1, "RecursionError"),
    "no models": ("def command(): return 'x'\n", None, 'Add: models = {"provider": ["model"]}'),
    "models empty": ("models = {}\ndef command(): return 'x'\n", 1, 'models = {"provider": ["model"]}'),
    "models a list": ('models = ["m"]\n' + "def command(): return 'x'\n", 1, "must map providers to models"),
    "models a text": ('\nmodels = "m"\n' + "def command(): return 'x'\n", 2, "must map providers to models"),
    "models a function": ("def models(): return {}\ndef command(): return 'x'\n", 1, "must map providers to models"),
    "provider a number": ("models = {1: ['m']}\ndef command(): return 'x'\n", 1, "the provider 1"),
    "provider empty": ("models = {'': ['m']}\ndef command(): return 'x'\n", 1, "the provider ''"),
    "a text for a list": ("models = {'zen': 'm'}\ndef command(): return 'x'\n", 1, "must be a list of models"),
    "a number for a list": ("models = {'zen': 3}\ndef command(): return 'x'\n", 1, "must be a list of models"),
    "none for a list": ("models = {'zen': None}\ndef command(): return 'x'\n", 1, "must be a list of models"),
    "a set for a list": ("models = {'zen': {'m'}}\ndef command(): return 'x'\n", 1, "must be a list of models"),
    "a number in a list": ("models = {'zen': ['m', 7]}\ndef command(): return 'x'\n", 1, "holds 7"),
    "zero in a list": ("models = {'zen': ['m', 0]}\ndef command(): return 'x'\n", 1, "holds 0"),
    "none in a list": ("models = {'zen': ['m', None]}\ndef command(): return 'x'\n", 1, "holds None"),
    "empty in a list": ("models = {'zen': ['m', '']}\ndef command(): return 'x'\n", 1, "holds ''"),
    "a list in a list": ("models = {'zen': [[]]}\ndef command(): return 'x'\n", 1, "holds []"),
    "an id that is empty": ("models = {'zen': {'m': ''}}\ndef command(): return 'x'\n", 1, "holds ''"),
    "an id that is none": ("models = {'zen': {'m': None}}\ndef command(): return 'x'\n", 1, "holds None"),
    "models annotated": ("models: dict = {'zen': 3}\ndef command(): return 'x'\n", 1, "must be a list of models"),
    "models wrong, with a BOM": (b"\xef\xbb\xbfmodels = ['m']\ndef command(): return 'x'\n", 1, "must map providers"),
    "models wrong, in latin-1": (
        b"# coding: latin-1\n# \xe9\nmodels = ['m']\ndef command(): return 'x'\n",
        3,
        "must map",
    ),
    "version a number": (GOOD + "version = 1\n", 3, "'version' must be the command that prints it"),
    "version of numbers": (GOOD + "version = ['a', 1]\n", 3, "'version' must be the command that prints it"),
    "version with a NUL": (GOOD + "version = ['a\\0b']\n", 3, "'version'"),
    "version unclosed": (GOOD + 'version = "a \'b"\n', 3, "'version'"),
    "protocol": (GOOD + "protocol = 'opnai'\n", 3, "Did you mean 'openai'?"),
    "protocol in a list": (GOOD + "protocol = ['opnai']\n", 3, "Did you mean 'openai'?"),
    "install a list": (GOOD + "install = ['x@1']\n", 3, "'install' must name packages"),
    "install by whom": (GOOD + "install = {'nmp': ['x@1']}\n", 3, "Did you mean 'npm'?"),
    "install what": (GOOD + "install = {'npm': 'x@1'}\n", 3, "must be a list of packages"),
    "control": (GOOD + "control = 3\n", 3, "'control' is 3; it must name a folder"),
    "command without a signature": ("models = {'none': ['m']}\ncommand = dict\n", 2, "command"),
    "binary": (b"\x7fELF\x00\x01\x02", None, ""),
    "not UTF-8": (b"x = 1\ny = '\xff'\n", 2, "utf-8"),
    "NUL": (b"x = 1\0\n", None, "null byte"),
}


@pytest.mark.parametrize("case", BAD_AGENTS)
def test_a_mistake_in_an_agent_is_one_sentence_with_its_place(tmp_path, case):
    content, line, words = BAD_AGENTS[case]
    path = put(tmp_path / "agents/x.py", content)
    sentence = sentence_of(lambda: open_project(tmp_path).agent("x"))
    assert sentence.startswith(f"{path}:{line}: " if line else f"{path}:"), sentence
    assert words in sentence


def test_a_mistake_on_the_command_line_ends_with_2(project):
    path = project.agent("mine", "def command(prompt): return 1 +\n")
    project.eval("e", HEAD + "x")
    refused(project.orvl("mine", "--eval=e", "--json"), f"{path}:1: invalid syntax.")
    refused(project.orvl("mine", "--eval=e", "--dry-run"), f"{path}:1: ")
    listed = {row["name"]: row for row in project.orvl("list", "agents", "--json").json["agents"]}
    assert listed["mine"]["error"].startswith(f"{path}:1: ")
    assert "error" not in listed["empty"]
    doctor = project.orvl("doctor")
    assert doctor.status == 1
    assert f"wrong  {path}:1: " in doctor.out
    assert not (project.root / ".orvl").exists()


def test_a_broken_file_harms_only_those_who_name_it(project):
    project.agent("broken", "import no_such_module_here\n")
    project.score("bad", "1 / 0\n")
    project.write("evals/none.md", "")
    project.agent("mine", GOOD)
    project.eval("e", HEAD + "x")
    result = project.orvl("mine", "--eval=e", "--json")
    assert result.status == 0, result.err
    unknown = project.orvl("mine", "nosuch", "--eval=e")
    assert unknown.status == 2
    assert "mine has no model 'nosuch'" in unknown.err


def test_syntax_errors_from_text_that_a_file_compiles_name_the_file(tmp_path):
    path = put(tmp_path / "agents/x.py", "x = 1\nexec('a b')\n" + GOOD)
    assert sentence_of(lambda: open_project(tmp_path).agent("x")).startswith(f"{path}:2: ")


GOOD_MODELS = {
    '{"zen": ["a", "b"]}': {"zen": {"a": "a", "b": "b"}},
    '{"zen": ("a",), "none": ["m"]}': {"zen": {"a": "a"}, "none": {"m": "m"}},
    '{"openrouter": {"qwen": "qwen/qwen3"}}': {"openrouter": {"qwen": "qwen/qwen3"}},
    '{"zen": ["a", "a"]}': {"zen": {"a": "a"}},
    '{"zen": ["a"], "none": []}': {"zen": {"a": "a"}},
}


@pytest.mark.parametrize("models", GOOD_MODELS)
def test_models_are_a_list_or_names_with_the_providers_ids(tmp_path, models):
    put(tmp_path / "agents/x.py", f"models = {models}\ndef command(prompt): return 'true'\n")
    assert open_project(tmp_path).agent("x").models == GOOD_MODELS[models]


@pytest.mark.parametrize(
    "content",
    [
        GOOD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        b"# -*- coding: latin-1 -*-\n# \xe9\n" + GOOD.encode(),
        b'"""Says "h\xc3\xa9" and more."""\n' + GOOD.encode(),
        GOOD.replace("command(prompt)", "command(prompt, more=1)").encode(),
        GOOD.replace("command(prompt)", "command(prompt, *rest)").encode(),
        GOOD.replace("command(prompt)", "command(**everything)").encode(),
        GOOD.replace("command(prompt)", "command()").encode(),
        (GOOD + "version = 'x --version'\nprotocol = 'openai'\n").encode(),
        (GOOD + "version = None\nprotocol = None\ncontrol = None\nread = None\n").encode(),
    ],
    ids=["crlf", "bom", "latin-1", "docstring", "default", "rest", "keywords", "nothing", "optional", "none of them"],
)
def test_an_agent_may_be_written_so(tmp_path, content):
    put(tmp_path / "agents/x.py", content)
    agent = open_project(tmp_path).agent("x")
    assert agent.models == {"none": {"m": "m"}}
    assert (agent.name, agent.origin) == ("x", "project")


def test_an_agent_can_run_with_a_command_that_takes_its_argument_by_place_only(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(prompt, /): return ["true", prompt]\n')
    project.eval("e", HEAD + "x")
    result = project.orvl("mine", "--eval=e")
    assert result.status == 0, result.err


def test_a_file_may_import_modules_by_their_earlier_names(tmp_path):
    put(tmp_path / "agents/x.py", "from orvl.reading import Steps, json_lines, told\n" + GOOD)
    put(tmp_path / "scores/y.py", "from orvl.similarity import compare\ndef score(run): return 1.0\n")
    put(tmp_path / "scores/z.py", "import orvl.readings\ndef score(run): return 1.0\n")
    project = open_project(tmp_path)
    assert project.agent("x").command and project.metric("y").function
    assert "No module named 'orvl.readings'" in sentence_of(lambda: project.metric("z"))


def test_an_agent_may_import_from_the_project_and_leaves_no_bytecode(project):
    project.write("shared_things.py", 'MODELS = {"none": ["m"]}\n')
    project.agent("mine", "from shared_things import MODELS as models\ndef command(): return 'true'\n")
    project.eval("e", HEAD + "x")
    result = project.orvl("--project", str(project.root), "mine", "--eval=e", cwd=project.root.parent)
    assert result.status == 0, result.err
    assert not list((project.root / "agents").rglob("*.pyc"))


def test_an_agent_that_prints_when_loaded_does_not_spoil_json(project):
    project.agent("mine", "print('hello')\nimport os; os.system('echo there')\n" + GOOD)
    project.eval("e", HEAD + "x")
    assert project.orvl("mine", "--eval=e", "--dry-run", "--json").json["plan"]["cells"] == 1


# -- names


def test_a_files_name_is_the_things_name_with_dashes(tmp_path):
    for name in ("my_agent", "Größe", "two words", "v1.2", "UPPER"):
        put(tmp_path / f"agents/{name}.py", GOOD)
        put(tmp_path / f"evals/{name}.md", HEAD + "x")
    for name in ("_hidden", ".hidden", "__init__"):
        put(tmp_path / f"agents/{name}.py", "1 / 0")
        put(tmp_path / f"evals/{name}.md", "")
    put(tmp_path / "evals/README.md", "About these evals.")
    put(tmp_path / "agents/notes.txt", "x")
    project = open_project(tmp_path)
    mine = {name for name, found in project.agent_files.items() if found.origin == "project"}
    assert mine == {"my-agent", "Größe", "two words", "v1.2", "UPPER"}
    assert {name for name, found in project.eval_files.items() if found.origin == "project"} == mine
    assert project.agent("my-agent").path.name == "my_agent.py"


def test_odd_names_run_and_are_shown(project):
    for name in ("Größe", "two words", "x"):
        project.agent(name, GOOD)
        project.eval(name, HEAD + "x")
    result = project.orvl("Größe,two words,x", "--eval", "two words,Größe,x", "--json")
    assert result.status == 0, result.err
    rows = result.json["ratings"]
    assert {row["agent"] for row in rows} == {row["eval"] for row in rows} == {"Größe", "two words", "x"}
    assert len(rows) == 9
    report = project.orvl("report", "x", "--eval=x")
    assert report.status == 0
    assert project.orvl("show", "two words/Größe/1").status == 0


def test_names_that_are_not_utf_8_are_told_without_a_traceback(project):
    (project.root / "agents").mkdir()
    with open(os.fsencode(project.root / "agents") + b"/a\xff.py", "w") as file:
        file.write(GOOD)
    for words in (["list", "agents"], ["list", "agents", "--json"], ["all", "--eval=hello-world", "--dry-run"]):
        result = project.orvl(*words)
        assert "Traceback" not in result.err
        assert result.status in (0, 2)


def test_two_agents_of_one_name_are_refused(project):
    one, other = project.agent("my-agent", GOOD), project.agent("my_agent", GOOD)
    project.eval("e", HEAD + "x")
    for words in (["my-agent", "--eval=e"], ["dummy-good", "--eval=hello-world", "--dry-run"], ["list"]):
        refused(project.orvl(*words), "Two agents are named 'my-agent'", str(one), str(other), "Rename one of them.")


def test_two_evals_of_one_name_are_refused(tmp_path):
    put(tmp_path / "evals/a_b.md", "x")
    put(tmp_path / "evals/a-b/eval.md", "x")
    sentence = sentence_of(lambda: open_project(tmp_path).eval_files)
    assert "Two evals are named 'a-b'" in sentence
    put(tmp_path / "scores/a_b.py", "def score(): return 1")
    put(tmp_path / "scores/a-b.py", "def score(): return 1")
    assert "Two scores are named 'a-b'" in sentence_of(lambda: open_project(tmp_path).metric_files)


@pytest.mark.parametrize(
    "name", ["run", "score", "report", "list", "gc", "show", "compare", "certify", "view", "all", "help"]
)
def test_an_agent_may_not_take_a_word_of_orvl(tmp_path, name):
    path = put(tmp_path / f"agents/{name}.py", GOOD)
    sentence = sentence_of(lambda: open_project(tmp_path).agent_files)
    assert sentence.startswith(f"{path}: an agent may not be named '{name}'")
    assert sentence.endswith("Rename the file.")


@pytest.mark.parametrize("name", ["all", "a,b"])
@pytest.mark.parametrize("kind", ["agents", "evals", "scores"])
def test_a_name_that_can_never_be_called_is_refused(tmp_path, kind, name):
    """`all` means every one, and a comma parts names: such a file could not be named on the command line."""
    path = put(tmp_path / kind / (name + (".md" if kind == "evals" else ".py")), GOOD)
    project = open_project(tmp_path)
    assert str(path) in sentence_of(lambda: (project.agent_files, project.eval_files, project.metric_files))


def test_every_command_of_orvl_is_a_reserved_name():
    from orvl.cli import COMMANDS
    from orvl.project.names import RESERVED

    assert set(COMMANDS) <= RESERVED


def test_an_eval_a_score_and_an_agent_may_share_a_name(project):
    project.agent("same", GOOD.replace('"none": ["m"]', '"none": ["same"]'))
    project.eval("same", "---\nmetrics: {same: 1}\n---\nx")
    project.score("same", "def score(run): return 0.25\n")
    result = project.orvl("same", "same", "none", "same", "same", "--json")
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["R"] == 0.25


# -- odd files


def test_a_symlinked_agent_is_an_agent_and_its_mistakes_have_its_place(tmp_path):
    target = put(tmp_path / "elsewhere/real.py", GOOD)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents/linked.py").symlink_to(target)
    assert open_project(tmp_path).agent("linked").name == "linked"
    put(target, "1 / 0\n")
    sentence = sentence_of(lambda: open_project(tmp_path).agent("linked"))
    assert sentence.startswith(f"{tmp_path / 'agents/linked.py'}:1: ZeroDivisionError")


def test_a_link_to_nowhere_is_a_sentence(tmp_path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "evals").mkdir()
    (tmp_path / "agents/x.py").symlink_to(tmp_path / "gone")
    (tmp_path / "evals/x.md").symlink_to(tmp_path / "gone")
    project = open_project(tmp_path)
    assert sentence_of(lambda: project.agent("x")).startswith(f"{tmp_path / 'agents/x.py'}:")
    assert sentence_of(lambda: project.eval("x")).startswith(f"{tmp_path / 'evals/x.md'}:")


def test_a_folder_with_the_name_of_a_python_file_is_no_agent(tmp_path):
    (tmp_path / "agents/x.py").mkdir(parents=True)
    (tmp_path / "scores/y.py").mkdir(parents=True)
    project = open_project(tmp_path)
    assert "x" not in project.agent_files
    assert "y" not in project.metric_files


def test_a_pipe_with_the_name_of_a_python_file_is_no_agent(tmp_path):
    """Reading it would wait for ever."""
    (tmp_path / "agents").mkdir()
    os.mkfifo(tmp_path / "agents/x.py")
    assert "x" not in open_project(tmp_path).agent_files


def test_a_file_where_a_folder_should_be_is_a_sentence(tmp_path):
    put(tmp_path / "agents", "x")
    assert str(tmp_path / "agents") in sentence_of(lambda: open_project(tmp_path).agent_files)


def test_what_cannot_be_read_is_a_sentence(project):
    """As somebody who is bound by modes, which root is not."""
    project.toml("penalty = 0.5")
    project.agent("x", "models = {'none': ['m']}\ndef command(): return 'true'\n")
    project.eval("x", "Hello.")
    for name in ("agents/x.py", "evals/x.md", "orvl.toml", "scores"):
        path = project.root / name
        if name == "scores":
            path.mkdir()
        mode = path.stat().st_mode
        path.chmod(0)
        result = project.orvl("x", "--eval=x", "--dry-run", prefix=BOUND_BY_MODES)
        path.chmod(mode)
        refused(result, "permission denied", name)


def test_a_project_that_is_not_there_is_a_sentence(project):
    refused(project.orvl("--project", "nowhere", "all"), "nowhere", "orvl init")
    refused(project.orvl("list", "--project", "nowhere"), "nowhere")
    assert not (project.root / "nowhere").exists()


def test_a_file_instead_of_a_project_is_not_to_be_made_with_init(project):
    file = project.write("file", "x")
    result = project.orvl("--project", str(file), "all")
    refused(result, str(file))
    assert "is not there" not in result.err


def test_the_project_is_found_from_a_folder_below(project):
    project.toml("episodes = 2\n")
    project.agent("mine", GOOD)
    project.eval("e", HEAD + "x")
    below = project.root / "src" / "deep"
    below.mkdir(parents=True)
    plan = project.orvl("mine", "--eval=e", "--dry-run", "--json", cwd=below).json["plan"]
    assert plan["to_run"] == 2


# -- evals

BAD_EVALS = {
    "empty": ("", 1, "the eval has no prompt"),
    "blank": ("\n \n\t\n", 1, "the eval has no prompt"),
    "no prompt after the front matter": (HEAD, 4, "the eval has no prompt"),
    "not closed": ("---\nmetrics: {speed: 1}\nDo it.\n", 1, "the front matter is not closed"),
    "only a line": ("---\n", 1, "the front matter is not closed"),
    "an empty turn": (HEAD + "one\n---\n\n---\nthree\n", 6, "the prompt of turn 2 is empty"),
    "an empty last turn": (HEAD + "one\n---\n", 6, "the prompt of turn 2 is empty"),
    "an empty first turn": (HEAD + "---\ntwo\n", 4, "the prompt of turn 1 is empty"),
    "a list": ("---\n- metrics\n---\nx", 2, "write 'key: value' lines"),
    "a text": ("---\nmetrics\n---\nx", 2, "write 'key: value' lines"),
    "YAML": ("---\ndescription: x\nmetrics: {speed: 1\n---\nx", None, "bad front matter"),
    "a tab": ("---\nmetrics:\n\tspeed: 1\n---\nx", 3, "bad front matter"),
    "a control character": ("---\ndescription: \x01\n---\nx", None, "bad front matter"),
    "a date that is none": ("---\ndescription: 2020-13-45\n---\nx", None, "bad front matter"),
    "a tag": ("---\ndescription: !!python/object:os.system x\n---\nx", 2, "bad front matter"),
    "a key that is a list": ("---\n? [a]\n: b\n---\nx", 2, "bad front matter"),
    "unknown key": ("---\ndescription: x\nmetric: {speed: 1}\n---\nx", 3, "Did you mean 'metrics'?"),
    "a number as key": ("---\n1: x\n---\nx", 2, "an eval has no '1'"),
    "a key twice": ("---\nmetrics: {speed: 1}\nmetrics: {checks: 1}\n---\nx", 3, "metrics"),
    "a weight twice": ("---\nmetrics: {speed: 1, speed: 2}\n---\nx", 2, "speed"),
    "weight below zero": (
        "---\nmetrics: {speed: -1}\n---\nx",
        2,
        "'metrics.speed' is -1; it must be 0 or more.",
    ),
    "weight NaN": ("---\nmetrics: {speed: .nan}\n---\nx", 2, "'metrics.speed' is nan"),
    "weight infinite": ("---\nmetrics: {speed: .inf}\n---\nx", 2, "'metrics.speed' is inf"),
    "weight bool": ("---\nmetrics: {speed: true}\n---\nx", 2, "'metrics.speed' is True"),
    "weight text": ("---\nmetrics: {speed: high}\n---\nx", 2, "'metrics.speed' is 'high'"),
    "weight none": ("---\nmetrics: {speed: }\n---\nx", 2, "'metrics.speed' is None"),
    "weight huge": ("---\nmetrics: {speed: 1" + "0" * 400 + "}\n---\nx", 2, "'metrics.speed' is"),
    "weights all zero": ("---\nmetrics: {speed: 0, checks: 0.0}\n---\nx", 2, "at least one must be above 0"),
    "no weights": ("---\nmetrics: {}\n---\nx", 2, "must be names with weights"),
    "an empty list of metrics": ("---\nmetrics: []\n---\nx", 2, "must be names with weights"),
    "metrics a text": ("---\nmetrics: speed\n---\nx", 2, "must be names with weights"),
    "metrics a list of pairs": ("---\nmetrics: [{speed: 1}, {checks: 2}]\n---\nx", 2, "must be names with weights"),
    "metrics a list in a list": ("---\nmetrics:\n  - [speed]\n---\nx", 2, "must be names with weights"),
    "metric unknown": ("---\ndescription: x\nmetrics: {sped: 1}\n---\nx", 3, "Did you mean 'speed'?"),
    "checks a mapping": (
        "---\nchecks: {build: make}\n---\nx",
        2,
        "'checks' is {'build': 'make'}; it must be a list such as",
    ),
    "checks a list of texts": ("---\nchecks: [make]\n---\nx", 2, "'checks[1]' is 'make'; it must be a list such as"),
    "check without name": ("---\nchecks: [{run: make}]\n---\nx", 2, "'checks[1]' needs 'name'"),
    "check without run": ("---\nchecks: [{name: a, run: x}, {name: b}]\n---\nx", 2, "'checks[2]' needs 'run'"),
    "check with an empty run": (
        "---\nchecks: [{name: a, run: ' '}]\n---\nx",
        2,
        "'checks[1].run' is ' '; it must be non-empty text.",
    ),
    "check with an unknown key": (
        "---\nchecks: [{name: a, run: x, timeout: 3}]\n---\nx",
        2,
        "'checks[1]' has no 'timeout'",
    ),
    "check with an empty key": ("---\nchecks: [{name: a, run: x, '': 3}]\n---\nx", 2, "'checks[1]' has no ''"),
    "check with a key 0": ("---\nchecks: [{name: a, run: x, 0: 3}]\n---\nx", 2, "'checks[1]' has no '0'"),
    "check with a limit of 0": ("---\nchecks: [{name: a, run: x, limit: 0}]\n---\nx", 2, "must be above 0"),
    "check weight below zero": (
        "---\nchecks: [{name: a, run: x, weight: -1}]\n---\nx",
        2,
        "must be 0 or more",
    ),
    "two checks of one name": (
        "---\nchecks: [{name: a, run: x}, {name: a, run: y}]\n---\nx",
        2,
        "two checks are named 'a'",
    ),
    "limits unknown": ("---\nlimits: {grce: 3}\n---\nx", 2, "Did you mean 'grace'?"),
    "limits of 0": ("---\nlimits: {turn: 0}\n---\nx", 2, "'limits.turn' is 0"),
    "limits a number": ("---\nlimits: 5\n---\nx", 2, "'limits' is 5; it must be 'name: value' pairs"),
    "limits a text": ("---\nlimits: {turn: 5 min}\n---\nx", 2, "'limits.turn' is '5 min'"),
    "par of 0": ("---\npar: {speed: 0}\n---\nx", 2, "'par.speed' is 0"),
    "par of no metric": ("---\npar: {sped: 60}\n---\nx", 2, "Did you mean 'speed'?"),
    "app unknown": ("---\napp: {strat: x}\n---\nx", 2, "Did you mean 'start'?"),
    "app a number": ("---\napp: {start: 5}\n---\nx", 2, "'app.start' is 5; it must be text"),
    "description a number": ("---\ndescription: 5\n---\nx", 2, "'description' is 5; it must be text"),
    "not UTF-8": (b"---\nmetrics: {speed: 1}\n---\na\n\xff\n", 5, "an eval must be UTF-8 text."),
    "binary": (b"\x89PNG\r\n\x1a\n\x00\x00", 1, "an eval must be UTF-8 text."),
    "NUL in a prompt": (HEAD + "a\0b", 4, "NUL byte"),
}


@pytest.mark.parametrize("form", ["evals/x.md", "evals/x/eval.md"])
@pytest.mark.parametrize("case", BAD_EVALS)
def test_a_mistake_in_an_eval_is_one_sentence_with_its_place(tmp_path, case, form):
    content, line, words = BAD_EVALS[case]
    path = put(tmp_path / form, content)
    sentence = sentence_of(lambda: open_project(tmp_path).eval("x"))
    place = sentence.removeprefix(f"{path}:").split(":")[0]
    assert place.isdigit(), sentence
    assert line is None or int(place) == line
    assert words in sentence


def test_a_mistake_in_an_eval_ends_the_call_with_2(project):
    path = project.write("evals/x.md", "---\nmetrics: [{speed: 1}]\n---\nx")
    refused(project.orvl("empty", "--eval=x", "--json"), f"{path}:2: ")


def prompts_of(tmp_path, content: str | bytes):
    put(tmp_path / "evals/x.md", content)
    return open_project(tmp_path).eval("x").prompts


@pytest.mark.parametrize(
    ("content", "prompts"),
    [
        ("Say hello.", ("Say hello.",)),
        ("Say hello.\n", ("Say hello.",)),
        ("\n\nSay\n\nhello.\n\n", ("Say\n\nhello.",)),
        ("one\n---\ntwo\n---\nthree", ("one", "two", "three")),
        (HEAD + "one\n---\ntwo", ("one", "two")),
        (HEAD + "one\n---   \ntwo", ("one", "two")),
        (HEAD + "a\n\\---\nb", ("a\n---\nb",)),
        (HEAD + "\\---\nb\n\\---", ("---\nb\n---",)),
        (HEAD + "a\n\\\\---\nb", ("a\n\\\\---\nb",)),
        (HEAD + "a\n----\nb", ("a\n----\nb",)),
        (HEAD + "a\n - --\n  ---\n--- x\nb", ("a\n - --\n  ---\n--- x\nb",)),
        ("---\n---\nx", ("x",)),
        ("---\n# only a comment\n---\nx", ("x",)),
        ("\\---\nx", ("---\nx",)),
        (HEAD + "  indented\n    code", ("  indented\n    code",)),
        (HEAD + "a\x0cb\x1c---\x1c c\u2028---\u2028d", ("a\x0cb\x1c---\x1c c\u2028---\u2028d",)),
    ],
)
def test_turns_are_parted_by_lines_of_three_dashes(tmp_path, content, prompts):
    assert prompts_of(tmp_path, content) == prompts


def test_windows_line_ends_part_turns_and_front_matter_too(tmp_path):
    content = (HEAD + "one\n---\ntwo\n\\---\nthree\n").replace("\n", "\r\n")
    prompts = prompts_of(tmp_path, content.encode())
    assert len(prompts) == 2
    assert prompts[0] == "one"
    assert prompts[1].split() == ["two", "---", "three"]
    assert open_project(tmp_path).eval("x").metrics == {"speed": 1}


def test_a_byte_order_mark_is_no_part_of_an_eval(tmp_path):
    assert prompts_of(tmp_path, b"\xef\xbb\xbf" + HEAD.encode() + b"one") == ("one",)
    assert open_project(tmp_path).eval("x").metrics == {"speed": 1}
    assert prompts_of(tmp_path, b"\xef\xbb\xbfone") == ("one",)


def test_line_numbers_count_only_real_lines(tmp_path):
    put(tmp_path / "evals/x.md", HEAD + "a\x0cb\u2028c\n---\n")
    assert sentence_of(lambda: open_project(tmp_path).eval("x")).startswith(f"{tmp_path / 'evals/x.md'}:6: ")


def test_metrics_may_be_a_list_of_equals(tmp_path):
    put(tmp_path / "evals/x.md", "---\nmetrics: [speed, checks]\n---\nx")
    assert open_project(tmp_path).eval("x").metrics == {"speed": 1, "checks": 1}


def test_a_folder_without_eval_md_says_what_it_needs(tmp_path):
    (tmp_path / "evals/x").mkdir(parents=True)
    path = tmp_path / "evals/x/eval.md"
    assert sentence_of(lambda: open_project(tmp_path).eval("x")) == (
        f"{path}: an eval's folder needs an 'eval.md' with the prompt."
    )
    path.mkdir()
    assert sentence_of(lambda: open_project(tmp_path).eval("x")).startswith(f"{path}: ")


def test_a_folder_brings_a_workspace_hidden_checks_and_controls(project):
    project.agent(
        "mine", 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "ls -A > seen; cat given/a >> seen"]\n'
    )
    project.write("evals/x/eval.md", "---\nmetrics: {checks: 1}\nchecks: [{name: c, run: sh checks/c.sh}]\n---\nx")
    project.write("evals/x/workspace/given/a", "A\n")
    project.write("evals/x/checks/c.sh", "grep -q A seen && ! grep -q checks seen\n")
    project.write("evals/x/controls/good/seen", "A\n")
    project.write("evals/x/controls/bad/seen", "B\n")
    result = project.orvl("mine,dummy-good,dummy-bad", "--eval=x", "--json")
    assert result.status == 0, result.err
    assert {row["agent"]: row["R"] for row in result.json["ratings"]} == {"mine": 1, "dummy-good": 1, "dummy-bad": 0}
    assert project.orvl("show", "mine/x/1", "--file", "seen").out == ".git\ngiven\nseen\nA\n"


def test_a_part_of_an_evals_folder_that_is_a_file_is_refused(tmp_path):
    put(tmp_path / "evals/x/eval.md", HEAD + "x")
    path = put(tmp_path / "evals/x/workspace", "not a folder")
    assert str(path) in sentence_of(lambda: open_project(tmp_path).eval("x"))


def test_a_workspace_that_is_a_link_is_used_or_refused_but_not_a_traceback(project):
    project.write("elsewhere/a", "A")
    project.write("evals/x/eval.md", HEAD + "x")
    (project.root / "evals/x/workspace").symlink_to(project.root / "elsewhere")
    project.agent("mine", GOOD)
    result = project.orvl("mine", "--eval=x", "--json")
    assert "Traceback" not in result.err
    if result.status == 0:
        assert project.orvl("show", "mine/x/1", "--file", "a").out == "A"
    else:
        refused(result, str(project.root / "evals/x/workspace"))


def test_a_control_that_is_a_link_harms_nobody(tmp_path):
    put(tmp_path / "evals/x/eval.md", HEAD + "x")
    put(tmp_path / "elsewhere/a", "A")
    (tmp_path / "evals/x/controls").mkdir()
    (tmp_path / "evals/x/controls/good").symlink_to(tmp_path / "elsewhere")
    try:
        assert open_project(tmp_path).eval("x").prompts == ("x",)
    except UserError as error:
        assert str(tmp_path / "evals/x/controls/good") in str(error)


# -- scores

BAD_SCORES = {
    "neither": ("x = 1\n", 1, "'score(run)' or a checklist"),
    "an empty checklist": ("items = []\n", 1, "'score(run)' or a checklist"),
    "items a text": ("\nitems = 'Names are good.'\n", 2, "'items' must be a list of sentences"),
    "items of numbers": ("items = ['a', 1]\n", 1, "'items' must be a list of sentences"),
    "an empty item": ("items = ['a', ' ']\n", 1, "'items' must be a list of sentences"),
    "score a number": ("score = 1\n", 1, "'score' is 1; it must be a function"),
    "score asks too much": ("def score(rnu): return 1\n", 1, "Did you mean 'run'?"),
    "weight below zero": ("def score(): return 1\nweight = -1\n", 2, "'weight' is -1; it must be a number 0 or more."),
    "weight NaN": ("def score(): return 1\nweight = float('nan')\n", 2, "'weight' is nan"),
    "weight bool": ("def score(): return 1\nweight = True\n", 2, "'weight' is True"),
    "weight text": ("def score(): return 1\nweight = '1'\n", 2, "'weight' is '1'"),
    "weight huge": ("def score(): return 1\nweight = 10**400\n", 2, "'weight' is"),
    "par of 0": ("def score(): return 1\npar = 0\n", 2, "'par' is 0; it must be a number above 0."),
    "weight wrong, with a BOM": (b"\xef\xbb\xbfweight = -1\ndef score(): return 1\n", 1, "'weight' is -1"),
    "syntax": ("def score(run)\n", 1, "expected ':'"),
    "exit": ("raise SystemExit\n", 1, "SystemExit"),
}


@pytest.mark.parametrize("case", BAD_SCORES)
def test_a_mistake_in_a_score_is_one_sentence_with_its_place(tmp_path, case):
    content, line, words = BAD_SCORES[case]
    path = put(tmp_path / "scores/x.py", content)
    sentence = sentence_of(lambda: open_project(tmp_path).metric("x"))
    assert sentence.startswith(f"{path}:{line}: "), sentence
    assert words in sentence


def test_a_mistake_in_a_score_ends_the_call_with_2(project):
    path = project.score("mine", "def score(run): return 1\nweight = -1\n")
    project.eval("e", "---\nmetrics: {mine: 1}\n---\nx")
    refused(project.orvl("empty", "--eval=e"), f"{path}:2: ")


def test_a_score_is_a_checklist_or_a_function(tmp_path):
    put(tmp_path / "scores/listed.py", '"""Is it good?\n\nMore."""\nitems = ("It is good.",)\n')
    put(tmp_path / "scores/plain.py", "def score(run): return 1\n")
    put(tmp_path / "scores/asked.py", "weight = 0\nasync def score(run, judge): return None\n")
    project = open_project(tmp_path)
    assert [project.metric(name).judged for name in ("listed", "plain", "asked")] == [True, False, True]
    assert [project.metric(name).weight for name in ("listed", "plain", "asked")] == [1, 1, 0]
    assert project.metric("listed").description == "Is it good?"


# -- orvl.toml

BAD_SETTINGS = {
    "penalty infinite": ("penalty = inf\n", 1, "'penalty' is inf"),
    "penalty below zero": ("penalty = -0.1\n", 1, "'penalty' is -0.1"),
    "penalty NaN": ("penalty = nan\n", 1, "'penalty' is nan"),
    "penalty a text": ("penalty = 'much'\n", 1, "'penalty' is 'much'"),
    "penalty a number in quotes": ("penalty = '0.3'\n", 1, "'penalty' is '0.3'"),
    "penalty bool": ("penalty = false\n", 1, "'penalty' is False"),
    "unknown key": ("\npenality = 0.5\n", 2, "orvl.toml has no 'penality'. Did you mean 'penalty'?"),
    "unknown table": ("[judge.a]\nweight = 1\n", 1, "Did you mean 'judges'?"),
    "unknown key of a judge": ("[judges.a]\nmodel = 'fixed'\nwieght = 1\n", 3, "Did you mean 'weight'?"),
    "unknown key of a provider": ("[providers.zen]\nbase-url = 'x'\n", 2, "Did you mean 'base_url'?"),
    "unknown key of an agent": ("[agents.a]\nmodel = {}\n", 2, "Did you mean 'models'?"),
    "unknown limit": ("episodes = 1\n[limits]\ngrce = 3\n", 3, "Did you mean 'grace'?"),
    "judges a list": ("judges = ['a']\n", 1, "'judges' is ['a']"),
    "a judge that is a text": ("[judges]\na = 'gpt'\n", 2, "'judges.a' is 'gpt'"),
    "judge weight below zero": ("[judges.a]\nweight = -1\n", 2, "'judges.a.weight' is -1"),
    "judge weight bool": ("[judges.a]\nweight = true\n", 2, "'judges.a.weight' is True"),
    "judge weight text": ("[judges.a]\nweight = '2'\n", 2, "'judges.a.weight' is '2'"),
    "judge weight infinite": ("[judges.a]\nweight = inf\n", 2, "'judges.a.weight' is inf"),
    "metric weight below zero": ("[metrics]\nspeed = -1\n", 2, "'metrics.speed' is -1"),
    "metric weight bool": ("[metrics]\nspeed = true\n", 2, "'metrics.speed' is True"),
    "metric weight NaN": ("[metrics]\nspeed = nan\n", 2, "'metrics.speed' is nan"),
    "episodes of 0": ("episodes = 0\n", 1, "'episodes' is 0"),
    "episodes of 1.5": ("episodes = 1.5\n", 1, "'episodes' is 1.5"),
    "episodes bool": ("episodes = true\n", 1, "'episodes' is True"),
    "episodes text": ("episodes = '3'\n", 1, "'episodes' is '3'"),
    "models a text": ("[agents.a.models]\nzen = 'm'\n", 2, "agents.a.models.zen"),
    "models of numbers": ("[agents.a.models]\nzen = [1]\n", 2, "agents.a.models.zen"),
    "free a text": ("[providers.zen]\nfree = 'yes'\n", 2, "'providers.zen.free' is 'yes'"),
    "limit of 0": ("[limits]\nturn = 0\n", 2, "'limits.turn' is 0"),
    "engine": ("engine = 'ray'\n", 1, "'engine' is 'ray'"),
    "TOML": ("penalty = 0.5\nepisodes = = 3\n", 2, "Invalid value"),
    "TOML that ends too soon": ("penalty = 0.5\n[judges.a", 2, "table"),
    "a key twice": ("penalty = 0.5\npenalty = 0.4\n", 2, "overwrite"),
    "not UTF-8": (b"penalty = 0.5\n# \xff\n", 2, "UTF-8"),
}


@pytest.mark.parametrize("case", BAD_SETTINGS)
def test_a_mistake_in_orvl_toml_is_one_sentence_with_its_place(tmp_path, case):
    content, line, words = BAD_SETTINGS[case]
    path = put(tmp_path / "orvl.toml", content)
    sentence = sentence_of(lambda: open_project(tmp_path).settings)
    assert sentence.startswith(f"{path}:{line}: "), sentence
    assert words in sentence


def test_a_mistake_in_orvl_toml_ends_every_call_with_2(project):
    path = project.toml("penalty = -0.7\n")
    for words in (["empty", "--eval=hello-world"], ["list", "--json"]):
        refused(project.orvl(*words), f"{path}:1: 'penalty' is -0.7")


def test_any_penalty_from_0_up_is_accepted(tmp_path):
    put(tmp_path / "orvl.toml", "penalty = 2.5\n")
    assert open_project(tmp_path).settings.penalty == 2.5


def test_orvl_toml_may_have_windows_line_ends_or_a_byte_order_mark(tmp_path):
    put(tmp_path / "orvl.toml", "penalty = 0.25\r\n[limits]\r\nturn = 3\r\n")
    assert open_project(tmp_path).settings.limits.turn == 3
    put(tmp_path / "orvl.toml", b"\xef\xbb\xbfpenalty = 0.25\n")
    assert open_project(tmp_path).settings.penalty == 0.25


def test_a_folder_named_orvl_toml_is_a_sentence(tmp_path):
    (tmp_path / "orvl.toml").mkdir()
    assert sentence_of(lambda: open_project(tmp_path).settings).startswith(f"{tmp_path / 'orvl.toml'}: ")


def test_a_metric_of_orvl_toml_that_is_not_there_has_its_line(tmp_path):
    path = put(tmp_path / "orvl.toml", "penalty = 0.5\n[metrics]\nsped = 1\n")
    put(tmp_path / "evals/e.md", "x")
    project = open_project(tmp_path)
    sentence = sentence_of(lambda: panel_of(project, project.eval("e"), None, ()))
    assert sentence.startswith(f"{path}:3: ")
    assert "Did you mean 'speed'?" in sentence


def test_metrics_of_orvl_toml_that_all_weigh_nothing_are_refused(tmp_path):
    path = put(tmp_path / "orvl.toml", "[metrics]\nspeed = 0\nchecks = 0\n")
    put(tmp_path / "evals/e.md", "x")
    project = open_project(tmp_path)
    assert str(path) in sentence_of(lambda: panel_of(project, project.eval("e"), None, ()))


def test_an_agent_of_orvl_toml_that_is_not_there_is_refused(project):
    """A misspelt table would silently add no models."""
    path = project.toml('[agents.mien.models]\nzen = ["new"]\n')
    project.agent("mine", GOOD)
    project.eval("e", HEAD + "x")
    refused(project.orvl("mine", "--eval=e", "--dry-run"), f"{path}:1: ", "Did you mean 'mine'?")


def test_an_agent_of_orvl_toml_may_be_written_as_its_file(tmp_path):
    put(tmp_path / "orvl.toml", '[agents.my_agent.models]\nzen = ["new"]\n')
    put(tmp_path / "agents/my_agent.py", GOOD)
    assert open_project(tmp_path).agent("my-agent").models == {"none": {"m": "m"}, "zen": {"new": "new"}}


def test_orvl_toml_adds_models_to_an_agents_file(tmp_path):
    put(tmp_path / "orvl.toml", '[agents.x.models]\nnone = ["n"]\nopenrouter = {q = "qwen/q"}\n')
    put(tmp_path / "agents/x.py", GOOD)
    put(tmp_path / "agents/y.py", "def command(): return 'true'\n")
    project = open_project(tmp_path)
    assert project.agent("x").models == {"none": {"m": "m", "n": "n"}, "openrouter": {"q": "qwen/q"}}
    assert "needs 'models'" in sentence_of(lambda: project.agent("y"))


def test_an_empty_model_in_orvl_toml_is_refused(tmp_path):
    path = put(tmp_path / "orvl.toml", '[agents.x.models]\nzen = [""]\n')
    put(tmp_path / "agents/x.py", GOOD)
    assert sentence_of(lambda: open_project(tmp_path).agent("x")).startswith(f"{path}:2: ")


def test_a_judge_that_cannot_be_had_is_told_with_its_line(tmp_path):
    path = put(tmp_path / "orvl.toml", "[judges.a]\nweight = 1\n[judges.b]\nmodel = 'gpt-5'\n")
    sentence = sentence_of(lambda: open_project(tmp_path).panel())
    assert sentence.startswith((f"{path}:4: ", f"{path}:3: "))
    assert "'b'" in sentence


def test_a_judge_that_is_not_there_is_refused_with_the_closest(project):
    project.toml("[judges.strict]\nanswers = 'no'\n")
    project.eval("e", HEAD + "x")
    refused(project.orvl("empty", "--eval=e", "--judge=stritc"), "There is no judge 'stritc'. Did you mean 'strict'?")


def test_judges_that_all_weigh_nothing_are_refused(project):
    project.toml("[judges.a]\nweight = 0\n[judges.b]\nweight = 0\n")
    project.eval("e", HEAD + "x")
    refused(project.orvl("empty", "--eval=e"), "weight 0", "orvl.toml")


# -- built-in ones, and packages


def test_a_project_may_put_its_own_in_place_of_a_built_in(project):
    project.agent("dummy_good", '"""Mine."""\n' + GOOD)
    project.score("speed", "def score(run): return 0.125\n")
    project.eval("hello-world", HEAD + "x")
    listed = project.orvl("list", "--json").json
    for kind, name in (("agents", "dummy-good"), ("metrics", "speed"), ("evals", "hello-world")):
        assert [row["from"] for row in listed[kind] if row["name"] == name] == ["project"]
    result = project.orvl("dummy-good", "--eval=hello-world", "--json")
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["R"] == 0.125


@pytest.fixture
def package(project):
    """Makes a package that an installer would have put on the path."""

    def make(name: str, points: str, files: dict[str, str]) -> dict[str, str]:
        site = project.root.parent / "site"
        put(site / f"{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        put(site / f"{name}-1.0.dist-info/entry_points.txt", points)
        for path, text in files.items():
            put(site / path, text)
        return {"PYTHONPATH": str(site)}

    return make


PACKED = {
    "acme/__init__.py": "raise RuntimeError('a package is only found, never imported')\n",
    "acme/agents/packed.py": GOOD,
    "acme/agents/empty.py": '"""Packed."""\n' + GOOD,
    "acme/evals/packed.md": HEAD + "x",
    "acme/scores/packed.py": "def score(run): return 1\n",
}


def test_a_package_brings_agents_evals_and_scores(project, package):
    env = package("acme", "[orvl]\nacme = acme\n", PACKED)
    result = project.orvl("packed", "--eval=packed", "--metric=packed", "--json", env=env)
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["R"] == 1
    origins = {row["name"]: row["from"] for row in project.orvl("list", "agents", "--json", env=env).json["agents"]}
    assert origins["packed"] == origins["empty"] == "package acme"
    project.agent("packed", GOOD)
    origins = {row["name"]: row["from"] for row in project.orvl("list", "agents", "--json", env=env).json["agents"]}
    assert origins["packed"] == "project"


def test_two_packages_with_one_name_are_refused(project, package):
    package("acme", "[orvl]\nacme = acme\n", PACKED)
    other = {path.replace("acme", "other"): text for path, text in PACKED.items()}
    env = package("other", "[orvl]\nother = other\n", other)
    refused(project.orvl("list", env=env), "Two packages have agents named")


@pytest.mark.parametrize("value", ["gone", "gone.deep", "acme.gone", "acme:thing", "single"])
def test_an_entry_point_that_leads_nowhere_is_told(project, package, value):
    env = package("acme", f"[orvl]\nacme = {value}\n", {"acme/__init__.py": "", "single.py": ""})
    refused(project.orvl("list", env=env), value.split(":")[0], "acme")


def test_an_entry_point_whose_package_breaks_is_a_sentence(project, package):
    env = package("acme", "[orvl]\nacme = acme.inner\n", {**PACKED, "acme/inner/__init__.py": ""})
    refused(project.orvl("list", env=env), "acme.inner")


def test_a_mistake_in_a_package_has_its_place(project, package):
    env = package("acme", "[orvl]\nacme = acme\n", {**PACKED, "acme/agents/packed.py": "models = 3\n" + GOOD[25:]})
    refused(project.orvl("packed", "--eval=packed", env=env), "acme/agents/packed.py:1: ")


JUDGED = {
    "scope",
    *("functionality", "ui", "ux", "readability", "code-quality", "missing-cases", "bugs", "adherence"),
}


def test_the_built_in_ones_load(tmp_path):
    project = open_project(tmp_path)
    assert {"dummy-good", "dummy-bad", "empty"} <= set(project.agent_files)
    assert {"hello-world", "todo-cli", "fix-slugs", "kitchen-converter"} <= set(project.eval_files)
    for name in project.agent_files:
        agent = project.agent(name)
        is_control = agent.control is not None
        assert (agent.models == {"none": {"fixed": "fixed"}}) == is_control, name
        assert is_control or (agent.protocols and agent.install and agent.version)
    for name in project.eval_files:
        one = project.eval(name)
        assert len(one.prompts) >= 2
        assert {"good", "bad"} <= set(one.control_digests)
    for name in project.metric_files:
        metric = project.metric(name)
        assert metric.judged == (name in JUDGED), name
        assert bool(metric.items) == (name in JUDGED - {"adherence"}), name


def test_list_shows_what_there_is_and_what_is_wrong(project):
    project.agent("mine", '"""My agent."""\n' + GOOD)
    project.toml("[judges.a]\nweight = 2\n")
    bad = project.write("evals/bad.md", "")
    result = project.orvl("list", "--json")
    assert result.status == 0
    listed = result.json
    assert {"name": "mine", "from": "project", "models": {"none": ["m"]}, "description": "My agent."} in listed[
        "agents"
    ]
    assert {"name": "m", "providers": ["none"], "agents": ["mine"]} in listed["models"]
    assert listed["judges"] == [{"name": "a", "model": "fixed", "provider": "none", "weight": 2}]
    assert [row["error"].startswith(f"{bad}:1: ") for row in listed["evals"] if row["name"] == "bad"] == [True]
    text = project.orvl("list").out
    assert "My agent." in text
    assert "the eval has no prompt" in " ".join(text.split())


def test_what_init_makes_can_be_run(project):
    shutil.rmtree(project.root)
    assert project.orvl("init", str(project.root), cwd=project.root.parent).status == 0
    result = project.orvl("my-agent", "--eval=greeting", "--json")
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["metrics"]["answered"]["mean"] == 1
    assert project.orvl("doctor").status == 0


def test_no_module_of_a_user_is_loaded_twice(project):
    project.agent(
        "mine", "import pathlib\nwith open(pathlib.Path(__file__).with_suffix('.log'), 'a') as f: f.write('x')\n" + GOOD
    )
    project.eval("e", HEAD + "x")
    assert project.orvl("mine", "--eval=e", "--episodes=2").status == 0
    assert (project.root / "agents/mine.log").read_text() == "x"


def test_loading_a_project_leaves_the_path_to_modules_usable(tmp_path):
    before = list(sys.path)
    put(tmp_path / "agents/x.py", GOOD)
    with pytest.raises(FileError):
        put(tmp_path / "agents/y.py", "1 / 0")
        open_project(tmp_path).agent("y")
    assert sys.path[: len(before)] == before
    assert sys.dont_write_bytecode == bool(sys.flags.dont_write_bytecode)


def test_a_folder_that_groups_evals_is_their_family_unless_they_name_another(tmp_path):
    put(tmp_path / "evals/slugs/ascii.md", HEAD + "Do it.\n")
    put(tmp_path / "evals/slugs/unicode/eval.md", HEAD + "Do it.\n")
    put(tmp_path / "evals/slugs/readme.md", "About these.\n")
    put(tmp_path / "evals/slugs/other.md", "---\nfamily: mine\n---\nDo it.\n")
    put(tmp_path / "evals/alone.md", HEAD + "Do it.\n")
    put(tmp_path / "evals/wrong/prompt.md", "Do it.\n")
    put(tmp_path / "evals/wrong/workspace/a.txt", "a")
    project = open_project(tmp_path)
    names = {name for name, file in project.eval_files.items() if file.origin == "project"}
    assert names == {"ascii", "unicode", "other", "alone", "wrong"}
    families = {name: project.eval(name).family for name in names - {"wrong"}}
    assert families == {"ascii": "slugs", "unicode": "slugs", "other": "mine", "alone": ""}
    assert "needs an 'eval.md'" in sentence_of(lambda: project.eval("wrong")), "a part of an eval is no eval"
    before = project.eval("alone")
    put(tmp_path / "evals/alone.md", "---\nmetrics: {speed: 1}\nfamily: mine\n---\nDo it.\n")
    after = open_project(tmp_path).eval("alone")
    assert after.family == "mine"
    assert (after.digest, after.scoring_digest) == (before.digest, before.scoring_digest), (
        "no run is another one for it"
    )
    put(tmp_path / "evals/more/ascii.md", HEAD + "Do it.\n")
    assert "Two evals are named 'ascii'" in sentence_of(lambda: open_project(tmp_path).eval_files)
