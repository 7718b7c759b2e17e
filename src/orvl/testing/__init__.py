"""A scripted model server, for tests of agents and of everything between an agent and its model.

It speaks the protocols of coding agents (chat completions, responses, messages, Gemini) on loopback, and follows a
script: answers, tool calls and faults, with exactly the usage that a test wants to find again.
"""

from orvl.gateway.wire.format import ToolCall, ToolResult
from orvl.testing.request import Request
from orvl.testing.script import Answer, Fault, Given, Tokens
from orvl.testing.server import ModelServer
from orvl.testing.writing import writes

__all__ = ["Answer", "Fault", "Given", "ModelServer", "Request", "Tokens", "ToolCall", "ToolResult", "writes"]
