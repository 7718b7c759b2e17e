"""A store with 500 real runs: five agents, ten evals, ten episodes; each changes a file and tells sixty steps."""

from __future__ import annotations

from helpers.user_project import UserProject

AGENTS, EVALS, EPISODES = 5, 10, 10
RUNS = AGENTS * EVALS * EPISODES
AGENT = """
models = {{"none": ["fixed"]}}
PROGRAM = '''
import os, sys
open("made.py", "w").write("".join(f"value_{{n}} = compute(other_{{n}}, {{n}} * {number})\\\\n" for n in range(300)))
if {number} < 3: open("answer.txt", "w").write("hi")
sys.exit({number} == 4)
'''

def command(prompt):
    return ["python3", "-S", "-E", "-c", PROGRAM]

def read(output):
    calls = [{{"tool_call_id": "1", "function_name": "bash", "arguments": {{"command": "pytest -q tests"}}}}]
    seen = {{"results": [{{"source_call_id": "1", "content": "12 passed in 0.31 s\\\\n" * 10}}]}}
    return {{"steps": [{{"source": "agent", "message": f"Step {{n}} of sixty: I look at what failed and try again.",
                       "tool_calls": calls, "observation": seen}} for n in range(60)]}}
"""
EVAL = """---
metrics: {checks: 1, readability: 1, bugs: 1}
checks: [{name: there, run: test -f answer.txt}]
---
Build a small thing.
"""


def make_many_runs(project: UserProject) -> None:
    project.toml("[judges.ann]\nanswers = 'yes'\n[judges.bob]\nanswers = {readability = 'no'}\n")
    for number in range(AGENTS):
        project.agent(f"agent-{number}", AGENT.format(number=number))
    for number in range(EVALS):
        project.eval(f"eval-{number}", EVAL)
    names = ",".join(f"agent-{number}" for number in range(AGENTS))
    done = project.orvl(names, f"--episodes={EPISODES}", "--sandbox=none", "--yes", timeout=900)
    assert "Traceback" not in done.err, done.err
    assert project.rows("SELECT count(*) FROM run") == [(RUNS,)]
