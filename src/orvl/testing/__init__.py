"""A scripted model server, for tests of agents and of whatever sits between an agent and its model.

It speaks the four protocols that coding agents speak (chat completions, responses, messages, Gemini), on loopback, and
says what its script says: answers, tool calls, faults, with exactly the tokens that the test wants to find again.
"""

from orvl.gateway.wire.format import ToolCall, ToolResult
from orvl.testing.request import Request
from orvl.testing.script import Answer, Fault, Given, Tokens
from orvl.testing.server import ModelServer
from orvl.testing.writing import writes

__all__ = ["Answer", "Fault", "Given", "ModelServer", "Request", "Tokens", "ToolCall", "ToolResult", "writes"]
