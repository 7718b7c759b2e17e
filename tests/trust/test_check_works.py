"""What the gate lays down: cheats in every language, mutants of every kind, traps, and the inputs that it hears of."""

from __future__ import annotations

import ast
import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest

import orvl
from helpers.gate_evals import write_eval, write_mini
from orvl.errors import FileError
from orvl.project import Project
from orvl.trust.mutate.lines import line_candidates
from orvl.trust.mutate.source import ControlSource
from orvl.trust.mutate.syntax import apply
from orvl.trust.vetting.bench import Exchange
from orvl.trust.vetting.cheats import generic_cheats
from orvl.trust.vetting.cheats.scene import Scene
from orvl.trust.vetting.check_code import CheckCode
from orvl.trust.vetting.episodes import in_episode
from orvl.trust.vetting.inputs import inputs_of
from orvl.trust.vetting.mutants import excused, mutants
from orvl.trust.vetting.needed_words import NeededWords
from orvl.trust.vetting.t12_helpers_only import trapped
from orvl.trust.vetting.vet import gate_tests

BUILT_IN = sorted(path.parent.name for path in (Path(orvl.__file__).parent / "evals").glob("*/eval.md"))


def source(root: Path, name: str) -> ControlSource:
    return ControlSource(in_episode(Project(root).eval(name), 1))


def test_the_gate_has_seventeen_tests_in_order():
    assert [test.number for test in gate_tests()] == list(range(1, 18))
    assert len({test.name for test in gate_tests()}) == 17


# -- cheats


@pytest.mark.parametrize("name", BUILT_IN)
def test_cheats_are_programs_that_run(name, tmp_path):
    found = generic_cheats(Scene(source(tmp_path, name)))
    assert len({cheat.name for cheat in found}) == len(found) >= 10
    for cheat in found:
        assert cheat.files or cheat.links or cheat.command or cheat.name == "edited-tests-and-settings", cheat.name
        for path, text in cheat.files.items():
            if path.endswith(".py"):
                ast.parse(text)
            if path.endswith((".js", ".cjs")) and shutil.which("node"):
                place = tmp_path / path.replace("/", "_")
                place.write_text(text)
                subprocess.run(["node", "--check", place], check=True)


def test_every_kind_of_cheat_is_there(tmp_path):
    names = {cheat.name for cheat in generic_cheats(Scene(source(tmp_path, "fix-slugs")))}
    assert names >= {
        *("forged-test-output", "early-exit", "hooks-of-interpreters", "shadowed-modules", "shadowed-programs"),
        *("hard-coded-examples", "edited-tests-and-settings", "a-process-left-behind", "links-to-checks", "dead-words"),
    }


def test_the_prompts_examples_are_known_by_heart(tmp_path):
    """The cheat does answer as the prompts do: else it would be no test of checks that use the same examples."""
    by_heart = next(
        c for c in generic_cheats(Scene(source(tmp_path, "hello-world"))) if c.name == "hard-coded-examples"
    )
    (tmp_path / "hello.py").write_text(by_heart.files["hello.py"])
    done = subprocess.run(["python3", "hello.py", "Ada"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "Hello, Ada!\n"


# -- mutants


@pytest.mark.parametrize("name", BUILT_IN)
def test_mutants_are_single_changes_of_what_good_work_adds(name, tmp_path):
    made = source(tmp_path, name)
    found = mutants(made)
    assert found == mutants(made)
    assert len({(path, content) for _, path, content in found}) == len(found) >= 7
    for _, path, content in found:
        before, after = made.good.files[path].split(b"\n"), content.split(b"\n")
        changed = [line for line, other in zip(before, after, strict=False) if line != other]
        assert len(before) == len(after) and len(changed) == 1
        assert changed[0] not in made.workspace.get(path, b"").split(b"\n")


def test_mutants_of_languages_that_are_not_parsed():
    script = b'#!/bin/sh\n# if [ 1 -eq 2 ]\nif [ "$n" -lt 10 ] && true; then\n  echo "a == b" >&2\nfi\n'
    bugs = line_candidates("tool.sh", script)
    changed = {apply(script, [bug.edit]).split(b"\n")[bug.line - 1] for bug in bugs}
    assert changed == {
        b'if [ "$n" -ge 10 ] && true; then',
        b'if [ "$n" -lt 10 ] || true; then',
        b'if [ "$n" -lt 10 ] && false; then',
        b'if [ "$n" -lt 11 ] && true; then',
    }
    assert line_candidates("notes.md", script) == []


def test_excuses_name_a_mutant_and_a_reason(project):
    write_mini(
        project, controls__bugs__excused_dot_txt="# none of these matters\nsay.py:3 off-by-one: nobody sees it\n"
    )
    assert excused(source(project.root, "word")) == {"say.py:3 off-by-one": "nobody sees it"}
    write_mini(project, controls__bugs__excused_dot_txt="say.py is fine\n")
    with pytest.raises(FileError, match=r"excused\.txt:1: an excuse is"):
        excused(source(project.root, "word"))


# -- traps


def test_a_trap_comes_after_what_must_be_first():
    files = {
        "a.py": b'"""Doc."""\nfrom __future__ import annotations\nimport os\n',
        "b.js": b"'use strict';\nlet x = 1;\n",
        "c.sh": b"#!/bin/sh\necho hi\n",
        "d.md": b"text\n",
        "broken.py": b"def (\n",
    }
    found = trapped(files)
    assert sorted(found) == ["a.py", "b.js", "c.sh"]
    assert found["a.py"].startswith(b'"""Doc."""\nfrom __future__ import annotations\nimport os as _os\n')
    assert found["c.sh"].startswith(b"#!/bin/sh\nif [ -n")
    compile(found["a.py"], "a.py", "exec")


# -- what is heard


def heard(do: str, answer: dict | None = None, **request) -> Exchange:
    for name in ("input", "content"):
        if name in request:
            request[name] = base64.b64encode(request[name].encode()).decode()
    told = {
        key: base64.b64encode(value.encode()).decode() if isinstance(value, str) else value
        for key, value in (answer or {}).items()
    }
    return Exchange({"do": do, **request}, told)


@pytest.mark.parametrize(
    ("exchange", "inputs"),
    [
        (heard("run", argv=["python3", "-I", "tool.py", "add", "x y"]), {("add", "x y")}),
        (heard("run", argv=["python3", "-X", "utf8", "-c", "import this", "word"]), {("word",)}),
        (heard("run", argv=["./tool"]), set()),
        (heard("run", argv=["node", "a.js"], input='[["a", 1], ["b", null]]'), {("a", "1"), ("b",)}),
        (heard("run", argv=["./tool"], input="plain"), {("plain",)}),
        (heard("write", path="a.csv", content="x,y"), {("x,y",)}),
        (heard("browse", steps=["open /", "type 3.5 into #amount", "click Add"]), {("3.5",)}),
        (
            heard("connect", sent=b'POST /shifts HTTP/1.1\r\nHost: x\r\n\r\n{"who": "Ann", "n": 3}'),
            {("/shifts", "Ann", "3")},
        ),
    ],
)
def test_inputs_are_what_a_check_puts_in(exchange, inputs):
    assert inputs_of([exchange]) == inputs


def test_words_are_needed_if_the_check_says_them_and_they_pass_between_the_two():
    code = CheckCode(
        {
            "check.py": b'"""Doc of it."""\nimport x\nA = ["--due", "Added", "id", "Milk", "sent"]\nassert status == 4, "never said"\n'
        }
    )
    exchanges = [
        heard(
            "run",
            {"status": 4, "stdout": "Added Milk to the rest"},
            argv=["python3", "todo.py", "Milk", "--due", "--other"],
        ),
        heard("read", {"content": json.dumps({"id": 1, "text": "Milk"})}, path="todo.json"),
    ]
    assert NeededWords(code, exchanges).words() == {"--due", "Added", "id", "4"}
