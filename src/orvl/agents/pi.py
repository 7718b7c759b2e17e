"""pi, a small open source coding agent."""

import json

from orvl import Command
from orvl.run.agent_output import Steps, at, count_at, json_lines, list_at, text_at, total, turn_report

protocol = ("openai", "anthropic", "responses", "gemini")
install = {"npm": ["@mariozechner/pi-coding-agent@0.73.1"]}
version = ["pi", "--version"]
models = {
    "zen": ["qwen3-coder", "kimi-k3", "glm-5.3", "deepseek-v4.1-flash", "claude-sonnet-5", "gpt-6-sol"],
    "openrouter": {
        "qwen3-coder": "qwen/qwen3-coder",
        "kimi-k3": "moonshotai/kimi-k3",
        "glm-5.3": "z-ai/glm-5.3",
        "deepseek-v4.1-flash": "deepseek/deepseek-v4.1-flash",
        "claude-sonnet-5": "anthropic/claude-sonnet-5",
        "gpt-6-sol": "openai/gpt-6-sol",
    },
    "anthropic": ["claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"],
    "openai": ["gpt-6-sol", "gpt-6-luna", "gpt-5.4-mini"],
    "google": ["gemini-3.8-flash", "gemini-3.1-pro-preview"],
    "deepseek": ["deepseek-v4-pro", "deepseek-flash"],
    "mistral": ["mistral-medium-latest"],
    "xai": ["grok-4.7"],
    "groq": {"gpt-oss-120b": "openai/gpt-oss-120b", "qwen3.8-27b": "qwen/qwen3.8-27b"},
    "ollama": ["qwen3-coder", "gpt-oss:20b"],
}

DIALECTS = {
    "openai": ("openai-completions", ""),
    "anthropic": ("anthropic-messages", ""),
    "responses": ("openai-responses", ""),
    "gemini": ("google-generative-ai", "/v1beta"),
}
RETRIES = {"retry": {"enabled": False, "provider": {"maxRetries": 1}}, "enableInstallTelemetry": False}


def command(model, prompt, session, endpoint):
    dialect, path = DIALECTS[endpoint.protocol]
    place = {"baseUrl": f"{endpoint.url}{path}", "api": dialect, "apiKey": "ORVL_KEY", "models": [{"id": model}]}
    options = ["--mode", "json", "--print", "--provider", "orvl", "--model", model]
    return Command(
        ["pi", *options, *(["--session", session] if session else [])],
        env={"ORVL_KEY": endpoint.key, "PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"},
        files={
            ".pi/agent/models.json": json.dumps({"providers": {"orvl": place}}),
            ".pi/agent/settings.json": json.dumps(RETRIES),
        },
        stdin=prompt,
    )


def read(output):
    session, failure, reason, steps = "", "", "", Steps()
    for line in json_lines(output, skip=('{"type":"message_update"', '{"type":"turn_end"', '{"type":"agent_end"')):
        kind, message = text_at(line, "type"), at(line, "message")
        if kind == "session":
            session = text_at(line, "id")
        elif kind == "message_end" and text_at(message, "role") == "assistant":
            reason, failure = text_at(message, "stopReason"), text_at(message, "errorMessage")
            take(steps, message)
        elif kind == "tool_execution_end":
            steps.result(text_at(line, "toolCallId"), at(line, "result", "content"))
    if reason == "error":
        return turn_report(session=session, steps=steps.list, provider_error=failure or "the model's host failed")
    stopped = {"aborted": "it was stopped", "length": "the answer was cut off at the longest length"}.get(reason)
    return turn_report(session=session, steps=steps.list, usage=steps.usage(), error=failure or stopped)


def take(steps, message):
    """One answer of the model, unless it failed before it said anything."""
    steps.begin()
    for part in list_at(message, "content"):
        kind = text_at(part, "type")
        if kind == "text":
            steps.say(text_at(part, "text"))
        elif kind == "thinking":
            steps.think(text_at(part, "thinking"))
        elif kind == "toolCall":
            steps.call(text_at(part, "id"), text_at(part, "name"), at(part, "arguments"))
    if list_at(message, "content"):
        usage, cached = at(message, "usage"), count_at(message, "usage", "cacheRead")
        prompt = total(count_at(usage, "input"), cached, count_at(usage, "cacheWrite") or 0)
        steps.measure(prompt, cached, count_at(usage, "output"), at(usage, "cost", "total"))
