"""A judge as a builder: it builds a project from an idea, describes it by rules, and builds again from the rules."""

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

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from orvl.score.judges.panel import JudgeEndpoint, JudgePanel
    from orvl.score.judges.replies import Replies

MAX_FILES = 60
MAX_CHARACTERS = 400_000
MAX_PATH = 500
MAX_OUTPUT = 32_000
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
class BuiltProject:
    """What a judge built from an idea."""

    project: Mapping[str, str]
    description: str
    rules: tuple[str, ...]
    again: Mapping[str, str]
    """Its own second implementation, from its own rules."""

    @property
    def prompt(self) -> str:
        """What an agent gets: the description and the rules alone."""
        listed = "\n".join(f"- {rule}" for rule in self.rules)
        return f"{self.description.strip()}\n\n{listed}\n"


async def build(
    panel: JudgePanel, endpoint: JudgeEndpoint, idea: str, say: Callable[[str], None], replies: Replies
) -> BuiltProject:
    """Three questions: build, describe, and build again from the description alone."""
    say(f"{endpoint.judge.name} builds the project …")
    project = _files(await _ask(panel, endpoint, replies, idea, BUILD, FILES, _files))
    say(f"{endpoint.judge.name} writes rules from its {len(project)} files …")
    shown = "\n\n".join(f"=== {path}\n{text}" for path, text in project.items())
    described = await _ask(panel, endpoint, replies, shown, DESCRIBE, RULES, _rules)
    description, rules = _rules(described)
    built = BuiltProject(project, description, rules, {})
    say(f"{endpoint.judge.name} builds again, from its own {len(rules)} rules …")
    return replace(built, again=_files(await _ask(panel, endpoint, replies, built.prompt, BUILD, FILES, _files)))


async def _ask(
    panel: JudgePanel,
    endpoint: JudgeEndpoint,
    replies: Replies,
    material: str,
    task: str,
    schema: Mapping[str, Any],
    check: Callable[[dict[str, Any]], object],
) -> dict[str, Any]:
    """Asks once, and a second time if the answer cannot be used."""
    request = Question(
        endpoint.model, SYSTEM, material, task, schema=schema, options=endpoint.judge.options, max_output=MAX_OUTPUT
    )
    account = panel.account(endpoint)
    conversation = replies.conversation(request)
    for again in (False, True):
        if stored := conversation.next():
            answer = stored[0]
        else:
            call = await panel.gateway.ask(account, FORMATS[endpoint.protocol].ask(request), lambda: None)
            if call.failure is not None:
                raise BuilderFailed(f"The judge {endpoint.judge.name} gave no answer: {call.failure.message}.")
            answer = call.answer
            await conversation.add(answer, account.calls[-1], None)
        words = next((tool.arguments for tool in answer.tools), "") or answer.content
        try:
            body = as_object(words) or as_object(words[words.find("{") : words.rfind("}") + 1]) or {}
            check(body)
            return body
        except ValueError as error:
            if again:
                raise BuilderFailed(f"The judge {endpoint.judge.name} gave no usable answer: {error}.") from error
            request = replace(
                request, before=((words or "(nothing)", f"That cannot be used: {error}. Answer once more."),)
            )
    raise AssertionError


def _files(body: dict[str, Any]) -> dict[str, str]:
    """The files of an answer; raises ValueError unless they make a folder."""
    files: dict[str, str] = {}
    listed = body.get("files")
    for file in listed if isinstance(listed, list) else []:
        path, content = (file.get("path"), file.get("content")) if isinstance(file, dict) else (None, None)
        if not isinstance(path, str) or not isinstance(content, str):
            raise ValueError("a file needs a path and its content as text")
        content.encode()  # Lone surrogates cannot be written to a file.
        files[_inside(path)] = content
    if not files:
        raise ValueError("it has no files")
    if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_CHARACTERS:
        raise ValueError(f"it has more than {MAX_FILES} files or {MAX_CHARACTERS} characters")
    _no_file_in_a_file(files)
    return files


def _inside(path: str) -> str:
    plain = PurePosixPath(path.removeprefix("./"))
    is_bad = (
        len(path.encode()) > MAX_PATH
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
        if above := next((str(folder) for folder in PurePosixPath(path).parents if str(folder) in files), None):
            raise ValueError(f"{above} is a file, and cannot hold {path}")


def _rules(body: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    description, rules = body.get("description"), body.get("rules")
    is_good = isinstance(description, str) and description.strip() and isinstance(rules, list) and rules
    if not is_good or not all(isinstance(rule, str) and rule.strip() for rule in rules or ()):
        raise ValueError("it needs a description and a list of rules")
    assert isinstance(description, str)
    return description, tuple(" ".join(rule.split()) for rule in rules or ())
