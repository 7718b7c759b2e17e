"""Qwen Code, the coding agent of the Qwen models."""

import json
import re

from orvl import Command
from orvl.run.agent_output import Steps, count_at, dict_at, json_lines, list_at, text_at, turn_report

protocol = "openai"
models = {
    "zen": ["qwen3-coder", "kimi-k3"],
    "openrouter": {"qwen3-coder": "qwen/qwen3-coder", "qwen3.8-flash": "qwen/qwen3.8-flash"},
    "groq": {"qwen3.8-27b": "qwen/qwen3.8-27b"},
    "ollama": ["qwen3-coder"],
}
install = {"npm": ["@qwen-code/qwen-code@0.15.10"]}
version = ["qwen", "--version"]

SETTINGS = {
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
    "model": {"generationConfig": {"maxRetries": 0}},
}
LONGEST_ARGUMENT = 100_000
REFUSED_REQUEST = re.compile(r"\[API Error: (400|413|422)\b")


def command(model, prompt, session, endpoint):
    resume = [f"--resume={session}"] if session else []
    unfit = len(prompt.encode("utf-8", "replace")) > LONGEST_ARGUMENT or prompt.startswith(("'", '"'))
    return Command(
        argv=[
            *("qwen", "--auth-type=openai", "--output-format=stream-json", "--yolo", f"--model={model}", *resume),
            *([] if unfit else [f"--prompt={prompt}"]),
        ],
        stdin=prompt if unfit else None,
        env={"OPENAI_API_KEY": endpoint.key, "OPENAI_BASE_URL": endpoint.url},
        files={".qwen/settings.json": json.dumps(SETTINGS)},
    )


def read(output):
    session, steps, whole, result = "", Steps(), True, None
    for event in json_lines(output):
        session = session or text_at(event, "session_id")
        if event.get("type") == "assistant":
            if whole:
                steps.begin()
            whole = _add_message(steps, event.get("message"))
        elif event.get("type") == "user":
            for part in list_at(event, "message", "content"):
                steps.result(text_at(part, "tool_use_id"), part.get("content") if isinstance(part, dict) else None)
        elif event.get("type") == "result":
            result = event
    return turn_report(session=session, steps=steps.list, usage=steps.usage(), **_problem(result))


def _add_message(steps, message):
    """A part of the model's answer, and whether it is the last, which alone tells what this one call used."""
    used = dict_at(message, "usage")
    measured = bool(count_at(used, "input_tokens") or count_at(used, "output_tokens"))
    for part in list_at(message, "content"):
        kind = text_at(part, "type")
        if kind == "text" and (measured or not text_at(part, "text").startswith("[API Error")):
            steps.say(text_at(part, "text"))
        elif kind == "thinking":
            steps.think(text_at(part, "thinking"))
        elif kind == "tool_use":
            steps.call(text_at(part, "id"), text_at(part, "name"), part.get("input"))
    if measured:
        cached = count_at(used, "cache_read_input_tokens")
        steps.measure(count_at(used, "input_tokens"), cached, count_at(used, "output_tokens"))
    return measured


def _problem(result):
    """A failed call of the model is told as a successful answer that begins with its error."""
    if result is None:
        return {"error": "qwen ended without a result"}
    said = text_at(result, "result") or text_at(result, "error", "message")
    if said.startswith("[API Error") and not REFUSED_REQUEST.match(said):
        return {"provider_error": said[:500]}
    if said.startswith("[API Error") or result.get("is_error") is True:
        return {"error": said[:500] or "qwen gave up"}
    return {}
