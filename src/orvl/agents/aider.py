"""aider, pair programming in the terminal.

It gets the workspace's small text files as its chat's files and leaves git alone: with git it would keep a cache in the
workspace and add to the index, and without git it finds no file by itself. Where all of them lie in one folder they are
given for reading, as aider would take that folder for the root; it may edit them all the same. It needs Python 3.10,
3.11 or 3.12.
"""

import os
import re

from orvl import Command
from orvl.run.agent_output import Steps, turn_report

protocol = ("openai", "anthropic")
models = {
    "openai": ["gpt-6-sol", "gpt-5.4-mini"],
    "anthropic": ["claude-sonnet-5", "claude-haiku-4-5"],
    "zen": ["qwen3-coder", "kimi-k3", "glm-5.3"],
    "openrouter": {"qwen3-coder": "qwen/qwen3-coder", "kimi-k3": "moonshotai/kimi-k3", "glm-5.3": "z-ai/glm-5.3"},
    "deepseek": ["deepseek-v4-pro"],
    "ollama": ["qwen3-coder"],
}
install = {"pip": ["aider-chat==0.86.2"]}
version = ["aider", "--version"]

OPTIONS = (
    *("--yes-always", "--no-git", "--no-pretty", "--no-stream", "--no-detect-urls", "--edit-format=diff"),
    *("--analytics-disable", "--no-check-update", "--no-show-release-notes", "--no-show-model-warnings"),
)
ENVIRONMENT_FILE = """\
AIDER_MESSAGE_FILE=${HOME}/.aider/prompt.md
AIDER_CHAT_HISTORY_FILE=${HOME}/.aider/chat.md
AIDER_INPUT_HISTORY_FILE=${HOME}/.aider/input
"""
PRICES = ".aider/caches/model_prices_and_context_window.json"
MOST_FILES, LONGEST_FILE, MOST_BYTES, MOST_SEEN = 40, 40_000, 120_000, 5_000
PASSED_OVER = ("node_modules", "__pycache__", "venv", "dist", "build", "target")

COUNT = r"([\d.]+[kM]?)"
ANSWERED = re.compile(
    rf"^Tokens:\s{COUNT}\ssent,(?:\s{COUNT}\scache\swrite,)?(?:\s{COUNT}\scache\shit,)?\s{COUNT}\sreceived\.[^\n]*\n?",
    re.M,
)
FAILED = re.compile(r"^litellm\.(\w+): ([^\n]*\n?[^\n]*)", re.M)
GAVE_UP = re.compile(r"^(?:Only \d+ reflections allowed|Empty response received)[^\n]*", re.M)
NOT_THE_PROVIDER = (
    "BadRequestError",
    "ContextWindowExceededError",
    "UnprocessableEntityError",
    "ContentPolicyViolationError",
)


def command(model, prompt, workspace, endpoint, turn):
    name = f"{endpoint.protocol}/{model}"
    places = [f"{endpoint.protocol.upper()}_{variable}={endpoint.url}" for variable in ("API_BASE", "BASE_URL")]
    texts = small_texts(workspace)
    at_top = any("/" not in path for path in texts) or len({path.split("/")[0] for path in texts}) > 1
    return Command(
        argv=[
            *("aider", *OPTIONS, f"--model={name}", f"--weak-model={name}"),
            *(f"--api-key={endpoint.protocol}={endpoint.key}", *(f"--set-env={place}" for place in places)),
            *(["--restore-chat-history"] if turn > 1 else []),
            *(f"{'--file' if at_top else '--read'}={path}" for path in texts),
        ],
        env={"COLUMNS": "1000", "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        files={
            ".env": ENVIRONMENT_FILE,
            ".aider/prompt.md": f"\n{prompt}" if prompt.startswith(("/", "!")) else f"{prompt}",
            ".aider.model.settings.yml": '[{"name": "aider/extra_params", "extra_params": {"max_retries": 0}}]',
            PRICES: '{"none": {}}',
        },
    )


def small_texts(workspace):
    """The workspace's text files, up to as many as a chat can hold."""
    found, size, seen = [], 0, 0
    for folder, folders, names in os.walk(workspace):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in PASSED_OVER)
        for name in sorted(names):
            path = os.path.join(folder, name)
            seen += 1
            if seen > MOST_SEEN or len(found) == MOST_FILES:
                return found
            if name[0] == "." or os.path.islink(path) or not os.path.isfile(path):
                continue
            length = os.path.getsize(path)
            if length <= min(LONGEST_FILE, MOST_BYTES - size) and is_text(path):
                found.append(os.path.relpath(path, workspace))
                size += length
    return found


def is_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return "\0" not in file.read(LONGEST_FILE)
    except (OSError, ValueError):
        return False


def read(output):
    output = output.replace("\r", "")
    steps, place = Steps(), 0
    if header := re.search(r"^Aider v[^\n]*\n(?:[^\n]+\n)*", output, re.M):
        place = header.end()
    for answer in ANSWERED.finditer(output, place):
        steps.begin()
        steps.say(output[place : answer.start()].strip())
        sent, written, cached, received = map(_number, answer.groups())
        steps.measure(sent if written is None or sent is None else max(0, sent - written), cached, received)
        place = answer.end()
    return turn_report(steps=steps.list, usage=steps.usage(), **_problem(output[place:], steps))


def _number(text):
    """A number of tokens, which aider rounds; what was written to a cache it counts as sent twice."""
    try:
        return round(float(text.rstrip("kM")[:12]) * {"k": 1_000, "M": 1_000_000}.get(text[-1], 1))
    except (AttributeError, ValueError):
        return None


def _problem(rest, steps):
    """What went wrong after the last answer; aider's exit status is 0 whatever happens."""
    if failures := FAILED.findall(rest):
        kind, words = failures[-1]
        return {"error" if kind in NOT_THE_PROVIDER else "provider_error": " ".join(f"{kind}: {words}".split())[:500]}
    if gave_up := GAVE_UP.search(rest):
        return {"error": gave_up[0][:500]}
    return {} if steps.list else {"error": "aider ended without an answer"}
