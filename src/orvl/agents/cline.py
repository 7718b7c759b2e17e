"""Cline, the coding agent, on the command line."""

import json

from orvl import Command
from orvl.run.agent_output import Steps, count_at, dict_at, json_lines, text_at, turn_report

protocol = "openai"
models = {
    "openai": ["gpt-6-sol", "gpt-5.4-mini"],
    "zen": ["qwen3-coder", "kimi-k3", "glm-5.3"],
    "openrouter": {"qwen3-coder": "qwen/qwen3-coder", "kimi-k3": "moonshotai/kimi-k3", "glm-5.3": "z-ai/glm-5.3"},
    "deepseek": ["deepseek-v4-pro"],
    "ollama": ["qwen3-coder"],
}
install = {"npm": ["cline@3.0.65"]}
version = ["cline", "--version"]

PROVIDER = "openai-compatible"
LONGEST_ARGUMENT = 100_000


def one_argument(prompt):
    """The prompt as cline takes it: only an argument, and one that is a single word would be a command."""
    if len(prompt.encode("utf-8", "replace")) > LONGEST_ARGUMENT:
        raise ValueError("cline takes prompts as an argument alone, and this one is too long for that")
    return prompt if any(sign.isspace() for sign in prompt) else f"{prompt} "


def command(model, prompt, endpoint):
    settings = {"provider": PROVIDER, "apiKey": endpoint.key, "model": model, "baseUrl": endpoint.url}
    known = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    return Command(
        argv=["cline", "--json", "--auto-approve", "true", "-P", PROVIDER, "-m", model, "--", one_argument(prompt)],
        env={
            "CLINE_NO_AUTO_UPDATE": "1",
            "CLINE_SESSION_BACKEND_MODE": "local",
            "DO_NOT_TRACK": "1",
        },
        files={
            ".cline/data/settings/providers.json": json.dumps(
                {"version": 1, "lastUsedProvider": PROVIDER, "modes": {}, "providers": {PROVIDER: known}}
            )
        },
    )


def read(output, stderr):
    steps, result, complaint = Steps(), None, {}
    for line in json_lines(output):
        event = dict_at(line, "event")
        kind, what = text_at(event, "type"), text_at(event, "contentType")
        if kind == "iteration_start":
            steps.begin()
        elif kind == "content_start" and what == "tool":
            steps.call(text_at(event, "toolCallId"), text_at(event, "toolName"), event.get("input"))
        elif kind == "content_end" and what == "tool":
            steps.result(text_at(event, "toolCallId"), event.get("error") or event.get("output"))
        elif kind == "content_end" and what == "text":
            steps.say(text_at(event, "text"))
        elif kind == "content_end" and what == "reasoning":
            steps.think(text_at(event, "reasoning"))
        elif kind == "usage":
            cached = count_at(event, "cacheReadTokens") or 0
            steps.measure(count_at(event, "inputTokens"), cached, count_at(event, "outputTokens"))
        elif kind == "error":
            complaint = event
        elif line.get("type") == "run_result":
            result = line
    return turn_report(steps=steps.list, usage=steps.usage(), **_problem(result, complaint, stderr))


def _problem(result, complaint, stderr):
    """Whose fault an end was: the agent's own limits have names, what the provider says has not."""
    reason = text_at(result, "finishReason")
    if reason == "completed":
        return {}
    said = text_at(complaint, "error", "message") or text_at(result, "text")
    said = said or next((text_at(line, "message") for line in json_lines(stderr)), "")
    if reason == "error" and complaint and text_at(complaint, "errorClass") != "context_window_exceeded":
        return {"provider_error": said[:500] or "the model could not be asked"}
    return {"error": f"{reason or 'cline ended without a result'}: {said}"[:500].rstrip(": ")}
