"""A store whose judges are certified, with a good and a bad agent, and files that have changed."""

from __future__ import annotations

from helpers.ladders import GOOD, LINES, laddered
from helpers.user_project import UserProject

EVALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
WORKS = f'''
"""Is the work right?"""

LINES = {LINES!r}

def score(run, judge):
    there = run.read("tools.py").splitlines() if "tools.py" in run.files else []
    return sum(line in there for line in LINES) / len(LINES)
'''
AGENT = """
models = {{"none": ["fixed"]}}

def command(prompt):
    return ["sh", "-c", {script!r}]
"""


def make_certified_store(project: UserProject, *, is_whole: bool = False) -> None:
    """Two judges that tell good work from bad, two agents on nine evals; and, unless the certificate is to hold for the
    whole board, a tenth eval that is not certified."""
    project.toml(
        "[sandbox]\nuse = 'none'\n"
        "[judges.ann]\nmodel = 'fixed'\nanswers = {neat = ['yes', 'no', 'cannot-tell']}\n"
        "[judges.bob]\nmodel = 'fixed'\nanswers = {neat = ['yes', 'yes', 'cannot-tell']}\n"
    )
    laddered(project, EVALS, "{works: 1}")
    project.score("works", WORKS)
    project.score(
        "neat", '"""Is it neat?"""\nitems = ["It is short.", "It is <b>named</b> well.", "Nobody can tell."]\n'
    )
    project.write("good.py", GOOD)
    project.agent("strong", AGENT.format(script=f"cat > tools.py <<'EOF'\n{GOOD}\nEOF"))
    project.agent("weak", AGENT.format(script="touch tools.py"))
    done = project.orvl("certify", "--json", "--gate", "--episodes=1", timeout=300)
    assert done.status == 0, done.err[-1500:] + done.out[-1500:]
    if not is_whole:
        project.eval("tidy", "---\nmetrics: {neat: 1}\n---\nTidy up.\n")
        done = project.orvl("strong,weak", "--eval=tidy", "--sandbox=none")
        assert done.status == 0, done.err
    project.agent("weak", AGENT.format(script="touch  tools.py"))
    done = project.orvl("strong,weak", "--sandbox=none", timeout=300)
    assert done.status == 0, done.err
