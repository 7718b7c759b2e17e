"""From the driver's JSON lines to session, steps, usage and errors."""

from __future__ import annotations

import re
from typing import Any

from orvl.run.agent_output import dict_at, json_lines, list_at, plain_text, text_at, turn_report

STOPPED = {
    "max_tokens": "the model reached its limit of tokens",
    "max_turn_requests": "the agent reached its limit of model calls in one turn",
    "refusal": "the model refused to go on",
    "cancelled": "the turn was cancelled",
}
STATUS = r"\b(?:401|402|403|404|408|429|5\d\d)\b"
PROVIDER = re.compile(
    rf"\b(?:error|status|code|http|api)\b[^.\n]{{0,40}}?{STATUS}"
    rf"|{STATUS}[^.\n]{{0,20}}?\b(?:error|status|incorrect|invalid|unauthorized|forbidden|not found|too many|internal"
    r"|bad gateway|unavailable|overloaded)\b"
    r"|ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|fetch failed|connection error|rate.?limit|incorrect api key"
    r"|invalid api key|quota exceeded|overloaded",
    re.IGNORECASE,
)
SAID_BY_AGENT = re.compile(r"\s*\[?API Error\b", re.IGNORECASE)
TOOL_NAME = re.compile(r"[A-Za-z_][\w-]*(?=:|$)")
ENDED = ("completed", "failed")
LONGEST_SENTENCE = 500


def read(output: str, stderr: str, status: int | None) -> dict[str, Any]:
    """What a turn told; lines that are not the driver's are skipped.

    Tokens are left out: some agents tell those of their last call of a model, others of the turn or of the session.
    """
    steps, session, end = _Steps(), "", {}
    for line in json_lines(output):
        kind = text_at(line, "type")
        if kind == "update":
            steps.take(dict_at(line, "update"))
        elif kind == "permission":
            steps.take({**dict_at(line, "call"), "sessionUpdate": "tool_call_update"})
        elif kind == "session":
            session = text_at(line, "session")
        elif kind == "end":
            end = line
    usage = {"tool_calls": len(steps.calls)}
    problem = _problem(end, steps.last_message(), stderr, status)
    return turn_report(session=session, steps=[step.made() for step in steps.list], usage=usage, **problem)


def read_bytes(output: bytes, stderr: str, status: int | None) -> dict[str, Any]:
    """In a worker: the same from bytes."""
    return read(output.decode("utf-8", "replace"), stderr, status)


def _problem(end: dict[str, Any], last: str, stderr: str, status: int | None) -> dict[str, str]:
    """Whether the agent gave up, or the model's host failed it."""
    if error := text_at(end, "error"):
        return {"provider_error" if PROVIDER.search(_sentence(error)) else "error": _sentence(error)}
    if SAID_BY_AGENT.match(last):
        return {"provider_error": _sentence(last)}
    if not end:
        words = [line for line in stderr[-4096:].splitlines() if line.strip()]
        ended = "was cut off" if status is None or status < 0 else f"ended with status {status}"
        return {"error": _sentence(": ".join([f"the turn {ended} before the agent answered", *words[-1:]]))}
    stop = text_at(end, "stop")
    if stop == "end_turn":
        return {}
    return {"error": STOPPED.get(stop) or f"the agent stopped for a reason that is not known: {_sentence(stop)!r}"}


def _sentence(text: str) -> str:
    text = " ".join(text[: 4 * LONGEST_SENTENCE].split())
    return text if len(text) <= LONGEST_SENTENCE else text[: LONGEST_SENTENCE - 1] + "…"


class _Step:
    """What the agent thought and said, the tools that it then called, and what they gave back."""

    def __init__(self) -> None:
        self.message: list[str] = []
        self.thoughts: list[str] = []
        self.calls: dict[str, dict[str, Any]] = {}

    @property
    def has_result(self) -> bool:
        return any(call.get("status") in ENDED for call in self.calls.values())

    def made(self) -> dict[str, Any]:
        step: dict[str, Any] = {"source": "agent", "message": "".join(self.message)}
        if self.thoughts:
            step["reasoning_content"] = "".join(self.thoughts)
        if self.calls:
            step["tool_calls"] = [
                {"tool_call_id": name, "function_name": _tool(call), "arguments": _arguments(call)}
                for name, call in self.calls.items()
            ]
        ended = {name: call for name, call in self.calls.items() if call.get("status") in ENDED}
        if ended:
            results = [{"source_call_id": name, "content": _result(call)} for name, call in ended.items()]
            step["observation"] = {"results": results}
        return step


class _Steps:
    """The steps of a turn; a new one begins when the agent goes on after a tool."""

    def __init__(self) -> None:
        self.list: list[_Step] = []
        self.calls: dict[str, dict[str, Any]] = {}

    def take(self, update: dict[str, Any]) -> None:
        kind, call = text_at(update, "sessionUpdate"), text_at(update, "toolCallId")
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            step = self._step(new=bool(self.list and self.list[-1].calls))
            (step.message if kind == "agent_message_chunk" else step.thoughts).append(
                text_at(update, "content", "text")
            )
        elif kind in ("tool_call", "tool_call_update") and call:
            if call not in self.calls:
                step = self._step(new=bool(self.list and self.list[-1].has_result))
                self.calls[call] = step.calls[call] = {"first title": text_at(update, "title")}
            self.calls[call].update({name: value for name, value in update.items() if value not in (None, {}, [], "")})

    def last_message(self) -> str:
        return "".join(self.list[-1].message) if self.list else ""

    def _step(self, *, new: bool) -> _Step:
        if new or not self.list:
            self.list.append(_Step())
        return self.list[-1]


def _tool(call: dict[str, Any]) -> str:
    """The tool's name where it is told or its first title begins with it, else the kind of tool that it is."""
    title = TOOL_NAME.match(text_at(call, "first title"))
    return text_at(call, "_meta", "toolName") or (title[0] if title else text_at(call, "kind") or "tool")


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    given = call.get("rawInput")
    if given is None:
        return {name: call[name] for name in ("title", "locations") if name in call}
    return given if isinstance(given, dict) else {"input": given}


def _result(call: dict[str, Any]) -> str:
    parts = list_at(call, "content")
    texts = [text_at(part, "content", "text") for part in parts]
    edits = [f"{path}:\n{text_at(part, 'newText')}" for part in parts if (path := text_at(part, "path"))]
    return "\n".join(filter(None, texts)) or plain_text(call.get("rawOutput")) or "\n".join(edits)
