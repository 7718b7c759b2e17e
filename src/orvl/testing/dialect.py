"""What the four protocols have in common."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from orvl.testing.request import Request, ToolResult
from orvl.testing.script import Answer, Fault, ToolCall

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """An answer on its way to a request."""

    request: Request
    answer: Answer
    usage_manner: str = "asked"

    @property
    def model(self) -> str:
        return self.answer.model or self.request.model

    @property
    def finish(self) -> str:
        """Why the answer ended, in the words of chat completions."""
        if self.answer.finish:
            return self.answer.finish
        return "tool_calls" if self.answer.tool_calls else "stop"

    @property
    def created(self) -> int:
        return int(self.request.arrived)

    def calls(self, prefix: str = "call") -> list[tuple[str, ToolCall]]:
        """The tool calls, each with its id."""
        number = self.request.number
        return [
            (call.id or f"{prefix}_{number:06d}_{place}", call) for place, call in enumerate(self.answer.tool_calls)
        ]


class Dialect(ABC):
    """How one protocol asks, answers and fails."""

    name: ClassVar[str]
    error_kinds: ClassVar[Mapping[int, str]]

    @abstractmethod
    def messages(self, body: Mapping[str, Any]) -> list[Any]:
        """The conversation in a request's body."""

    @abstractmethod
    def instructions(self, body: Mapping[str, Any]) -> Any:
        """The instructions that stand beside the conversation, in whatever form."""

    @abstractmethod
    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        """The schema of each tool's arguments, by its name."""

    @abstractmethod
    def tool_results(self, messages: list[Any]) -> list[ToolResult]:
        """The tool results after the model's last words."""

    @abstractmethod
    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The key that a request carries."""

    @abstractmethod
    def whole(self, reply: Reply) -> Json:
        """An answer in one piece."""

    @abstractmethod
    def stream(self, reply: Reply) -> Iterator[bytes]:
        """An answer in pieces: server-sent events."""

    @abstractmethod
    def error(self, fault: Fault, number: int) -> Json:
        """The body of an error."""

    @abstractmethod
    def error_event(self, fault: Fault, reply: Reply) -> bytes:
        """An error in the middle of a stream."""

    @abstractmethod
    def models(self, names: Sequence[str]) -> Json:
        """The list of models."""

    def kind(self, fault: Fault) -> str:
        """The protocol's own name of a fault."""
        return fault.kind or self.error_kinds.get(fault.status) or self.error_kinds[500 if fault.status >= 500 else 400]


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def event(data: Any, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else compact(data)}\n\n".encode()


def arguments_text(call: ToolCall) -> str:
    """A call's arguments as a model writes them."""
    return call.arguments if isinstance(call.arguments, str) else compact(dict(call.arguments))


def arguments_value(call: ToolCall) -> Any:
    """A call's arguments as an object; a text that is not JSON stays a text, where an object should be."""
    if not isinstance(call.arguments, str):
        return dict(call.arguments)
    try:
        return json.loads(call.arguments)
    except ValueError:
        return call.arguments


def bearer(headers: Mapping[str, str]) -> str | None:
    """The key of an `Authorization: Bearer` header."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key if scheme.lower() == "bearer" else None


def after_last(messages: list[Any], field: str, *values: str) -> list[Any]:
    """The messages after the last one whose field has one of these values."""
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], dict) and messages[place].get(field) in values:
            return messages[place + 1 :]
    return messages


def dicts(value: Any) -> list[Json]:
    """The objects of a list that may hold anything."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
