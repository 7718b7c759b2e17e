"""Evals as Harbor tasks: imported ones as they were, others so that they need no orvl and mean the same."""

from __future__ import annotations

import json
import tomllib

import pytest

from helpers.harbor_tasks import contents, single, with_steps, write

CHECK = """
from orvl import checks
checks.write("given.txt", "3\\n1\\n2\\n")
good = checks.run("python3", "sort.py", "given.txt").stdout == "1\\n2\\n3\\n"
checks.fresh()
cases = [good, checks.read("given.txt") is None, "sort.py" in checks.files(), checks.run("sh", "-c", "exit 3").status == 3]
checks.grade(sum(cases), len(cases))
"""
SERVED = """
from orvl import checks
checks.start("python3", "-m", "http.server", "8123", "--bind", "127.0.0.1")
connection = checks.connect(8123)
connection.sendall(b"GET /sort.py HTTP/1.0\\r\\n\\r\\n")
assert b"200 OK" in connection.recv(100)
checks.stop()
"""
EVAL = """
---
description: Sorting, then "more".
tier: mine
limits: {turn: 77}
checks:
  - {name: kept, run: test -f notes.md, keep: true}
  - {name: sorts, run: python3 checks/sorts.py, isolated: true, turn: 1, weight: 2}
  - {name: served, run: python3 checks/served.py, isolated: true}
  - {name: shell, run: 'subject run test -f done.txt && [ -z "$(subject read none)" ]', isolated: true}
  - {name: beside, run: test -f checks/sorts.py && grep -q yes done.txt}
---
Write sort.py.
---
And done.txt, with a yes.
"""
SORT = "import sys\nprint(*sorted(open(sys.argv[1]).read().split()), sep='\\n')\n"


def export(project, *words: str, status: int = 0):
    result = project.orvl("export", "harbor", *words)
    assert result.status == status, result.err
    return result


@pytest.fixture
def own(project):
    project.toml("[metrics]\nchecks = 1\n")
    project.write("evals/own/eval.md", EVAL)
    project.write("evals/own/workspace/notes.md", "n\n")
    project.write("evals/own/workspace/__pycache__/x.pyc", "x\n")
    project.write("evals/own/checks/sorts.py", CHECK)
    project.write("evals/own/checks/served.py", SERVED)
    project.write("evals/own/controls/good/sort.py", SORT)
    project.write("evals/own/controls/good/done.txt", "yes\n")
    return project


@pytest.mark.parametrize("make", [single, with_steps])
def test_an_imported_task_is_given_back_byte_for_byte(project, tmp_path, make):
    folder = make(tmp_path / "task")
    (folder / "environment/empty").mkdir()
    (folder / "environment/link.txt").symlink_to("Dockerfile")
    (folder / "tests/odd.bin").write_bytes(bytes(range(256)))
    write(folder, {"windows.txt": "a\r\nb\r\n", "environment/__pycache__/x": "kept\n", ".hidden": "too\n"})
    project.orvl("import", "harbor", str(folder), "--name", "task")
    project.orvl("empty", "--eval=task")
    assert "task: written to out/task, as it was imported." in export(project, "task", "--to", "out").out
    assert contents(project.root / "out/task") == contents(folder)


@pytest.mark.parametrize("what", ["eval.md", "source/task.toml", "checks/verifier/more.txt", "imported.json"])
def test_an_imported_task_that_was_changed_is_not_given_back(project, tmp_path, what):
    project.orvl("import", "harbor", str(single(tmp_path / "task")))
    path = project.root / "evals/task" / what
    path.write_text((path.read_text() if path.exists() else "") + "\n# changed\n")
    words = "is missing or broken; import it again" if what == "imported.json" else "changed since it was imported"
    assert words in export(project, "task", "--to", "out", status=1).err
    assert list((project.root / "out").iterdir()) == []


def test_an_eval_becomes_a_task_with_a_step_for_each_turn(own):
    export(own, "own", "--to", "out")
    folder = own.root / "out/own"
    config = tomllib.loads((folder / "task.toml").read_text())
    assert config["task"] == {"name": "orvl/own", "description": 'Sorting, then "more".'}
    assert [step["name"] for step in config["steps"]] == ["turn-1", "turn-2"]
    assert config["agent"]["timeout_sec"] == 77
    assert (folder / "steps/turn-2/instruction.md").read_text() == "And done.txt, with a yes.\n"
    due = [json.loads((folder / f"steps/turn-{turn}/tests/checks.json").read_text())["checks"] for turn in (1, 2)]
    assert [[check["name"] for check in checks] for checks in due] == [
        ["kept", "sorts"],
        ["kept", "sorts", "served", "shell", "beside"],
    ]
    names = contents(folder)
    assert "environment/workspace/notes.md" in names and not [name for name in names if "__pycache__" in name]
    assert names["tests/test.sh"][2] and names["steps/turn-1/solution/solve.sh"][2]
    assert "FROM debian:bookworm\n" in (folder / "environment/Dockerfile").read_text()


def test_a_task_that_was_an_eval_tells_the_same_of_the_same_work(own, tmp_path):
    """Imported again, its verifier runs in the real sandbox, with nothing of orvl but what it brings itself."""
    some = 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "echo yes > done.txt; rm -f notes.md; touch sort.py"]\n'
    own.agent("some", some)
    export(own, "own", "--to", str(tmp_path / "out"))
    (row,) = own.orvl("import", "harbor", str(tmp_path / "out/own"), "--name", "again", "--json").json["tasks"]
    assert row["status"] == "imported", row
    result = own.orvl("dummy-good,empty,some", "--eval=own,again", "--json")
    assert result.status == 0, result.err
    held = {}
    for agent in ("dummy-good", "empty", "some"):
        for name in ("own", "again"):
            checks = own.orvl("show", f"{agent}/{name}/1", "--json").json["attempts"][0]["checks"]
            held[agent, name] = [check for check in checks if not check["turn"]]
    assert [check["passed"] for check in held["dummy-good", "own"]] == [True] * 5
    (again,) = held["dummy-good", "again"]
    assert (again["passed"], again["share"]) == (True, 1), again["output"]
    # Of sorts, of weight 2, two of its four cases hold for nothing at all.
    (again,) = held["empty", "again"]
    assert again["share"] == pytest.approx(0.5 * 2 / 5), again["output"]
    assert held["some", "again"][0]["share"] == 0


def test_an_imported_exercise_becomes_a_task_of_one_verifier(project, tmp_path):
    write(
        tmp_path / "two-fer",
        {
            ".meta/config.json": '{"files": {"solution": ["two_fer.py"], "test": ["two_fer_test.py"], "example": []}}',
            ".docs/instructions.md": "One for you.\n",
            "two_fer.py": "def two_fer():\n    pass\n",
            "two_fer_test.py": "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n",
        },
    )
    assert project.orvl("import", "polyglot", str(tmp_path / "two-fer")).status == 0
    export(project, "python-two-fer", "--to", "out")
    test = (project.root / "out/python-two-fer/tests/test.sh").read_text()
    assert test == "#!/bin/sh\npython3 /tests/run_tests.py\n"
    assert (project.root / "out/python-two-fer/tests/files/two_fer_test.py").exists()


def test_places_variables_and_the_setup_are_in_the_image(project):
    head = "workdir: /app\nplaces: [/data, /empty]\nenv: {A: 'b \"c\"'}\nsetup: ['sh /setup/x.sh', 'npm ci']\n"
    project.write("evals/all/eval.md", f"---\n{head}checks: [{{name: a, run: node x.js}}]\n---\nGo.\n")
    project.write("evals/all/workspace/.places/data/in.txt", "1\n")
    project.write("evals/all/workspace/x.js", "1\n")
    project.write("evals/all/setup/x.sh", "true\n")
    project.write("evals/all/controls/good/.run", "touch x\n")
    (project.root / "evals/all").rename(project.root / "evals/whole")
    export(project, "whole", "--to", "out")
    folder = project.root / "out/whole"
    lines = (folder / "environment/Dockerfile").read_text().splitlines()
    assert "nodejs npm" in lines[2]
    assert lines[3:] == [
        'ENV A="b \\"c\\""',
        "WORKDIR /app",
        "COPY places/1/ /data/",
        "COPY workspace/ ./",
        "RUN mkdir -p /data",
        "RUN mkdir -p /empty",
        "COPY setup/ /setup/",
        "RUN sh /setup/x.sh",
        "RUN npm ci",
    ]
    assert (folder / "environment/places/1/in.txt").exists()
    assert not (folder / "environment/workspace/.places").exists()
    assert (folder / "solution/solve.sh").read_text() == "#!/bin/bash\nexec sh /solution/.run\n"


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("{}", "it has no checks, and a task needs a verifier"),
        ("{app: {files: a.html}, checks: [{name: a, run: 'true'}]}", "its app is looked at in orvl's browser"),
        ("checks: [{name: a, run: frobnicate x}]", "the check a calls 'frobnicate', and orvl knows no package"),
        ("checks: [{name: a, run: python3 checks/b.py, isolated: true}]", "checks/b.py asks orvl for 'browse'"),
        ('{setup: "true\\ntrue", checks: [{name: a, run: "true"}]}', "a command of its setup has several lines"),
        ("checks: [{name: a, run: 'true'}, {name: b, run: 'true', verifier: v}]", "some of its checks are verifiers"),
    ],
)
def test_what_no_task_can_say_is_refused(project, head, words):
    project.write("evals/own/eval.md", f"---\n{head}\n---\nGo.\n")
    if "b.py" in head:
        project.write("evals/own/checks/b.py", "from orvl import checks\nchecks.browse('open /')\n")
    project.write("evals/own/checks/v/test.sh", "true\n")
    result = export(project, "own", "--to", "out", status=1)
    assert f"own: not written: {words}" in result.err
    assert list((project.root / "out").iterdir()) == []


def test_wrong_calls_and_several_evals(own):
    for words, sentence in [
        ((), "Name evals and a folder, and nothing else"),
        (("own",), "Name evals and a folder, and nothing else"),
        (("--to", "out"), "Name an eval: orvl export harbor EVAL… --to DIR"),
        (("owm", "--to", "out"), "There is no eval 'owm'. Did you mean 'own'?"),
        (("own", "--to", "out", "--format", "csv"), "Name evals and a folder, and nothing else"),
    ]:
        result = own.orvl("export", "harbor", *words)
        assert (result.status, sentence in result.err) == (2, True), result.err
    assert "--to is not for runs" in own.orvl("export", "runs", "x.csv", "--to", "y").err
    export(own, "own,hello-world", "tidy*", "--to", "out")
    assert sorted(path.name for path in (own.root / "out").iterdir()) == ["hello-world", "own", "tidy-invoice"]
    assert "out/own is there already" in export(own, "own", "--to", "out", status=1).err
