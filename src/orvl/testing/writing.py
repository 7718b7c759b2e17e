"""A script that makes any coding agent write a file, with whichever tool it offers."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from posixpath import dirname, isabs, join
from typing import Any

from orvl.gateway.wire.format import ToolCall
from orvl.testing.request import Request
from orvl.testing.script import ASIDE, Answer, Said, Tokens

PATHS = ("file_path", "filepath", "path", "absolute_path", "target_file", "filename", "file_name", "file")
CONTENTS = ("content", "contents", "file_text", "new_text", "text", "body")
COMMANDS = ("command", "cmd", "script", "code")
PATCHES = ("input", "patch")
WRITERS = re.compile(r"^(write|write_?file|write_to_file|create_?file|editor|.*(write|create|save).*)$")
EDITORS = re.compile(r"^str_replace_(based_)?edit")
SHELLS = re.compile(r"bash|shell|exec_command|execute|terminal|run_command")
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
SEARCH_REPLACE = "SEARCH/REPLACE"
FILE_LISTING = "file listing"
Schema = Mapping[str, Any]


def writes(
    path: str,
    text: str,
    then: str | None = "Done.",
    *,
    workspace: str = "/workspace",
    tokens: Tokens | None = None,
) -> Callable[[Request], Said]:
    """Writes a file, then answers `then`; with `then=None` the script goes on after the tool call.

    As the only callable of a server it serves any number of agents at once; in a list it takes its turn.
    """
    mark = sha256(f"{path}\0{text}".encode()).hexdigest()[:8]
    used = tokens or Tokens()

    def say(request: Request) -> Said:
        if not request.tools:
            said = _in_text(request, path, text, then or "")
            return said if said is ASIDE else replace(said, tokens=used)
        if then is not None and any(mark in result.id or not result.id for result in request.tool_results):
            return replace(_submit(request, then) if SUBMIT in request.prompt_text else Answer(then), tokens=used)
        name, arguments = _pick(request, path, text, workspace)
        call = ToolCall(name, arguments, f"call_{mark}_{request.number}")
        return Answer(tool_calls=[call], tokens=used, again=then is not None)

    return say


def _in_text(request: Request, path: str, text: str, then: str) -> Answer:
    """A file in the edit format that the agent asked for; a request without one is for a title or the like."""
    closed = text if text.endswith("\n") or not text else text + "\n"
    if SEARCH_REPLACE in request.prompt_text:
        return Answer(f"{then}\n\n{path}\n```\n<<<<<<< SEARCH\n=======\n{closed}>>>>>>> REPLACE\n```\n")
    if FILE_LISTING in request.prompt_text:
        return Answer(f"{then}\n\n{path}\n```\n{closed}```\n")
    if SUBMIT in request.prompt_text:
        language = "mswea_bash_command" if "mswea_bash_command" in request.prompt_text else "bash"
        return Answer(f"{then}\n\n```{language}\n{_command(path, text)} && echo {SUBMIT}\n```\n")
    return ASIDE


def _submit(request: Request, then: str) -> Answer:
    """The last answer and command, for an agent that ends by running one."""
    name, arguments = _shell(request.tools, f"echo {SUBMIT}") or ("bash", {"command": f"echo {SUBMIT}"})
    return Answer(then, tool_calls=[ToolCall(name, arguments)])


def _pick(request: Request, path: str, text: str, workspace: str) -> tuple[str, dict[str, Any] | str]:
    """The tool that writes the file, and its arguments."""
    place = path if isabs(path) else join(request.workspace or workspace, path)
    call = (
        _writer(request.tools, place, text)
        or _shell(request.tools, _command(path, text))
        or _patch(request.tools, path, text)
    )
    if call is None:
        raise LookupError(f"No tool of the agent writes a file; it offers {', '.join(sorted(request.tools))}.")
    return call


def _command(path: str, text: str) -> str:
    made = f"mkdir -p {shlex.quote(dirname(path))} && " if dirname(path) else ""
    return f"{made}printf %s {shlex.quote(text)} > {shlex.quote(path)}"


def _writer(tools: Mapping[str, Schema], path: str, text: str) -> tuple[str, dict[str, Any]] | None:
    for names in (WRITERS, EDITORS):
        for name, schema in sorted(tools.items(), key=lambda item: len(item[0])):
            fields = _properties(schema)
            where, what = _field(fields, PATHS), _field(fields, CONTENTS)
            if names.search(name.lower()) and where and what:
                return name, {**_required(schema), where: path, what: text}
    return None


def _shell(tools: Mapping[str, Schema], command: str) -> tuple[str, dict[str, Any]] | None:
    for name, schema in sorted(tools.items(), key=lambda item: len(item[0])):
        field = _field(_properties(schema), COMMANDS)
        if field and SHELLS.search(name.lower()):
            words: Any = ["bash", "-lc", command] if _kind(_properties(schema)[field]) == "array" else command
            return name, {**_required(schema), field: words}
    return None


def _patch(tools: Mapping[str, Schema], path: str, text: str) -> tuple[str, dict[str, Any] | str] | None:
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"
    for name, schema in tools.items():
        if "patch" in name.lower():
            field = _field(_properties(schema), PATCHES)
            return name, {**_required(schema), field: patch} if field else patch
    return None


def _properties(schema: Schema) -> Mapping[str, Schema]:
    """The arguments of a tool; if there is a choice between shapes, those of the first that has any."""
    shapes = (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ()))
    fields = (shape.get("properties") for shape in shapes if isinstance(shape, Mapping))
    return next((properties for properties in fields if isinstance(properties, Mapping)), {})


def _field(fields: Mapping[str, Schema], names: tuple[str, ...]) -> str | None:
    plain = {field.lower(): field for field in fields} | {field.lower().replace("_", ""): field for field in fields}
    return next((plain[name] for name in names if name in plain), None)


def _required(schema: Schema) -> dict[str, Any]:
    """A harmless value for every required argument."""
    fields = _properties(schema)
    return {name: _filler(fields[name]) for name in schema.get("required", ()) if name in fields}


def _filler(field: Schema) -> Any:
    if field.get("enum"):
        return next((value for value in field["enum"] if value in ("create", "write")), field["enum"][0])
    fillers: dict[str, Any] = {"boolean": False, "array": [], "object": {}, "null": None}
    number = field.get("minimum", 1)
    return fillers.get(_kind(field), number if _kind(field) in ("integer", "number") else "Write a file")


def _kind(field: Schema) -> str:
    """The JSON type of an argument, in lower case; of several, the first."""
    several = field.get("anyOf") or field.get("oneOf")
    kind = several[0].get("type") if several and "type" not in field else field.get("type", "string")
    return str(kind[0] if isinstance(kind, list) else kind).lower()
