"""`orvl init`: a project to start from."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import click

from orvl.errors import UserError, disk_sentence
from orvl.store.beneath import replacing

SCHEMA = ".orvl/orvl.schema.json"
AGENT = '''"""An agent: replace the command with your own. See also: orvl list agents"""

models = {"none": ["fixed"]}  # provider: models


def command(provider, model, prompt):
    # The string is split into words and never given to a shell; the prompt arrives as one argument.
    return f"python3 -c 'import sys; open(\\"answer.txt\\", \\"w\\").write(sys.argv[1])' {prompt}"
'''
EVAL = """---
description: A greeting, then one more line.
checks:
  - {name: wrote-something, run: test -s answer.txt}
---
Write a file answer.txt with a short greeting.
---
Add a second line to it: what you would like to build.
"""
SCORE = '''"""Did it write its answer where it was asked to?"""


def score(run):
    return 1.0 if "answer.txt" in run.files else 0.0
'''
SETTINGS = """#:schema .orvl/orvl.schema.json
# Everything here is optional. `orvl doctor` checks it.

penalty = 0.5   # how much the judges' disagreement lowers a rating, 0 or more
episodes = 1    # independent runs of each cell

# [metrics]     # how much each metric counts; without this table all that apply count, checks most of all
# checks = 3
# answered = 1

[limits]
turn = 900      # seconds
"""
FILES = {
    "agents/my_agent.py": AGENT,
    "evals/greeting.md": EVAL,
    "scores/answered.py": SCORE,
    "orvl.toml": SETTINGS,
}


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False))
def command(folder: str) -> int:
    """Make a project in FOLDER: an agent, an eval, a score and orvl.toml. Existing files are kept."""
    from orvl.project.settings import schema

    root = Path(folder)
    files = {**FILES, SCHEMA: json.dumps(schema(), indent=2) + "\n", ".orvl/.gitignore": "*\n"}
    try:
        for name, content in files.items():
            path = root / name
            if os.path.lexists(path) and name != SCHEMA:
                if not name.startswith(".orvl/"):
                    click.echo(f"kept  {path}")
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                file.write(content.encode())
            if not name.startswith(".orvl/"):
                click.echo(f"made  {path}")
    except OSError as error:
        raise UserError(f"Cannot create the project: {disk_sentence(error)}.") from error
    inside = f"cd {shlex.quote(folder)} && " if folder != "." else ""
    click.echo(f"Try it: {inside}orvl my-agent")
    return 0
