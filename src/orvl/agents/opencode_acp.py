"""opencode, driven by the Agent Client Protocol."""

from orvl import Command
from orvl.agents.opencode import configuration, install, models, version  # noqa: F401

protocol = ("acp", "openai", "anthropic", "responses", "gemini")


def command(provider, model, endpoint):
    return Command("opencode acp", env={"OPENCODE_CONFIG_CONTENT": configuration(provider, model, endpoint)})
