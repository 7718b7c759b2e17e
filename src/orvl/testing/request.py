"""A request as it arrived, whichever of the four protocols it speaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orvl.testing.dialect import Dialect

TEXT_KEYS = ("text", "content", "parts", "output", "functionResponse", "response", "result", "error", "summary")
TOLD_FOLDER = re.compile(
    r"(?:working directory|working in the directory|workspace director(?:y|ies)|cwd)"
    r"[^\n/:<>(]{0,20}[:>(][\s*`\"'-]*(/[^\n`\"'<>)]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ToolResult:
    """What the agent says that a tool call gave."""

    id: str
    text: str


@dataclass(frozen=True)
class Request:
    """One call of the model."""

    protocol: str
    path: str
    model: str
    stream: bool
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    number: int
    arrived: float
    at_once: int
    dialect: Dialect = field(repr=False)

    @cached_property
    def messages(self) -> list[Any]:
        """The conversation, in the protocol's own form."""
        return self.dialect.messages(self.body)

    @cached_property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools that the agent offers: JSON schema of the arguments by name."""
        return self.dialect.tools(self.body)

    @cached_property
    def tool_results(self) -> list[ToolResult]:
        """The results that came with this request: those after the model's last words."""
        return self.dialect.tool_results(self.messages)

    @cached_property
    def system_text(self) -> str:
        """The text of the system's or developer's instructions."""
        told = [one for one in self.messages if isinstance(one, dict) and one.get("role") in ("system", "developer")]
        return "\n".join(texts([self.dialect.instructions(self.body), told]))

    @cached_property
    def prompt_text(self) -> str:
        """All text of the conversation, instructions and tool results included."""
        return "\n".join(texts([self.dialect.instructions(self.body), self.messages]))

    @property
    def workspace(self) -> str | None:
        """The folder that the agent says it works in, if it does."""
        found = TOLD_FOLDER.search(self.prompt_text)
        return found[1].strip().rstrip(".,") if found else None

    @property
    def aside(self) -> bool:
        """Is it the agent's call for a title, beside the conversation itself?"""
        return not self.tools and "title" in self.system_text.lower()


def texts(value: Any) -> Iterator[str]:
    """Every text in a message, a list of them or a part of one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict):
        for key in TEXT_KEYS:
            yield from texts(value.get(key))
