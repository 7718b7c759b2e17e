"""What the docs show is true: every file example loads, every example of Python gives what it says."""

from __future__ import annotations

import doctest
import json
import os
import re
from pathlib import Path

import pytest

from orvl.cli import COMMANDS
from orvl.project import open_project
from orvl.project.settings import Limits, schema

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FILE = re.compile(r"^```\w+ (\S+/?\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [(page, name, text) for page in PAGES for name, text in FILE.findall(page.read_text())]


@pytest.mark.parametrize(("page", "name", "text"), EXAMPLES, ids=[f"{page.name}:{name}" for page, name, _ in EXAMPLES])
def test_file_examples_load(project, page, name, text):
    file = project.write(name, text)
    kind, own, *rest = Path(name).parts if "/" in name else (name, name)
    for _, other, body in EXAMPLES:
        if other.startswith(("scores/", f"{kind}/{own}/")):
            project.write(other, body)
    opened = open_project(project.root)
    if name == "orvl.toml":
        assert opened.settings
        assert opened.panel()
        return
    load = {"agents": opened.agent, "evals": opened.eval, "scores": opened.metric}[kind]
    loaded = load(Path(own).stem.replace("_", "-"))
    assert loaded.path == (file.parents[len(rest) - 1] / "eval.md" if rest else file)


@pytest.mark.parametrize(
    ("program", "passed"),
    [
        ("import sys\nsys.argv[1] or sys.exit(2)\nprint(f'Hello, {sys.argv[1]}!')", [True, True]),
        ("import sys\nprint(f'Hello, {sys.argv[1]}!')", [True, False]),
        ("print('Hello, Grace!')", [False, False]),
        ("raise SystemExit(2)", [False, False]),
        ("", [False, False]),
    ],
)
def test_the_isolated_example_tells_good_work_from_bad(project, program, passed):
    for _, name, body in EXAMPLES:
        if name.startswith("evals/greet/"):
            project.write(name, body)
    project.write("evals/greet/controls/good/greet.py", program)
    project.orvl("dummy-good", "--eval=greet")
    checks = project.orvl("show", "dummy-good/greet/1", "--json").json["attempts"][0]["checks"]
    assert [check["passed"] for check in checks] == passed, checks
    assert {check["isolation"] for check in checks} == {"separate"}


HELP_PAGE = """# The help of each command

What `--help` says, as it is. [The command line](command-line.md) has all commands on one page, with the exit status.
"""


def test_there_are_examples():
    assert len(EXAMPLES) > 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_sessions_and_links(page):
    text = page.read_text()
    if page.name != "python.md":  # which tests/cli/test_library.py runs in a project of its own
        session = doctest.DocTestParser().get_doctest(text.replace("```", "\n"), {}, page.name, str(page), 0)
        assert not doctest.DocTestRunner().run(session).failed
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", text):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_listed():
    index = (ROOT / "docs" / "index.md").read_text()
    assert all(page.name in index for page in PAGES if page.parent == ROOT / "docs" and page.name != "index.md")


def test_the_command_line_page_names_every_flag_and_command(project):
    page = (ROOT / "docs" / "command-line.md").read_text()
    flags = set(re.findall(r"--[a-z-]+", project.orvl("run", "--help").out))
    assert flags - set(re.findall(r"--[a-z-]+", page)) <= {"--help"}
    assert all(f"orvl {name}" in page for name in COMMANDS if name != "run")
    assert len(flags) <= 27, "the run command has too many flags"


def test_every_commands_help_is_in_the_docs(project):
    """To write it again: ORVL_DRAW=1 .venv/bin/python -m pytest -n 1 tests/unit/test_docs.py."""
    page = ROOT / "docs" / "help.md"
    calls = [[], *([name] for name in COMMANDS), *(["export", kind] for kind in ("runs", "scores", "atif", "harbor"))]
    calls += [
        *(["import", kind] for kind in ("results", "harbor", "polyglot")),
        *(["new", kind] for kind in ("eval", "agent", "score")),
    ]
    text = HELP_PAGE
    for words in calls:
        told = project.orvl(*words, "--help", env={"COLUMNS": "100"})
        assert told.status == 0, told.err
        text += f"\n## {' '.join(['orvl', *words])}\n\n```text\n{told.out.rstrip()}\n```\n"
    if os.environ.get("ORVL_DRAW"):
        page.write_text(text)
    assert page.read_text() == text


def test_the_json_page_has_the_real_keys(project):
    shown = json.loads(re.search(r"```json\n(.*?)```", (ROOT / "docs" / "json.md").read_text(), re.DOTALL)[1])
    real = project.orvl("empty", "fixed", "none", "hello-world", "--json").json

    def keys(value):
        return (
            {key: keys(one) for key, one in value.items() if key not in ("metrics", "judges")}
            if isinstance(value, dict)
            else None
        )

    assert shown.keys() == real.keys()
    assert keys(shown["ratings"][0]) == keys(real["ratings"][0])
    metrics, real_metrics = shown["ratings"][0]["metrics"], real["ratings"][0]["metrics"]
    assert metrics["readability"].keys() == real_metrics["checks"].keys()
    assert metrics["speed"].keys() == real_metrics["speed"].keys()


def test_the_limits_in_the_docs_are_the_defaults():
    page = (ROOT / "docs" / "runs.md").read_text()
    defaults = Limits()
    for name in Limits.__dataclass_fields__:
        if name not in ("grace", "kept_output"):
            assert f"`{name}`" in page
            assert f"{getattr(defaults, name):,}" in page or f"{getattr(defaults, name):g}" in page


def test_every_setting_has_a_sentence_for_editors():
    shape = schema()
    for part in [shape, *shape["$defs"].values()]:
        for name, field in part.get("properties", {}).items():
            assert field.get("description"), f"{name} has no sentence"


def test_the_readmes_session_is_real(project):
    readme = (ROOT / "README.md").read_text()
    made = project.orvl("init", "try")
    for line in made.out.splitlines():
        assert line in readme
    ran = project.orvl("my-agent", "fixed", "none", "greeting", cwd=project.root / "try")
    assert ran.status == 0, ran.err
    for start in (" my-agent fixed none", " agent model provider  eval"):
        row = next(line for line in ran.out.splitlines() if line.startswith(start))
        shown = next(line for line in readme.splitlines() if line.startswith(start))
        assert re.sub(r"\d+\.\d+", "#", row).split() == re.sub(r"\d+\.\d+", "#", shown).split()


def test_the_suite_is_described_as_it_is():
    """Every shipped eval has a row: its name, its tier where the table names one, and its turns."""
    project = open_project(ROOT / "tests/fixtures")
    shipped = {name: project.eval(name) for name, file in project.eval_files.items()}
    parts = re.split(r"^## (\w+)", (ROOT / "docs/suite.md").read_text(), flags=re.MULTILINE)
    rows = [
        (name, said if said in ("smoke", "basics") else heading.lower(), int(turns))
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
        for name, said, turns in re.findall(r"^\| `([\w-]+)` \| ([^|]+) \| (\d+) \|", text, re.MULTILINE)
    ]
    assert sorted(name for name, _, _ in rows) == sorted(shipped)
    assert {name: turns for name, _, turns in rows} == {name: len(one.prompts) for name, one in shipped.items()}
    tiers = {name: tier for name, tier, _ in rows}
    assert tiers == {name: one.tier for name, one in shipped.items()}
