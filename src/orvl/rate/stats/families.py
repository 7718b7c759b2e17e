"""Which models are of one family: a judge cannot be trusted with its own family's work.

Judges have been measured to pass failures of their own family up to 50 % more often.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.rating import rate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

FAMILIES = {
    "claude": ("claude", "sonnet", "opus", "haiku"),
    "openai": ("gpt", "chatgpt", "codex", "davinci"),
    "gemini": ("gemini", "gemma", "codegemma"),
    "kimi": ("kimi", "moonshot"),
    "qwen": ("qwen", "qwq", "codeqwen"),
    "deepseek": ("deepseek",),
    "glm": ("glm", "chatglm", "codegeex"),
    "grok": ("grok",),
    "llama": ("llama", "codellama"),
    "mistral": ("mistral", "mixtral", "codestral", "devstral", "magistral", "ministral", "pixtral"),
    "minimax": ("minimax", "abab"),
    "nemotron": ("nemotron",),
    "phi": ("phi",),
    "granite": ("granite",),
    "nova": ("nova",),
    "cohere": ("command", "aya"),
    "hunyuan": ("hunyuan",),
    "ernie": ("ernie",),
    "doubao": ("doubao",),
    "mimo": ("mimo",),
    "longcat": ("longcat",),
    "jamba": ("jamba",),
    "smollm": ("smollm",),
    "olmo": ("olmo",),
}
FAMILY_OF_WORD = {word: family for family, words in FAMILIES.items() for word in words}


@dataclass(frozen=True)
class OwnFamily:
    """R without the judges of each contestant's own family."""

    R: NDArray[np.float64]
    """NaN where no other judge is left."""
    left_out: NDArray[np.int64]
    """How many judges each run lost."""


def family_of(model: str) -> str | None:
    """The family of a model by its name or id; None where the name does not tell.

    The first known word counts, so a distilled model belongs to who trained it. What is before the last slash names the
    provider, and says nothing.
    """
    for word in re.findall(r"[a-z0-9]+", model.lower().rsplit("/", 1)[-1]):
        if re.fullmatch(r"o\d+", word):
            return "openai"
        found = FAMILY_OF_WORD.get(re.sub(r"\d.*", "", word))
        if found:
            return found
    return None


def without_own_family(
    scores: ArrayLike,
    judge_weights: ArrayLike,
    metric_weights: ArrayLike,
    contestants: Sequence[str | None],
    judges: Sequence[str | None],
) -> OwnFamily:
    """Rates S (runs × judges × metrics), each run without the judges of its contestant's family.

    An unknown family (None) is related to nobody.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 3 or table.shape[:2] != (len(contestants), len(judges)):
        raise ValueError(
            f"scores has the shape {table.shape}; there are {len(contestants)} runs and {len(judges)} judges."
        )
    kin = np.array([[mine is not None and mine == theirs for theirs in judges] for mine in contestants], dtype=bool)
    kin = kin.reshape(len(contestants), len(judges))
    R = rate(np.where(kin[:, :, None], np.nan, table), judge_weights, metric_weights).R
    return OwnFamily(np.asarray(R), kin.sum(axis=1))
