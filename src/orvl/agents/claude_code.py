"""Claude Code, Anthropic's coding agent."""

from orvl import Command
from orvl.run.agent_output import (
    Steps,
    at,
    count_at,
    dict_at,
    json_lines,
    list_at,
    number_at,
    text_at,
    total,
    turn_report,
)

protocol = "anthropic"
install = {"npm": ["@anthropic-ai/claude-code@2.1.197"]}
version = ["claude", "--version"]
models = {
    "anthropic": ["claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"],
    "zen": ["claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5"],
    "openrouter": {"claude-opus-5.5": "anthropic/claude-opus-5.5", "claude-sonnet-5": "anthropic/claude-sonnet-5"},
}

OFF = (
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "DISABLE_AUTOUPDATER",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
)
MODELS = (
    "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
    "CLAUDE_CODE_SUBAGENT_MODEL",
)


def command(model, prompt, session, endpoint):
    options = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--model", model]
    no_web = ["--disallowedTools", "WebSearch,WebFetch"]
    return Command(
        ["claude", "--print", *no_web, *options, *(["--resume", session] if session else []), "--", prompt],
        env={
            "ANTHROPIC_BASE_URL": endpoint.url,
            "ANTHROPIC_API_KEY": endpoint.key,
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            **dict.fromkeys(OFF, "1"),
            **dict.fromkeys(MODELS, model),
        },
    )


def read(output):
    session, model, retry, result, steps, seen = "", "", {}, {}, Steps(), None
    for line in json_lines(output):
        session = session or text_at(line, "session_id")
        kind = text_at(line, "type")
        if kind == "system":
            model = model or text_at(line, "model")
            retry = line if text_at(line, "subtype") == "api_retry" else retry
        elif kind == "assistant" and text_at(line, "message", "model") != "<synthetic>":
            retry, answer = {}, text_at(line, "message", "id")
            if answer != seen:
                steps.begin()
            seen = answer
            take(steps, list_at(line, "message", "content"))
        elif kind == "user":
            for part in list_at(line, "message", "content"):
                steps.result(text_at(part, "tool_use_id"), at(part, "content"))
        elif kind == "result":
            result = line
    return turn_report(session=session, steps=steps.list, usage=used(result, model, steps), **complaint(result, retry))


def take(steps, content):
    """One answer of the model, which may come in several lines."""
    for part in content:
        kind = text_at(part, "type")
        if kind == "text":
            steps.say(text_at(part, "text"))
        elif kind == "thinking":
            steps.think(text_at(part, "thinking"))
        elif kind == "tool_use":
            steps.call(text_at(part, "id"), text_at(part, "name"), at(part, "input"))


def used(result, model, steps):
    """The turn's own figures; its price list knows only Claude."""
    usage, cached = dict_at(result, "usage"), count_at(result, "usage", "cache_read_input_tokens")
    figures = {
        "input_tokens": total(
            count_at(usage, "input_tokens"), cached or 0, count_at(usage, "cache_creation_input_tokens") or 0
        ),
        "cached_tokens": cached,
        "output_tokens": count_at(usage, "output_tokens"),
        "cost_usd": number_at(result, "total_cost_usd") if "claude" in model else None,
        "tool_calls": steps.tool_calls,
    }
    return {name: figure for name, figure in figures.items() if figure is not None} if usage else {}


def complaint(result, retry):
    """What went wrong: the result's subtype says success even then, so it is not asked."""
    status, words = at(result, "api_error_status"), text_at(result, "result")
    if at(result, "is_error") is True or text_at(result, "subtype").startswith("error"):
        told_by = "provider_error" if status or words.startswith("API Error") else "error"
        reason = words or text_at(result, "subtype") or "no more was said"
        return {told_by: f"{status or ''} {reason}".strip()}
    if retry and not result:
        return {"provider_error": f"{at(retry, 'error_status') or ''} {text_at(retry, 'error')}".strip() or "no answer"}
    return {}
