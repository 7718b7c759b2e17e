"""Codex, OpenAI's coding agent."""

import json

from orvl import Command
from orvl.run.agent_output import Steps, at, count_at, dict_at, json_lines, text_at, turn_report

protocol = "responses"
install = {"npm": ["@openai/codex@0.166.0"]}
version = ["codex", "--version"]
models = {
    "openai": ["gpt-6-sol", "gpt-6-luna", "gpt-5.5", "gpt-5.3-codex", "gpt-5.4-mini"],
    "zen": ["gpt-5.5", "gpt-5.3-codex", "gpt-5.4-mini"],
    "openrouter": {"gpt-5.5": "openai/gpt-5.5", "gpt-5.4-mini": "openai/gpt-5.4-mini"},
    "ollama": ["gpt-oss:20b"],
}

CONFIGURATION = """\
model_provider = "orvl"
check_for_update_on_startup = false
web_search = "disabled"
[analytics]
enabled = false
[feedback]
enabled = false
[features]
apps = false
plugins = false
remote_plugin = false
plugin_discovery_prefetch = false
enable_request_compression = false
unbounded_connection_retries = false
[model_providers.orvl]
name = "orvl"
base_url = {url}
env_key = "ORVL_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"""


def command(model, prompt, session, endpoint, arguments):
    options = ["--json", "--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check", "--model", model]
    resume = ["resume"] if session else []
    return Command(
        ["codex", "exec", *arguments, *resume, *options, "--", *([session] if session else []), prompt],
        env={"ORVL_KEY": endpoint.key},
        files={".codex/config.toml": CONFIGURATION.format(url=json.dumps(endpoint.url))},
    )


def read(output, turn):
    session, failure, usage, steps = "", "", {}, Steps()
    for line in json_lines(output):
        kind, item = text_at(line, "type"), dict_at(line, "item")
        if kind == "thread.started":
            session = text_at(line, "thread_id")
        elif kind == "item.completed" and text_at(item, "type") != "error":
            failure = ""
            take(steps, item, turn)
        elif kind == "turn.completed":
            failure, usage = "", dict_at(line, "usage")
        elif kind == "turn.failed":
            failure = text_at(line, "error", "message") or "the turn failed"
        elif kind == "error":
            failure = text_at(line, "message") or failure
    return turn_report(session=session, steps=steps.list, usage=used(usage, turn, steps), **complaint(failure))


def complaint(failure):
    """Whose fault a failed turn is: the model's host's, but for a conversation that grew too long."""
    return {"error" if "context window" in failure or "interrupted" in failure else "provider_error": failure}


def take(steps, item, turn):
    """One thing that it said, thought or did; a call of a tool ends a step. It counts its items anew in each turn."""
    kind, call = text_at(item, "type"), f"turn_{turn}_{text_at(item, 'id')}"
    if steps.list and "tool_calls" in steps.list[-1]:
        steps.begin()
    if kind == "agent_message":
        steps.say(text_at(item, "text"))
    elif kind == "reasoning":
        steps.think(text_at(item, "text"))
    elif kind == "command_execution":
        steps.call(call, "shell", {"command": at(item, "command")})
        steps.result(call, at(item, "aggregated_output"))
    elif kind == "mcp_tool_call":
        steps.call(call, f"{text_at(item, 'server')}.{text_at(item, 'tool')}", at(item, "arguments"))
        steps.result(call, at(item, "result", "content") or at(item, "error", "message"))
    elif kind in ("file_change", "web_search", "todo_list", "collab_tool_call"):
        steps.call(call, kind, {name: value for name, value in item.items() if name not in ("id", "type", "status")})


def used(usage, turn, steps):
    """The turn's own figures; the tokens are told for the whole session, so they are only known in the first turn."""
    figures = {
        "input_tokens": count_at(usage, "input_tokens"),
        "cached_tokens": count_at(usage, "cached_input_tokens"),
        "output_tokens": count_at(usage, "output_tokens"),
    }
    known = {name: figure for name, figure in figures.items() if figure is not None and turn == 1}
    return {**known, "tool_calls": steps.tool_calls} if usage else {}
