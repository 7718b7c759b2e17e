"""opencode, the open source coding agent."""

import json

from orvl import Command
from orvl.run.agent_output import Steps, count_at, dict_at, json_lines, number_at, text_at, total, turn_report

protocol = ("openai", "anthropic", "responses", "gemini")
install = {"npm": ["opencode-ai@1.18.33"]}
version = ["opencode", "--version"]
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

KNOWN_AS = {"zen": "opencode", "together": "togetherai", "fireworks": "fireworks-ai", "moonshot": "moonshotai"}
ALWAYS_RESPONSES = ("openai", "xai", "meta")
PACKAGES = {
    "openai": ("@ai-sdk/openai-compatible", ""),
    "anthropic": ("@ai-sdk/anthropic", "/v1"),
    "responses": ("@ai-sdk/openai", ""),
    "gemini": ("@ai-sdk/google", "/v1beta"),
}


def own_name(provider, protocol):
    """What opencode calls a provider; under some of their own names it would always speak responses."""
    speaks_chat = protocol == "openai" and provider in ALWAYS_RESPONSES
    return f"{provider}-chat" if speaks_chat else KNOWN_AS.get(provider, provider)


def configuration(provider, model, endpoint):
    """Its settings: one model behind the given address, all allowed, nothing fetched, no title asked for."""
    package, path = PACKAGES[endpoint.protocol]
    name = own_name(provider, endpoint.protocol)
    place = "/".join((name, model))
    settings = {
        "model": place,
        "small_model": place,
        "enabled_providers": [name],
        "provider": {
            name: {
                "npm": package,
                "options": {"baseURL": f"{endpoint.url}{path}", "apiKey": endpoint.key},
                "models": {model: {"status": "active"}},
            }
        },
        "agent": {"title": {"disable": True}},
        "permission": "allow",
        "autoupdate": False,
        "share": "disabled",
    }
    return json.dumps(settings)


def arguments(program, provider, model, session, endpoint):
    """Its command line without the prompt, which it would put into quotes: it takes it from standard input as it is."""
    place = f"{own_name(provider, endpoint.protocol)}/{model}"
    options = ["--format", "json", "--auto", "--thinking", "--title", "orvl", "--model", place]
    return [program, "run", *options, *(["--session", session] if session else [])]


def command(provider, model, prompt, session, endpoint):
    return Command(
        arguments("opencode", provider, model, session, endpoint),
        stdin=prompt,
        env={
            "OPENCODE_CONFIG_CONTENT": configuration(provider, model, endpoint),
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_SHARE": "1",
        },
    )


def read(output):
    session, failure, steps = "", {}, Steps()
    for line in json_lines(output):
        session = session or text_at(line, "sessionID")
        kind, part = text_at(line, "type"), dict_at(line, "part")
        if kind == "step_start":
            steps.begin()
        elif kind == "text":
            steps.say(text_at(part, "text"))
        elif kind == "reasoning":
            steps.think(text_at(part, "text"))
        elif kind == "tool_use":
            call, state = text_at(part, "callID"), dict_at(part, "state")
            steps.call(call, text_at(part, "tool"), state.get("input"))
            steps.result(call, state.get("output") or state.get("error"))
        elif kind == "step_finish":
            tokens = dict_at(part, "tokens")
            cached, written = count_at(tokens, "cache", "read"), count_at(tokens, "cache", "write") or 0
            prompt = total(count_at(tokens, "input"), cached, written)
            generated = total(count_at(tokens, "output"), count_at(tokens, "reasoning") or 0)
            steps.measure(prompt, cached, generated, part.get("cost"))
        elif kind == "error":
            failure = dict_at(line, "error")
    return turn_report(session=session, steps=steps.list, usage=steps.usage(), **complaint(failure))


def complaint(failure):
    """Whose fault an error is: the provider's if a status of it is told or it could not be reached."""
    name, words = text_at(failure, "name"), text_at(failure, "data", "message")
    status = number_at(failure, "data", "statusCode")
    sentence = f"{name or 'error'}{f' {status:.0f}' if status else ''}: {words or 'no more was said'}"
    return {"provider_error" if name == "APIError" else "error": sentence} if failure else {}
