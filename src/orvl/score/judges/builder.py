"""A judge as a builder: it makes a project from an idea, writes rules from the project, and builds again from these."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from orvl.errors import BuilderFailed
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import Question
from orvl.gateway.wire.values import as_object
from orvl.score.judges.answers import said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orvl.score.judges.bench import Bench, Seat

MOST_FILES = 60
LARGEST = 400_000
LONGEST_PATH = 500
MOST_OUTPUT = 32_000
SYSTEM = "You are an experienced software developer. You answer with JSON alone, in the form that you are told."
STRING = {"type": "string"}
FILE = {
    "type": "object",
    "properties": {"path": STRING, "content": STRING},
    "required": ["path", "content"],
    "additionalProperties": False,
}
FILES = {
    "type": "object",
    "properties": {"files": {"type": "array", "items": FILE}},
    "required": ["files"],
    "additionalProperties": False,
}
RULES = {
    "type": "object",
    "properties": {"description": STRING, "rules": {"type": "array", "items": STRING}},
    "required": ["description", "rules"],
    "additionalProperties": False,
}
BUILD = (
    "Build this, complete and runnable, in as few small files as it needs, without a README. Answer with "
    '{"files": [{"path": "relative/path", "content": "the whole file"}, …]}.'
)
DESCRIBE = (
    "Somebody who has never seen this project is to build it anew. Write for them, without quoting code: "
    "`description`, what it is and does, in a few sentences; and `rules`, one sentence each, that fix what matters: "
    "files and their names, functions and their names, texts, formats, behaviour in every case, the way it is "
    'structured. Answer with {"description": "…", "rules": ["…", …]}.'
)


@dataclass(frozen=True)
class Built:
    """What a judge made of an idea."""

    project: Mapping[str, str]
    description: str
    rules: tuple[str, ...]
    again: Mapping[str, str]
    """Its own second implementation, from its own rules."""

    @property
    def prompt(self) -> str:
        """What an agent gets: the description and the rules, and nothing else."""
        listed = "\n".join(f"- {rule}" for rule in self.rules)
        return f"{self.description.strip()}\n\n{listed}\n"


async def build(bench: Bench, seat: Seat, idea: str, say: Callable[[str], None]) -> Built:
    """Three questions: build, describe, and build again from the description alone."""
    say(f"{seat.judge.name} builds the project …")
    project = _files(await _ask(bench, seat, idea, BUILD, FILES, _files))
    say(f"{seat.judge.name} writes rules from its {len(project)} files …")
    shown = "\n\n".join(f"=== {path}\n{text}" for path, text in project.items())
    described = await _ask(bench, seat, shown, DESCRIBE, RULES, _rules)
    description, rules = _rules(described)
    built = Built(project, description, rules, {})
    say(f"{seat.judge.name} builds again, from its own {len(rules)} rules …")
    return replace(built, again=_files(await _ask(bench, seat, built.prompt, BUILD, FILES, _files)))


async def _ask(
    bench: Bench,
    seat: Seat,
    material: str,
    task: str,
    schema: Mapping[str, Any],
    check: Callable[[dict[str, Any]], object],
) -> dict[str, Any]:
    """One question, put a second time where the answer cannot be used."""
    form = Question(
        seat.model, SYSTEM, material, task, schema=schema, options=seat.judge.options, max_output=MOST_OUTPUT
    )
    account = bench.account(seat)
    for again in (False, True):
        question = await bench.gateway.ask(account, FORMATS[seat.protocol].ask(form), lambda: None)
        if question.failure is not None:
            raise BuilderFailed(f"The judge {seat.judge.name} gave no answer: {question.failure.message}.")
        words = next((tool.arguments for tool in question.answer.tools), "") or said(question.answer)
        try:
            told = as_object(words) or as_object(words[words.find("{") : words.rfind("}") + 1]) or {}
            check(told)
            return told
        except ValueError as error:
            if again:
                raise BuilderFailed(f"The judge {seat.judge.name} gave no usable answer: {error}.") from error
            form = replace(form, before=((words or "(nothing)", f"That cannot be used: {error}. Answer once more."),))
    raise AssertionError


def _files(told: dict[str, Any]) -> dict[str, str]:
    """The files, if all of them can lie in a folder."""
    files: dict[str, str] = {}
    listed = told.get("files")
    for one in listed if isinstance(listed, list) else []:
        path, content = (one.get("path"), one.get("content")) if isinstance(one, dict) else (None, None)
        if not isinstance(path, str) or not isinstance(content, str):
            raise ValueError("a file needs a path and its content as text")
        content.encode()
        files[_inside(path)] = content
    if not files:
        raise ValueError("it has no files")
    if len(files) > MOST_FILES or sum(map(len, files.values())) > LARGEST:
        raise ValueError(f"it has more than {MOST_FILES} files or {LARGEST} characters")
    _no_file_in_a_file(files)
    return files


def _inside(path: str) -> str:
    plain = PurePosixPath(path.removeprefix("./"))
    is_bad = (
        len(path.encode()) > LONGEST_PATH
        or plain.is_absolute()
        or ".." in plain.parts
        or not plain.parts
        or ".git" in plain.parts
    )
    if is_bad or re.search(r"[\x00-\x1f\\]", path) or any(len(part.encode()) > 200 for part in plain.parts):
        raise ValueError(f"the path {json.dumps(path[:80])} does not lie inside the project")
    return str(plain)


def _no_file_in_a_file(files: Mapping[str, str]) -> None:
    for path in files:
        if above := next((str(one) for one in PurePosixPath(path).parents if str(one) in files), None):
            raise ValueError(f"{above} is a file, and cannot hold {path}")


def _rules(told: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    description, rules = told.get("description"), told.get("rules")
    is_good = isinstance(description, str) and description.strip() and isinstance(rules, list) and rules
    if not is_good or not all(isinstance(rule, str) and rule.strip() for rule in rules or ()):
        raise ValueError("it needs a description and a list of rules")
    assert isinstance(description, str)
    return description, tuple(" ".join(rule.split()) for rule in rules or ())
