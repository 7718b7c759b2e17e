"""An eval as it is in an episode: the one place at which the gate asks what is drawn."""

from __future__ import annotations

from orvl.project.draw import drawn, filled
from orvl.trust.mutate.syntax import text_of
from orvl.types import Eval


def in_episode(eval_: Eval, episode: int) -> Eval:
    """With its prompts filled in and its variants chosen."""
    return eval_ if eval_.drawn else drawn(eval_, episode)


def as_drawn(content: bytes, eval_: Eval) -> bytes:
    """A file of a control with the values of the episode."""
    values = eval_.drawn.values if eval_.drawn else {}
    text = text_of(content) if values else None
    return content if text is None else filled(text, values).encode()
