"""How a run's code grew, turn by turn: in `show`, in its JSON and on its page."""

from __future__ import annotations

import re

from helpers.viewing import viewing

EVAL = """
---
checks:
  - {name: first, run: test -f one.py, turn: 1}
  - {name: last, run: test -f two.py}
---
one
---
two
"""
AGENT = """
models = {"none": ["fixed"]}
BRANCHES = "".join(f"    if x == {n}:\\n        return {n}\\n" for n in range(10))
CODE = {"one": "import os\\ndef a():\\n    return 1\\n", "two": f"def b(x):\\n{BRANCHES}    return 0\\n"}

def command(prompt):
    word = prompt.strip()
    return ["python3", "-c", "import sys; open(sys.argv[1], 'w').write(sys.argv[2])", f"{word}.py", CODE[word]]
"""


def test_good_work_is_shown_beside(project):
    project.write("evals/grows/eval.md", EVAL.lstrip())
    project.write("evals/grows/controls/good/turn-1/one.py", "a = 1\n")
    project.write("evals/grows/controls/good/turn-2/two.py", "b = 2\nc = 3\n")
    project.agent("mine", AGENT)
    assert project.orvl("mine", "--eval=grows").status == 0
    alone = project.orvl("show", "mine/grows/1", "--json").json
    assert alone["good_curves"] == [] and "good work" not in project.orvl("show", "mine/grows/1").out
    assert project.orvl("dummy-good", "--eval=grows").status == 0
    shown = project.orvl("show", "mine/grows/1", "--json").json
    assert [state["lines"] for state in shown["good_curves"]] == [0, 1, 3]
    assert "good work ends with: lines 3; cloned 0%;" in " ".join(project.orvl("show", "mine/grows/1").out.split())
    good = project.orvl("show", "dummy-good/grows/1", "--json").json
    assert good["good_curves"] == [] and good["curves"] == shown["good_curves"]
    with viewing(project) as viewer:
        page = viewer.get(f"/run/{shown['run']}/curves").text
        # Where this agent has written 25 lines in the end, good work has three.
        assert '<polyline points="3.0,21.0 60.0,18.8 117.0,3.0" class="curve"></polyline>' in page
        assert '<polyline points="3.0,21.0 60.0,20.3 117.0,18.8" class="curve good"></polyline>' in page
        assert "Dashed: good work on the same eval" in page
        assert 'class="curve good"' not in viewer.get(f"/run/{good['run']}/curves").text


def test_code_by_turn_is_shown_everywhere(project):
    project.write("evals/grows/eval.md", EVAL.lstrip())
    project.write("evals/grows/workspace/ruff.toml", '[lint]\nselect = ["F401"]\n')
    project.agent("mine", AGENT)
    done = project.orvl("mine", "--eval=grows", "--json")
    assert done.status == 0, done.err
    shown = project.orvl("show", "mine/grows/1", "--json").json
    states = shown["curves"]
    assert [[one[name] for name in ("turn", "lines", "lint", "touched")] for one in states] == [
        [0, 0, 0, 0],
        [1, 3, 1, 1],
        [2, 25, 1, 2],
    ]
    assert states[2]["complex"] == 11 / 12 and states[0]["complex"] is None
    text = " ".join(project.orvl("show", "mine/grows/1").out.split())
    assert (
        "code, start → turn 1 → turn 2: lines 0 → 3 → 25; cloned – → 0% → 0%; in complex functions – → 0% → 92%; "
        "new lint findings 0 → 1 → 1; files touched 0 → 1 → 2" in text
    )
    with viewing(project) as viewer:
        page = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", viewer.get(f"/run/{shown['run']}/curves").text))
        assert "code at the start after turn 1 after turn 2 lines 0 3 25" in page
        assert "Code by turn" in viewer.get(f"/run/{shown['run']}").text
    assert not {"lines", "cloned", "touched"} & set(done.json["ratings"][0]["metrics"]), "none of it counts"
