"""Who did the work, taken out of what judges see: they are blind."""

from __future__ import annotations

import re
from functools import lru_cache

SHORTEST = 4
MAKERS = frozenset(
    [
        *(
            "aider",
            "anthropic",
            "chatgpt",
            "claude",
            "cline",
            "codex",
            "copilot",
            "cursor",
            "deepseek",
            "gemini",
            "glm",
        ),
        *("gpt", "grok", "haiku", "kilo", "kimi", "llama", "mistral", "openai", "opencode", "opus", "qwen"),
        *("sonnet",),
    ]
)


def names_of(agent: str, model: str, model_id: str, provider: str) -> tuple[str, ...]:
    """What would say who did the work; the provider of agents without a model is `none`, a word of any work."""
    plain_agent = re.split("[+@]", agent)[0]
    return (agent, plain_agent, model, model_id, *(() if provider == "none" else (provider,)))


def without_names(text: str, names: tuple[str, ...], prompts: tuple[str, ...] = ()) -> str:
    """Puts `[name]` for the names of the agent, its model and its provider, however they are written.

    A name that the task itself uses stays.
    """
    for pattern in _patterns(names):
        if not any(pattern.search(prompt) for prompt in prompts):
            text = pattern.sub("[name]", text)
    return text


@lru_cache(maxsize=256)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    spelled: dict[str, None] = {}
    for name in names:
        words = re.findall(r"[A-Za-z]+|\d+", name.rsplit("/", 1)[-1])
        if sum(map(len, words)) >= SHORTEST:
            spelled[r"[-_ ./]*".join(map(re.escape, words))] = None
        for word in re.findall(r"[A-Za-z]+", name):
            if word.lower() in MAKERS:
                spelled[re.escape(word)] = None
    longest_first = sorted(spelled, key=len, reverse=True)
    return tuple(re.compile(rf"(?<![A-Za-z0-9]){one}(?![a-z0-9])", re.IGNORECASE) for one in longest_first)
