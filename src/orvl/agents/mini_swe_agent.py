"""mini-swe-agent, a small agent whose only tool is bash."""

import os
import stat

from orvl import Command
from orvl.run.agent_output import Steps, count_at, dict_at, json_lines, list_at, text_at, turn_report

protocol = ("openai", "anthropic")
models = {
    "openai": ["gpt-6-sol", "gpt-5.4-mini"],
    "anthropic": ["claude-sonnet-5", "claude-haiku-4-5"],
    "zen": ["qwen3-coder", "kimi-k3", "glm-5.3"],
    "openrouter": {"qwen3-coder": "qwen/qwen3-coder", "kimi-k3": "moonshotai/kimi-k3", "glm-5.3": "z-ai/glm-5.3"},
    "deepseek": ["deepseek-v4-pro"],
    "ollama": ["qwen3-coder"],
}
install = {"pip": ["mini-swe-agent==2.4.6", "mcp==2.3.0"]}
version = ["mini", "--help"]

TRAJECTORY = ".config/mini-swe-agent/last_mini_run.traj.json"
LONGEST_TRAJECTORY = 32 << 20
PROVIDER_FAILED = (
    *("AuthenticationError", "NotFoundError", "PermissionDeniedError", "RateLimitError", "InternalServerError"),
    *("ServiceUnavailableError", "BadGatewayError", "Timeout", "APIConnectionError", "APIError"),
)


def command(model, prompt, endpoint):
    return Command(
        argv=[
            *("mini", "--yolo", "--exit-immediately", "--cost-limit=0"),
            *(f"--model={endpoint.protocol}/{model}", f"--task={prompt}"),
        ],
        env={
            "OPENAI_API_KEY": endpoint.key,
            "OPENAI_API_BASE": endpoint.url,
            "OPENAI_BASE_URL": endpoint.url,
            "ANTHROPIC_API_KEY": endpoint.key,
            "ANTHROPIC_API_BASE": endpoint.url,
            "MSWEA_CONFIGURED": "true",
            "MSWEA_COST_TRACKING": "ignore_errors",
            "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "1",
            "MSWEA_SILENT_STARTUP": "1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        },
        files={TRAJECTORY: ""},
    )


def read(home):
    trajectory = next(json_lines(_trajectory(home).replace("\n", " ")), {})
    steps = Steps()
    for message in list_at(trajectory, "messages"):
        if text_at(message, "role") == "tool":
            steps.result(text_at(message, "tool_call_id"), message.get("content"))
        elif dict_at(message, "extra", "response"):
            steps.begin()
            _add_answer(steps, message)
    return turn_report(steps=steps.list, usage=steps.usage(), **_problem(trajectory))


def _trajectory(home):
    """The text of the trajectory, which lies where the agent may have put anything."""
    path = os.path.join(os.path.realpath(home), TRAJECTORY)
    try:
        if os.path.realpath(path) != path:
            return ""
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return ""
            text = file.read(LONGEST_TRAJECTORY + 1)
    except (OSError, ValueError):
        return ""
    return text.decode("utf-8", "replace") if len(text) <= LONGEST_TRAJECTORY else ""


def _add_answer(steps, message):
    """One answer of the model; one that mini could not use stands in the message that says so."""
    usage = dict_at(message, "extra", "response", "usage")
    if text_at(message, "role") == "assistant":
        steps.say(text_at(message, "content"))
        steps.think(text_at(message, "reasoning_content"))
    for call in list_at(message, "tool_calls"):
        steps.call(text_at(call, "id"), text_at(call, "function", "name"), _arguments(call))
    steps.measure(
        prompt=count_at(usage, "prompt_tokens"),
        cached=count_at(usage, "prompt_tokens_details", "cached_tokens") or 0,
        completion=count_at(usage, "completion_tokens"),
    )


def _arguments(call):
    text = text_at(call, "function", "arguments")
    return next(json_lines(text.replace("\n", " ")), text)


def _problem(trajectory):
    ended = text_at(trajectory, "info", "exit_status")
    if ended == "Submitted":
        return {}
    exits = [text_at(message, "content") for message in list_at(trajectory, "messages") if message]
    said = f"{ended}: {exits[-1]}"[:500] if exits and ended else ""
    if ended in PROVIDER_FAILED:
        return {"provider_error": said}
    return {"error": said or "mini-swe-agent ended without submitting"}
