"""A request as it arrived, read alike in every wire format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from orvl.gateway.wire.format import ToolResult, WireFormat
from orvl.gateway.wire.values import texts

WORKING_FOLDER = re.compile(
    r"(?:working directory|working in the directory|workspace director(?:y|ies)|cwd)"
    r"[^\n/:<>(]{0,20}[:>(][\s*`\"'-]*(/[^\n`\"'<>)]*)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Request:
    """One call of the model."""

    format: WireFormat = field(repr=False)
    path: str
    model: str
    stream: bool
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    number: int
    arrived: float
    at_once: int

    @property
    def protocol(self) -> str:
        return self.format.name

    @cached_property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation, in the protocol's own form."""
        return self.format.messages(self.body)

    @cached_property
    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools that the agent offers: JSON schema of the arguments by name."""
        return self.format.tools(self.body)

    @cached_property
    def tool_results(self) -> list[ToolResult]:
        """The results that came with this request: those after the model's last message."""
        return self.format.tool_results(self.messages)

    @cached_property
    def system_text(self) -> str:
        """The text of the system's or developer's instructions."""
        system = [message for message in self.messages if message.get("role") in ("system", "developer")]
        return "\n".join(texts([self.format.instructions(self.body), system]))

    @cached_property
    def prompt_text(self) -> str:
        """All text of the conversation, including instructions and tool results."""
        return "\n".join(texts([self.format.instructions(self.body), self.messages]))

    @property
    def workspace(self) -> str | None:
        """The folder that the agent says it works in, if it does."""
        match = WORKING_FOLDER.search(self.prompt_text)
        return match[1].strip().rstrip(".,") if match else None

    @property
    def aside(self) -> bool:
        """Whether the agent only asks for a title, outside the conversation itself."""
        return not self.tools and "title" in self.system_text.lower()
