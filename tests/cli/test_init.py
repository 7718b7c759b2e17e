"""`orvl init`: a project that runs, without touching what is there."""

from __future__ import annotations

import json


def test_init_makes_a_project_that_runs_and_keeps_what_is_there(project):
    project.write("agents/my_agent.py", "models = {'none': ['m']}\ndef command(): return 'true'\n")
    made = project.orvl("init")
    assert made.status == 0
    assert "kept  agents/my_agent.py" in made.out
    assert "made  evals/greeting.md" in made.out
    assert project.orvl("doctor").status == 0
    assert (project.root / "orvl.toml").read_text().startswith("#:schema .orvl/orvl.schema.json")
    assert json.loads((project.root / ".orvl/orvl.schema.json").read_text())["properties"]["penalty"]["minimum"] == 0
    assert project.orvl("my-agent", "--eval=greeting").status == 0
