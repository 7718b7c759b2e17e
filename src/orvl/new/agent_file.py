"""The file of an agent: which program it is, how it takes the prompt and the model, and how it reaches models."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.new.place import adding
from orvl.new.python_text import docstring, quoted
from orvl.project.agents import ACP, load_agent
from orvl.project.find import SourceFile
from orvl.project.names import did_you_mean
from orvl.project.providers import provider_of, unknown_provider
from orvl.project.settings import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from orvl.project import Project

NO_PROTOCOL = "none"
NO_PROVIDER, NO_MODEL = "none", "fixed"
ARGUMENT, STDIN = "argument", "stdin"
SPEAKS = (*PROTOCOLS, ACP, NO_PROTOCOL)
DEFAULT_MODELS = {
    "openai": "zen:qwen3-coder",
    ACP: "zen:qwen3-coder",
    "responses": "openai:gpt-5",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "google:gemini-2.5-pro",
    NO_PROTOCOL: f"{NO_PROVIDER}:{NO_MODEL}",
}


@dataclass(frozen=True)
class NewAgent:
    """What the file of a new agent says."""

    program: str
    """The command that starts it, without the prompt and the model."""
    prompt_by: str = ARGUMENT
    """`argument`, `stdin`, or a flag."""
    model_by: str = "--model"
    """A flag; empty where it is not told its model."""
    protocol: str = "openai"
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    description: str = ""


def models_from(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """`PROVIDER:MODEL` as a file's `models`."""
    found: dict[str, tuple[str, ...]] = {}
    for word in (part.strip() for text in words for part in text.split(",")):
        provider, colon, model = word.partition(":")
        if not (provider and colon and model):
            raise UserError(f"'{word}' is no model at a provider; write PROVIDER:MODEL, such as zen:qwen3-coder.")
        found[provider] = (*found.get(provider, ()), model)
    return found


def check_protocol(protocol: str) -> None:
    if protocol not in SPEAKS:
        raise UserError(f"There is no protocol '{protocol}'. {did_you_mean(protocol, SPEAKS)}")


def add_agent(project: Project, name: str, new: NewAgent) -> Path:
    """Writes an agent and loads it."""
    check_protocol(new.protocol)
    for provider in new.models:
        if new.protocol != NO_PROTOCOL and provider_of(project.settings, provider) is None:
            raise UserError(unknown_provider(project.settings, provider))
    path = project.root / "agents" / f"{name.replace('-', '_')}.py"
    with adding(path) as made:
        made.write_text(agent_text(name, new), encoding="utf-8")
        load_agent(SourceFile(name, made, "project"), {})
    return path


def agent_text(name: str, new: NewAgent) -> str:
    words = _words(new.program)
    head = [docstring(new.description or f"{name}, a coding agent."), ""]
    takes_command = new.prompt_by == STDIN and new.protocol != ACP
    if takes_command:
        head += ["from orvl import Command", ""]
    if new.protocol != NO_PROTOCOL:
        spoken = f'("{ACP}", "openai")' if new.protocol == ACP else quoted(new.protocol)
        head.append(f"protocol = {spoken}  # what it speaks to models; it reaches them through orvl's gateway")
    models = ", ".join(f"{quoted(key)}: [{', '.join(map(quoted, names))}]" for key, names in new.models.items())
    head.append(f"models = {{{models}}}  # provider: models")
    version = ", ".join(map(quoted, [words[0], "--version"]))
    head += [f"# version = [{version}]  # part of a run's identity, once the program is installed", "", ""]
    return "\n".join([*head, *_command(words, new, takes_command=takes_command)]) + "\n"


def _command(words: list[str], new: NewAgent, *, takes_command: bool) -> list[str]:
    """The function, with only the arguments that it needs."""
    argv = [quoted(word) for word in words]
    asks = []
    if new.model_by:
        asks.append("model")
        argv += [quoted(new.model_by), "model"]
    if new.protocol == ACP:
        comment = "# orvl speaks ACP to it: prompts go through the protocol. A list is one argument each."
        return [f"def command({', '.join(asks)}):", f"    {comment}", f"    return [{', '.join(argv)}]"]
    asks.append("prompt")
    comment = "# One argument each, never given to a shell: a prompt arrives byte for byte, whatever is in it."
    if takes_command:
        returned = f"Command([{', '.join(argv)}], stdin=prompt)"
    else:
        argv += ["prompt"] if new.prompt_by == ARGUMENT else [quoted(new.prompt_by), "prompt"]
        returned = f"[{', '.join(argv)}]"
    return [f"def command({', '.join(asks)}):", f"    {comment}", f"    return {returned}"]


def _words(program: str) -> list[str]:
    try:
        words = shlex.split(program)
    except ValueError as error:
        raise UserError(f"'{program}' is no command: {str(error).lower()}.") from error
    if not words:
        raise UserError("An agent needs the command that starts its program: --program 'my-agent run'")
    return words
