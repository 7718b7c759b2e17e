"""The file of a score: a checklist for judges, a function of the run, or a function that asks judges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from orvl.new.place import adding
from orvl.new.python_text import docstring, quoted
from orvl.project.find import SourceFile
from orvl.project.scores import load_metric

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.project import Project

ScoreForm = Literal["function", "checklist", "judged"]
FORMS: dict[ScoreForm, str] = {
    "function": "a function of the run, without a judge",
    "checklist": "sentences that a panel of judges answers with yes or no",
    "judged": "a function that asks each judge what you like",
}
QUESTIONS: dict[ScoreForm, str] = {
    "function": "How little had to be written?",
    "checklist": "Could somebody else take this over tomorrow?",
    "judged": "Are mistakes of users handled?",
}
ITEMS = ("Names say what things are.", "No function does two unrelated things.", "No dead or commented-out code.")
FUNCTION = """

def score(run):
    # From 0 to 1. Among what a run offers: files, read(path), diff, seconds, usage, checks, output, prompts.
    added = sum(line.startswith("+") and not line.startswith("+++") for line in run.diff.splitlines())
    return 200 / (200 + added)
"""
JUDGED = """
ITEMS = [{items}]


async def score(run, judge):
    # Called once for each judge. Without files there is nothing to ask about.
    if not run.files:
        return 0.0
    return await judge.checklist(ITEMS, evidence=run.diff)
"""


@dataclass(frozen=True)
class NewScore:
    """What the file of a new score says."""

    form: ScoreForm = "function"
    question: str = ""
    items: tuple[str, ...] = ()


def add_score(project: Project, name: str, new: NewScore) -> Path:
    """Writes a score and loads it."""
    path = project.root / "scores" / f"{name.replace('-', '_')}.py"
    with adding(path) as made:
        made.write_text(score_text(new), encoding="utf-8")
        load_metric(SourceFile(name, made, "project"))
    return path


def score_text(new: NewScore) -> str:
    head = docstring(new.question or QUESTIONS[new.form]) + "\n"
    items = new.items or ITEMS
    if new.form == "function":
        return head + FUNCTION
    if new.form == "judged":
        return head + JUDGED.format(items=", ".join(map(quoted, items)))
    listed = "".join(f"    {quoted(item)},\n" for item in items)
    return f"{head}\n# Each is true of good work. (sentence, 2) counts twice.\nitems = [\n{listed}]\n"
