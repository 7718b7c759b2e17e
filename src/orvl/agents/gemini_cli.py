"""Gemini CLI, Google's coding agent."""

import json
import re

from orvl import Command
from orvl.run.agent_output import Steps, count_at, dict_at, json_lines, text_at, turn_report

protocol = "gemini"
models = {"google": ["gemini-3.8-flash", "gemini-3.1-pro-preview", "gemini-2.5-pro", "gemini-2.5-flash"]}
install = {"npm": ["@google/gemini-cli@0.61.0"]}
version = ["gemini", "--version"]

SETTINGS = {
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 1},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
}
LONGEST_ARGUMENT = 100_000
API_ERROR = re.compile(r"_ApiError: (.{1,500})")
REFUSED_REQUEST = re.compile(r'"code":\s?(400|413|422)\b')


def command(model, prompt, session, endpoint):
    resume = [f"--resume={session}"] if session else []
    unfit = len(prompt.encode("utf-8", "replace")) > LONGEST_ARGUMENT or prompt.startswith(("'", '"'))
    return Command(
        argv=[
            *("gemini", "--output-format=stream-json", "--yolo", f"--model={model}", *resume),
            *([] if unfit else [f"--prompt={prompt}"]),
        ],
        stdin=prompt if unfit else None,
        env={
            "GEMINI_API_KEY": endpoint.key,
            "GOOGLE_GEMINI_BASE_URL": endpoint.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        },
        files={".gemini/settings.json": json.dumps(SETTINGS)},
    )


def read(output, stderr):
    session, stats, result, problem = "", {}, None, ""
    steps, said, after_result = Steps(), [], False

    def flush():
        steps.say("".join(said))
        said.clear()

    for event in json_lines(output):
        kind = event.get("type")
        session = session or text_at(event, "session_id")
        if after_result and (kind == "tool_use" or (kind == "message" and event.get("role") == "assistant")):
            steps.begin()
            after_result = False
        if kind == "message" and event.get("role") == "assistant":
            said.append(text_at(event, "content"))
        elif kind == "tool_use":
            flush()
            steps.call(text_at(event, "tool_id"), text_at(event, "tool_name"), event.get("parameters"))
        elif kind == "tool_result":
            flush()
            outcome = event.get("output") or dict_at(event, "error").get("message") or event.get("status")
            steps.result(text_at(event, "tool_id"), outcome)
            after_result = True
        elif kind == "error" and (event.get("severity") == "error" or "stopping" in text_at(event, "message")):
            problem = text_at(event, "message")
        elif kind == "result":
            result, stats = event, dict_at(event, "stats")
    flush()
    return turn_report(
        session=session, steps=steps.list, usage=_usage(stats, steps), **_problem(result, problem, stderr)
    )


def _usage(stats, steps):
    """Input includes what was cached; thoughts are in the total alone."""
    input_tokens, everything = count_at(stats, "input_tokens"), count_at(stats, "total_tokens")
    output_tokens = count_at(stats, "output_tokens")
    if None not in (input_tokens, output_tokens, everything):
        output_tokens = max(output_tokens, everything - input_tokens)
    counts = {
        "input_tokens": input_tokens,
        "cached_tokens": count_at(stats, "cached"),
        "output_tokens": output_tokens,
        "tool_calls": count_at(stats, "tool_calls") if stats else steps.tool_calls if steps.list else None,
    }
    return {name: count for name, count in counts.items() if count is not None}


def _problem(result, problem, stderr):
    """Which side failed; a process that was stopped while it tried again has no result, but says so on stderr."""
    message = text_at(result, "error", "message") or problem
    if result is None and (tried := API_ERROR.findall(stderr)):
        message = f"[API Error: {tried[-1]}]"
    if result is not None and result.get("status") != "error" and not problem:
        return {}
    if message.startswith("[API Error") and not REFUSED_REQUEST.search(message):
        return {"provider_error": message[:500]}
    return {"error": message[:500] or "gemini ended without a result"}
